"""How `TunedJAXLinker` converts graphs: node by node, by a table of its own before PyTensor's.

Mode JAX, which doesn't look here, keeps PyTensor's.
"""

import math
from contextlib import nullcontext
from copy import copy
from functools import partial, singledispatch

import jax
import numpy as np
import scipy.sparse
from jax.core import Tracer

from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.dispatch.shape import JAXShapeTuple
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_declared_dtypes
from pytensor.link.jax.mode.building import paused_collection
from pytensor.link.jax.mode.known import (
    computed_if_known,
    is_known,
    with_constants,
    with_numbers,
)
from pytensor.link.jax.mode.loops import (
    StepsInPython,
    graph_of_windows,
    results_of_no_steps,
    while_loop,
)
from pytensor.link.jax.mode.refusals import refuse_choice
from pytensor.link.jax.rewriting.sizes import (
    choice_inputs,
    known_places_of_scan,
    length_inputs,
    nodes_of_lengths,
    variable_choices,
    variable_lengths,
)
from pytensor.scan.op import Scan
from pytensor.tensor.basic import ARange, Nonzero, Split, constant
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import Unique
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.type import discrete_dtypes

__all__ = ["GraphWithConverter", "tuned_funcify"]


class GraphWithConverter:
    """A graph with the function that converts its nodes, in the place of `jax_funcify`.

    PyTensor's code hands the graphs of functions, and those of Ops, to `jax_funcify`, which finds
    this class and not that of the graph itself.
    """

    def __init__(self, fgraph, convert, known=None):
        self.fgraph, self.convert = fgraph, convert
        self.known = known or {}  # values of inputs, by their places, that JAX would trace

    def __getattr__(self, name):
        return getattr(self.fgraph, name)


@singledispatch
def tuned_funcify(op, convert_node, **kwargs):
    """Convert as `corrected_funcify`; `convert_node` converts the nodes of inner graphs."""
    return corrected_funcify(op, **kwargs)


@tuned_funcify.register(OpFromGraph)
def tuned_funcify_inner_graph(op, convert_node, **kwargs):
    return jax_funcify(_with_converter(op, convert_node), **kwargs)


@tuned_funcify.register(Scan)
def tuned_funcify_Scan(op, node, convert_node, **kwargs):
    deciding = {*length_inputs(op, node), *choice_inputs(op, node)}
    within = {i: k for i, k in known_places_of_scan(op).items() if k in deciding}
    sequences = {i: k for i, k in within.items() if i < op.info.n_seqs}
    fixed = {i: k for i, k in within.items() if i not in sequences}

    def converted(known, fgraph=op.fgraph):
        graph = GraphWithConverter(fgraph, convert_node, known)
        if op.info.as_while:
            return while_loop(op, node, jax_funcify(graph, **kwargs))
        scan = jax_funcify(_with_graph(op, graph), node=node, **kwargs)

        def scanned(*inputs):
            results = scan(*inputs)
            # The trace of no steps was joined to the first states, as in `corrected_funcify_Join`.
            return results if int(inputs[0]) else jax.lax.optimization_barrier(results)

        return scanned

    def called(*inputs):
        if not int(inputs[0]):
            return results_of_no_steps(op, node, inputs)
        windows = graph_of_windows(op, inputs)
        if windows is not None:
            return _with_known_within(fixed, partial(converted, fgraph=windows))(*inputs)
        steps = {i: np.asarray(inputs[k]) for i, k in sequences.items()}
        known = {i: inputs[k] for i, k in fixed.items()}
        # A loop of Python's, in which JAX traces the steps one by one.
        with jax.ensure_compile_time_eval():
            step = jax_funcify(GraphWithConverter(op.fgraph, convert_node, known), **kwargs)
        new = _with_graph(op, StepsInPython(op.fgraph, step, steps))
        with jax.disable_jit():
            return jax_funcify(new, node=node, **kwargs)(*inputs)

    return called if sequences else _with_known_within(within, converted)


