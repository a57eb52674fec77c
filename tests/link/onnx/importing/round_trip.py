"""Random graphs, exported and imported, against the graphs themselves: results and gradients.

    python -m tests.link.onnx.importing.round_trip --graphs 10000 [--start 0] [--jobs 2]
    python -m tests.link.onnx.importing.round_trip --graphs 300 --mode NUMBA

Half of the graphs have inputs of floating point alone.  Gradients are of one result times random
weights.  They are taken at inputs moved away from those that the graphs are drawn with: these are
multiples of 1/4, where maxima have ties, abs a kink and rounding a step, and any of several
subgradients is right.  A graph that can't be computed there is left out.  What has a kink
everywhere, as max(x, x) has, shows by the graph's own gradient, which is no slope of its result.
"""

import argparse
import sys
import traceback
import warnings
from collections import Counter
from functools import partial
from multiprocessing import Pool

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from pytensor import config, function, grad
from pytensor.gradient import DisconnectedInputError, NullTypeGradError
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import export_onnx, from_onnx
from tests.link.onnx.random_graphs import DTYPES, FLOATS, graphs
from tests.utils import REFERENCE_MODE

GRAPHS = st.sampled_from([DTYPES, FLOATS]).flatmap(lambda dtypes: graphs(dtypes=dtypes))
OPTIONS = st.fixed_dictionaries(
    {"opset_version": st.sampled_from([18, 20, 24]), "optimize": st.booleans()}
)
SHARD = 100  # graphs that are drawn from one seed
# The last is thoughts/upstream/gradients-of-integer-results.md.
UNDEFINED = (DisconnectedInputError, NotImplementedError, NullTypeGradError, TypeError)
TOLERANCE = 1e-4
WRONG = "WRONG"


def is_float(variable):
    return variable.type.dtype in FLOATS


def differentiable(graph):
    """A result that depends on an input of floating point, a rounded one if there is one."""
    floats = set(filter(is_float, graph.inputs))
    found = [
        item
        for item in reversed(graph.items[len(graph.inputs) :])
        if item.kind == "f" and floats & set(ancestors([item.variable]))
    ]
    return max(found, key=lambda i: (i.value.size > 0, not i.exact)).variable if found else None


def compiled(inputs, outputs, mode=REFERENCE_MODE):
    return function(inputs, outputs, mode=mode, on_unused_input="ignore")


def gradients(inputs, result, disconnected):
    """The derivatives of a result's weighted sum, and the weights."""
    weights = result.type()
    cost, wrt = (result * weights).sum(), list(filter(is_float, inputs))
    found = grad(cost, wrt, disconnected_inputs="ignore", return_disconnected=disconnected)
    return found, weights


def moved(values, by):
    """The values, those of floating point with something added."""
    return [
        np.asarray(v + d, v.dtype) if v.dtype.kind == "f" else v
        for v, d in zip(values, by, strict=True)
    ]


def is_close(found, expected, nearby):
    """Whether a gradient is another, up to what a change of the inputs' last bits makes of it."""
    largest = np.abs(expected).max(initial=0)
    rounding = np.abs(nearby - expected).max(initial=0)
    return found.shape == expected.shape and np.allclose(
        found, expected, rtol=0, atol=TOLERANCE * largest + 100 * rounding, equal_nan=True
    )


def compare(graph, options, mode=REFERENCE_MODE):
    """Compare a graph with what comes back when it is exported and imported.

    Parameters
    ----------
    graph : RandomGraph
    options : dict
        For `export_onnx`.
    mode : str or Mode
        For what comes back.

    Returns
    -------
    str
        What became of the gradients.

    Raises
    ------
    AssertionError
        If results or gradients differ.
    """
    result = differentiable(graph)
    wanted = [graph.items[-1].variable, *([] if result is None else [result])]
    model = from_onnx(export_onnx(graph.inputs, wanted, **options))
    inputs, found = list(model.inputs.values()), list(model.outputs.values())
    values = [graph.computed[variable] for variable in graph.inputs]
    native = compiled(graph.inputs, wanted)(*values)
    for ours, theirs in zip(compiled(inputs, found, mode)(*values), native, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)
    if result is None:
        return "no result of floating point depends on an input of floating point"
    return compare_gradients(graph.inputs, result, inputs, found[-1], values, mode)


def compare_gradients(native_inputs, native_result, inputs, result, values, mode):
    try:
        native, native_weights = gradients(native_inputs, native_result, "none")
    except UNDEFINED as error:
        return f"PyTensor has none: {type(error).__name__}"
    wrt = [i for i, g in enumerate(native) if g is not None]
    if not wrt:
        return "disconnected"
    ours, weights = gradients(inputs, result, "zero")
    native = compiled([*native_inputs, native_weights], [native_result, *(native[i] for i in wrt)])
    ours = compiled([*inputs, weights], [ours[i] for i in wrt], mode)

    rng = np.random.default_rng(0)
    signs = [rng.choice([-1, 1], v.shape) for v in values]
    point = moved(values, [rng.uniform(2**-11, 2**-10, v.shape) for v in values])
    nearby = moved(point, [np.spacing(v) * s for v, s in zip(point, signs)])
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

    there, back = (native(*moved(point, [way * 2**-13 * s for s in signs]), weights)[0] for way in (1, -1))
    floats = [s for v, s in zip(native_inputs, signs) if is_float(v)]
    slope = ((there - back) * weights).sum() / 2**-12
    terms = np.concatenate([(g * floats[i]).ravel() for g, i in zip(expected, wrt)])
    assert abs(terms.sum() - slope) > 0.01 * abs(terms).sum(), (found, expected)
    return "PyTensor's is no slope"


def shard(number, mode=REFERENCE_MODE, count=SHARD):
    """What became of the gradients of the graphs drawn from one seed, and which are wrong."""
    verdicts = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(GRAPHS, OPTIONS)
    def run(graph, options):
        try:
            verdicts.append(compare(graph, options, mode))
        # whatever goes wrong with a graph is written down, and the next one is drawn
        except Exception as error:
            where = f"seed {number}, graph {len(verdicts)}: {' -> '.join(graph.steps)}; {options}"
            print(where, traceback.format_exc(limit=-2), sep="\n", flush=True)
            verdicts.append(f"{WRONG}: {type(error).__name__}")

    # Rewrites that fail are left out, as they are for users.
    with config.change_flags(on_opt_error="ignore"), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        run()
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--mode", default=REFERENCE_MODE, help="what imported graphs are run in")
    options = parser.parse_args()
    found = Counter()
    seeds = range(options.start, options.start + -(-options.graphs // SHARD))
    with Pool(options.jobs) as pool:
        for verdicts in pool.imap_unordered(partial(shard, mode=options.mode), seeds):
            found.update(verdicts)
            print(f"{found.total()} graphs", flush=True)
    for verdict, count in found.most_common():
        print(f"{count:7} {verdict}")
    sys.exit(any(verdict.startswith(WRONG) for verdict in found))


if __name__ == "__main__":
    main()
