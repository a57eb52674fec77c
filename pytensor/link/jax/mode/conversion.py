"""How `TunedJAXLinker` converts graphs, node by node.

Two tables are asked: `corrected_funcify` of `pytensor.link.jax.fixes`, and PyTensor's
`jax_funcify`, which has ours by `pytensor.link.jax.dispatch.table`.  Mode JAX asks only the second.
"""

import math
from copy import copy

import jax
import numpy as np
import scipy.sparse

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FrozenFunctionGraph
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import declared_dtypes
from pytensor.link.jax.fixes.elemwise import corrected_scalar
from pytensor.link.jax.fixes.known_while_tracing import (
    computed_if_known,
    is_known,
    with_numbers,
)
from pytensor.link.jax.mode.building import paused_collection
from pytensor.link.jax.rewriting.find_sizes import (
    FEW,
    nodes_of_lengths,
    variable_choices,
    variable_lengths,
)
from pytensor.scalar.basic import ScalarInnerGraphOp, ScalarType
from pytensor.tensor.type import TensorType, discrete_dtypes

__all__ = [
    "GraphWithConverter", "as_function", "with_converter", "with_graph", "with_known_within",
]  # fmt: skip


class GraphWithConverter:
    """A graph with the function that converts its nodes, in the place of `jax_funcify`.

    PyTensor's code hands the graphs of functions and of Ops to `jax_funcify`, which finds
    this class and not that of the graph itself.
    """

    def __init__(self, fgraph, convert, known=None):
        self.fgraph, self.convert = fgraph, convert
        self.known = known or {}  # values of inputs, by their places, that JAX would trace

    def __getattr__(self, name):
        return getattr(self.fgraph, name)


@corrected_funcify.register(OpFromGraph)
@corrected_scalar.register(ScalarInnerGraphOp)
def corrected_funcify_inner_graph(op, convert_node, **kwargs):
    return jax_funcify(with_converter(op, convert_node), **kwargs)


def with_converter(op, convert_node, known=None):
    return with_graph(op, GraphWithConverter(op.fgraph, convert_node, known))


def with_graph(op, graph):
    op = copy(op)
    op.fgraph = graph
    return op


def with_known_within(places, converted):
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
    function = as_function(
        graph.fgraph, graph.convert, known=graph.known, converted=converted, **kwargs
    )
    function.__name__ = function.__qualname__ = fgraph_name
    if shared:
        converted[key] = function
    return function


def _value(constant, is_result):
    """Return a constant's value for JAX.

    A result has its dtype: it may be a branch of a condition or a new state of a loop.
    """
    data = constant.data
    if isinstance(data, np.ndarray) and data.ndim and data.dtype.kind in "biufc":
        # The array that PyTensor's conversion makes; but that runs a program to copy it.
        return jax.device_put(data)
    if isinstance(data, np.ndarray) and (is_result or data.dtype in ("float64", "uint64")):
        # A number of Python's, as PyTensor's is, would be rounded to float32 next to such an array,
        # or not fit into an int64: thoughts/upstream/jax-float64-constant-beside-float32.md.
        return data[()]
    if scipy.sparse.issparse(data):
        from pytensor.link.jax.fixes.sparse import sparse_matrix

        return sparse_matrix(data)
    return jax_typify(data, variable=constant)


def _may_be_lengths(node):
    """Return whether a node computes a few integers from tensors: they may be lengths.

    See thoughts/upstream/jax-arithmetic-of-lengths.md.
    """
    if any(type(v.type) not in (TensorType, ScalarType) for v in (*node.inputs, *node.outputs)):
        return False  # of sparse arrays, too, are subclasses
    shapes = [v.type.shape for v in node.outputs if v.type.dtype in discrete_dtypes]
    few = not any(None in shape for shape in shapes) and sum(map(math.prod, shapes)) < FEW
    return few and len(shapes) == len(node.outputs)


def as_function(fgraph, convert_node, *, order=None, squeeze_output=False, known=None, **kwargs):
    """Convert a graph node by node, and return what calls the nodes' functions in order.

    PyTensor writes Python source instead.  That is faster to call, but only JAX's tracing calls it,
    and writing takes longer than tracing saves.  It also puts the values of all shared variables on
    the device, which come as arguments anyhow.
    """
    kwargs |= {"convert_node": convert_node, "within": fgraph}
    places, values, returned = {}, [], set(fgraph.outputs)

    def place(variable):
        if variable not in places:
            places[variable] = len(values)
            constant = isinstance(variable, Constant)
            values.append(_value(variable, variable in returned) if constant else None)
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
        is_length = node in of_lengths or _may_be_lengths(node)
        function = computed_if_known(node, function) if is_length else function
        read, written = ([place(v) for v in variables] for variables in (node.inputs, node.outputs))
        return function, declared_dtypes(node), read, written

    inputs = [place(v) for v in fgraph.inputs]
    steps = list(map(step, order))
    outputs = [place(v) for v in fgraph.outputs]

    @paused_collection()
    def function(*args):
        slots = values.copy()
        for to, value in zip(inputs, args, strict=True):
            slots[to] = value
        for k, value in (known or {}).items():
            slots[inputs[k]] = value
        for compute, in_declared_dtypes, read, written in steps:
            results = compute(*[slots[k] for k in read])
            if len(written) == 1:
                results = (results,)
            for to, value in zip(written, in_declared_dtypes(results), strict=True):
                slots[to] = value
        if squeeze_output and len(outputs) == 1:
            return slots[outputs[0]]
        return tuple(slots[k] for k in outputs)

    return function