@tuned_funcify.register(IfElse)
def tuned_funcify_IfElse(op, node, convert_node, **kwargs):
    function = corrected_funcify(op, node=node, **kwargs)

    def chosen(condition, *inputs):
        branches = inputs[: op.n_outs], inputs[op.n_outs :]
        if is_known(condition):
            results = branches[not condition]
            return results if op.n_outs > 1 else results[0]
        refuse_choice(node, *branches)
        return function(condition, *inputs)

    return chosen


@tuned_funcify.register(LazyIfElse)
def tuned_funcify_LazyIfElse(op, node, convert_node, **kwargs):
    convert_node = partial(convert_node, is_always_computed=False)

    def converted(known):
        new = copy(op)
        new.true_branch = _with_converter(op.true_branch, convert_node, known)
        new.false_branch = _with_converter(op.false_branch, convert_node, known)
        return jax_funcify(new, node=node, **kwargs)

    read = {*length_inputs(op, node), *choice_inputs(op, node)} - {0}
    function = _with_known_within({k - 1: k for k in read}, converted)

    def branch(which):
        # Its constants are those of all programs, and must be no values of the trace.
        with jax.ensure_compile_time_eval():
            return jax_funcify(_with_converter(which, convert_node), node=node, **kwargs)

    def chosen(condition, *inputs):
        if is_known(condition):
            return branch(op.true_branch if condition else op.false_branch)(*inputs)
        try:
            return function(condition, *inputs)
        except TypeError:
            branches = map(branch, (op.true_branch, op.false_branch))
            refuse_choice(node, *(jax.eval_shape(one, *inputs) for one in branches))
            raise

    return chosen


def _with_known_within(places, converted):
    """Convert an Op with an inner graph so that lengths within stay known, which JAX would trace.

    `places` gives the Op's input of each input of the inner graph that decides such lengths;
    `converted` converts the Op with known values of these.
    """
    if not places:
        return converted({})

    def called(*inputs):
        known = {inner: inputs[k] for inner, k in places.items() if is_known(inputs[k])}
        with jax.ensure_compile_time_eval():
            function = converted(known)
        return function(*inputs)

    return called


# Ops whose lengths must be constants, or be computed by these, in PyTensor's conversions.
CONCRETE = {
    ARange: (Shape_i,),
    RandomVariable: (Shape, Shape_i, JAXShapeTuple),
    Reshape: (Shape, Shape_i, JAXShapeTuple),
    Split: (),
}


@tuned_funcify.register(ARange)
@tuned_funcify.register(RandomVariable)
@tuned_funcify.register(Reshape)
@tuned_funcify.register(Split)
def tuned_funcify_with_constants(op, node, convert_node, **kwargs):
    accepted = next(ops for kind, ops in CONCRETE.items() if isinstance(op, kind))
    lengths = [node.inputs[k] for k in length_inputs(op, node)]
    if all(isinstance(v, Constant) or isinstance(v.owner_op, accepted) for v in lengths):
        return corrected_funcify(op, node=node, **kwargs)
    return with_constants(node, lambda node: corrected_funcify(op, node=node, **kwargs))


@tuned_funcify.register(Blockwise)
def tuned_funcify_Blockwise(op, convert_node, node, **kwargs):
    _, core_inputs = op._create_dummy_core_node(node.inputs, return_dummy_inputs=True)
    axes = [v.type.ndim - core.type.ndim for v, core in zip(node.inputs, core_inputs, strict=True)]
    integers = [k for k, v in enumerate(node.inputs) if v.type.dtype in discrete_dtypes]
    same_for_all = [k for k in integers if all(node.inputs[k].type.broadcastable[: axes[k]])]
    deciding = [k for k in length_inputs(op, node) if k in integers and k not in same_for_all]
    if not same_for_all and not deciding:
        core = op._create_dummy_core_node(node.inputs, propagate_unbatched_core_inputs=True)
        function = tuned_funcify(core.op, node=core, convert_node=convert_node, **kwargs)
        return _over_batches(op, node, function)

    def with_numbers(numbers):
        core = list(core_inputs)
        for k, value in numbers.items():
            core[k] = constant(np.asarray(value, dtype=core[k].type.dtype))
        graph = FunctionGraph(core_inputs, op.core_op.make_node(*core).outputs, clone=False)
        with jax.ensure_compile_time_eval():
            return _as_function(graph, convert_node, squeeze_output=True, **kwargs)

    def blockwise(*inputs):
        # `vectorize_graph` gives a batch's axes to lengths, and jnp.vectorize traces them, so that
        # nothing could be split or scanned by them: thoughts/upstream/vectorized-lengths.md.
        known = {k: np.asarray(inputs[k]) for k in same_for_all + deciding if is_known(inputs[k])}
        rows = {k: value.reshape(-1, *value.shape[axes[k] :]) for k, value in known.items()}
        if any((value != value[:1]).any() for value in rows.values()):
            return _one_by_one(op, node, axes, known, with_numbers)(*inputs)
        numbers = {k: value[0] for k, value in rows.items() if len(value)}
        return _over_batches(op, node, with_numbers(numbers))(*inputs)

    return blockwise


