"""Random graphs, exported and imported, against the graphs themselves: results and gradients.

Gradients are of one result times random weights.  They are taken at inputs moved away from those
that the graphs are drawn with: these are multiples of 1/4, where maxima have ties, abs a kink and
rounding a step, and any of several subgradients is right.  A graph that can't be computed there is
left out.  What has a kink everywhere, as max(x, x) has, shows by the graph's own gradient, which is
no slope of its result.
"""

from itertools import compress

import numpy as np

from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.gradient import DisconnectedInputError, NullTypeGradError
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import export_onnx, from_onnx
from pytensor.link.onnx.lowering.rewriting import QUERY
from tests.catalogue.random_graphs.operations_of_values import FLOATS
from tests.utils import REFERENCE_MODE

# The TypeErrors are thoughts/upstream/gradients-of-integer-results.md.
UNDEFINED = (DisconnectedInputError, NotImplementedError, NullTypeGradError, TypeError, ValueError)
# Some of PyTensor's rewrites, which the export applies, are wrong:
# thoughts/upstream/nested-sums-lose-their-dtype.md
REWRITTEN = Mode("py", QUERY)
TOLERANCE = 1e-4


def is_float(variable):
    return variable.type.dtype in FLOATS


def differentiable(graph):
    """Return a result that depends on an input of floating point, a rounded one if there is one."""
    floats = set(filter(is_float, graph.inputs))
    found = [
        item
        for item in reversed(graph.items[len(graph.inputs) :])
        if item.kind == "f" and floats & set(ancestors([item.variable]))
    ]
    return max(found, key=lambda i: (i.value.size > 0, not i.exact)).variable if found else None


def compiled(inputs, outputs, mode=None):
    return function(inputs, outputs, mode=mode or REFERENCE_MODE, on_unused_input="ignore")


def check(inputs, outputs, values, expected, mode):
    for found, wanted in zip(compiled(inputs, outputs, mode)(*values), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE)


def gradients(inputs, result, disconnected):
    """Return the derivatives of a result's weighted sum, and the weights."""
    weights = result.type()
    cost, wrt = (result * weights).sum(), list(filter(is_float, inputs))
    found = grad(cost, wrt, disconnected_inputs="ignore", return_disconnected=disconnected)
    return found, weights


def moved(values, by):
    """Return the values, those of floating point with something added."""
    return [
        np.asarray(v + d, v.dtype) if v.dtype.kind == "f" else v
        for v, d in zip(values, by, strict=True)
    ]


def is_close(found, expected, nearby):
    """Return whether a gradient is another, up to what a change of inputs' last bits does.

    Its dtype is PyTensor's, which thoughts/upstream/comparison-pullback-dtype.md is about.
    """
    largest = np.abs(expected).max(initial=0)
    rounding = np.abs(nearby - expected).max(initial=0)
    # Inputs and weights are near 1: what is much smaller is what was left where all cancelled.
    nothing = 1000 * np.finfo(expected.dtype).eps
    allowed = TOLERANCE * largest + 100 * rounding + nothing
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=0, atol=allowed, equal_nan=True
    )


def compare(graph, options, mode=None):
    """Compare a graph with what comes back when it is exported and imported.

    Parameters
    ----------
    graph : RandomGraph
    options : dict
        For `export_onnx`.
    mode : str or Mode, optional
        In which what comes back is computed, results alone; by default Python, and gradients too.

    Returns
    -------
    str
        What became of the gradients, or of the results in another mode.

    Raises
    ------
    AssertionError
        If results or gradients differ.
    """
    result = differentiable(graph)
    wanted = [graph.items[-1].variable, *([] if result is None else [result])]
    model = from_onnx(export_onnx(graph.inputs, wanted, exact=True, **options))
    inputs, found = list(model.inputs.values()), list(model.outputs.values())
    values = [graph.computed[variable] for variable in graph.inputs]
    native = compiled(graph.inputs, wanted)(*values)
    try:
        check(inputs, found, values, native, mode)
    # whatever a mode raises
    except Exception:
        judge = mode or (REWRITTEN if options["optimize"] else None)
        if judge is None:
            raise
        try:
            check(graph.inputs, wanted, values, native, judge)
        except Exception:
            return "of the graph itself, PyTensor's rewrites or the mode make something else"
        raise
    if mode is not None:
        return "equal results"
    if result is None:
        return "no result of floating point depends on an input of floating point"
    return compare_gradients(graph.inputs, result, inputs, found[-1], values)


def compare_gradients(native_inputs, native_result, inputs, result, values):
    try:
        native, native_weights = gradients(native_inputs, native_result, "none")
    except UNDEFINED as error:
        return f"PyTensor has none: {type(error).__name__}"
    connected = [g is not None for g in native]
    if not any(connected):
        return "disconnected"
    ours, weights = gradients(inputs, result, "zero")
    floats = list(compress([i for i, v in enumerate(inputs) if is_float(v)], connected))
    native = [native_result, *compress(native, connected)]
    native = compiled([*native_inputs, native_weights], native)
    ours = compiled([*inputs, weights], list(compress(ours, connected)))

    rng = np.random.default_rng(0)
    signs = [rng.choice([-1, 1], v.shape) for v in values]
    point = moved(values, [rng.uniform(2**-11, 2**-10, v.shape) for v in values])
    nearby = moved(point, [2.0**-23 * s for s in signs])
    try:
        shape = compiled(native_inputs, native_result.shape)(*point)
        weights = rng.normal(size=shape).astype(native_result.type.dtype)
        _, *expected = native(*point, weights)
        _, *nearby = native(*nearby, weights)
    # whatever an operation raises whose condition the moved inputs don't meet
    except Exception as error:
        return f"not computed at the moved inputs: {type(error).__name__}"
    found = ours(*point, weights)
    if all(map(is_close, found, expected, nearby)):
        return "equal" if any(g.any() for g in expected) else "equal, all 0"

    # They differ.  Is PyTensor's a slope at all?
    step = 2**-13
    steps = (moved(point, [way * step * s for s in signs]) for way in (1, -1))
    there, back = (native(*values, weights)[0] * weights for values in steps)
    terms = [g * s for g, s in zip(expected, (signs[i] for i in floats), strict=True)]
    terms = np.concatenate([t.ravel() for t in terms])
    rounding = 4 * np.finfo(there.dtype).eps * np.abs(there).sum() / step
    error = abs(terms.sum() - (there - back).sum() / (2 * step))
    is_slope = error <= 0.01 * np.abs(terms).sum() + rounding
    assert not is_slope, f"gradients {found}, should be {expected}"
    return "PyTensor's is no slope"