def _one_by_one(op, node, axes, known, with_numbers):
    """Return the function of a Blockwise with known integers that differ from row to row."""

    def blockwise(*inputs):
        op._check_runtime_broadcast(node, inputs)
        inputs = [known.get(k, v) for k, v in enumerate(inputs)]
        batches = [np.shape(v)[:n] for v, n in zip(inputs, axes, strict=True)]
        batch = np.broadcast_shapes(*batches)
        places = [np.broadcast_to(np.arange(math.prod(b)).reshape(b), batch) for b in batches]
        flat = [v.reshape(-1, *np.shape(v)[n:]) for v, n in zip(inputs, axes, strict=True)]
        results = []
        for rows in zip(*(place.ravel() for place in places), strict=True):
            core = [v[row] for v, row in zip(flat, rows, strict=True)]
            found = with_numbers({k: core[k] for k in known})(*core)
            results.append(found if isinstance(found, tuple | list) else [found])
        shapes = sorted({np.shape(row[0]) for row in results})
        if len(shapes) > 1:
            raise ValueError(
                f"{op.core_op} has results of the shapes {' and '.join(map(str, shapes))} in one "
                f"batch, but arrays have rows of one length"
            )
        outputs = [
            jax.numpy.stack(v).reshape(batch + np.shape(v[0])) for v in zip(*results, strict=True)
        ]
        return outputs[0] if len(outputs) == 1 else outputs

    return blockwise


def _over_batches(op, node, function):
    vectorized = jax.numpy.vectorize(function, signature=op.signature)

    def blockwise(*inputs):
        op._check_runtime_broadcast(node, inputs)
        return vectorized(*inputs)

    return blockwise


@tuned_funcify.register(Nonzero)
@tuned_funcify.register(Unique)
def tuned_funcify_in_numpy(op, node, convert_node, **kwargs):
    if not length_inputs(op, node):
        return corrected_funcify(op, node=node, **kwargs)
    # Traced values were refused when the function was compiled.
    return computed_if_known(node, None)


def _with_converter(op, convert_node, known=None):
    return _with_graph(op, GraphWithConverter(op.fgraph, convert_node, known))


def _with_graph(op, graph):
    op = copy(op)
    op.fgraph = graph
    return op


@tuned_funcify.register(Elemwise)
def tuned_funcify_Elemwise(op, convert_node, node, **kwargs):
    function = corrected_funcify(op, node=node, **kwargs)
    compared = {v.type.dtype for v in node.inputs if node.outputs[0].type.dtype == "bool"}
    if "float64" not in compared:
        return function
    # XLA compares anew in each fusion that reads the result, and may round what it compares in
    # another way: where numbers are nearly equal, terms that should cancel don't.  It may so in
    # float32, where speed is wanted; see thoughts/upstream/xla-comparisons-per-fusion.md.
    return lambda *inputs: jax.lax.optimization_barrier(function(*inputs))


@jax_funcify.register(GraphWithConverter)
def jax_funcify_GraphWithConverter(
    graph, node=None, fgraph_name="jax_funcified_fgraph", converted=None, **kwargs
):
    converted = {} if converted is None else converted
    # Nodes of one Op share their inner graph, and so its function.
    shared = isinstance(graph.fgraph, FrozenFunctionGraph) and not graph.known
    key = graph.fgraph, kwargs.get("squeeze_output", False)
    if shared and key in converted:
        return converted[key]
    function = _as_function(
        graph.fgraph, graph.convert, known=graph.known, converted=converted, **kwargs
    )
    function.__name__ = function.__qualname__ = fgraph_name
    if shared:
        converted[key] = function
    return function


def _value(constant):
    """Return a constant's value for JAX."""
    data = constant.data
    if isinstance(data, np.ndarray) and data.ndim and data.dtype.kind in "biufc":
        # The array that PyTensor's conversion makes; but that runs a program to copy it.
        return jax.device_put(data)
    if isinstance(data, np.ndarray) and data.dtype == "float64":
        # A number of Python's, as PyTensor's is, would be rounded to float32 beside such an array:
        # thoughts/upstream/jax-float64-constant-beside-float32.md.
        return data[()]
    if scipy.sparse.issparse(data):
        from pytensor.link.jax.fixes.sparse import sparse_matrix

        return sparse_matrix(data)
    return jax_typify(data, variable=constant)


def _with_known_lengths(node, function):
    """Compute a few integers at once if they follow from lengths, for they may be some themselves.

    See thoughts/upstream/jax-arithmetic-of-lengths.md.
    """
    types = [v.type for v in node.outputs]
    if any(getattr(t, "dtype", "") not in discrete_dtypes or None in t.shape for t in types):
        return function

    def known(*inputs):
        traced = any(isinstance(v, Tracer) for v in jax.tree.leaves(inputs))
        with nullcontext() if traced else jax.ensure_compile_time_eval():
            return function(*inputs)

    return known if sum(math.prod(t.shape) for t in types) < 64 else function


def _step(node, function):
    return _with_known_lengths(node, with_declared_dtypes(function, node))


def _as_function(fgraph, convert_node, *, order=None, squeeze_output=False, known=None, **kwargs):
    """Convert a graph node by node, and return what calls the nodes' functions in order.

    PyTensor writes Python source instead.  That is faster to call, but only JAX's tracing calls it,
    and writing takes longer than tracing saves.  It also puts the values of all shared variables on
    the device, which come as arguments anyhow.
    """
    kwargs |= {"convert_node": convert_node, "within": fgraph}
    places, values = {}, []

    def place(variable):
        if variable not in places:
            places[variable] = len(values)
            values.append(_value(variable) if isinstance(variable, Constant) else None)
        return places[variable]

    order = fgraph.toposort() if order is None else order
    lengths = variable_lengths(order) + variable_choices(order)
    of_lengths, deciding = nodes_of_lengths(fgraph, lengths), {}
    for node, variable in lengths:
        read_at = [k for k, v in enumerate(node.inputs) if v is variable]
        deciding.setdefault(node, []).extend(read_at)

    def step(node):
        function = convert_node(node.op, node=node, **kwargs)
        if node in deciding:
            function = with_numbers(deciding[node], function)
        function = _step(node, function)
        return computed_if_known(node, function) if node in of_lengths else function

    inputs = [place(v) for v in fgraph.inputs]
    steps = [(step(n), [place(v) for v in n.inputs], [place(v) for v in n.outputs]) for n in order]
    outputs = [place(v) for v in fgraph.outputs]

    def function(*args):
        with paused_collection():
            return run(*args)

    def run(*args):
        slots = values.copy()
        for to, value in zip(inputs, args, strict=True):
            slots[to] = value
        for k, value in (known or {}).items():
            slots[inputs[k]] = value
        for step, read, written in steps:
            results = step(*[slots[k] for k in read])
            if len(written) == 1:
                results = (results,)
            for to, value in zip(written, results, strict=True):
                slots[to] = value
        if squeeze_output and len(outputs) == 1:
            return slots[outputs[0]]
        return tuple(slots[k] for k in outputs)

    return function
