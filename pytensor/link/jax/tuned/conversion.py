"""How `TunedJAXLinker` converts graphs: node by node, by a table of its own before PyTensor's.

The table corrects conversions of PyTensor's Ops; mode JAX, which doesn't look here, keeps them.
"""

from copy import copy
from functools import singledispatch

import jax
import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import LazyIfElse
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FrozenFunctionGraph, FunctionGraph
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.tuned.building import paused_collection
from pytensor.scan.op import Scan
from pytensor.tensor.basic import constant, get_underlying_scalar_constant_value
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.type import integer_dtypes

__all__ = ["ConvertedGraph", "tuned_funcify"]


class ConvertedGraph:
    """A graph, and the function that converts its nodes instead of `jax_funcify`.

    PyTensor's code hands the graphs of functions, and those of Ops, to `jax_funcify`, which finds
    this class and not that of the graph itself.
    """

    def __init__(self, fgraph, convert):
        self.fgraph, self.convert = fgraph, convert

    def __getattr__(self, name):
        return getattr(self.fgraph, name)


@singledispatch
def tuned_funcify(op, convert_node, **kwargs):
    """As `jax_funcify`, with the nodes of inner graphs converted by `convert_node`."""
    return jax_funcify(op, **kwargs)


@tuned_funcify.register(OpFromGraph)
@tuned_funcify.register(Scan)
def tuned_funcify_inner_graph(op, convert_node, **kwargs):
    return jax_funcify(_with_converted_graph(op, convert_node), **kwargs)


@tuned_funcify.register(LazyIfElse)
def tuned_funcify_LazyIfElse(op, convert_node, **kwargs):
    op = copy(op)
    op.true_branch = _with_converted_graph(op.true_branch, convert_node)
    op.false_branch = _with_converted_graph(op.false_branch, convert_node)
    return jax_funcify(op, **kwargs)


@tuned_funcify.register(Blockwise)
def tuned_funcify_Blockwise(op, convert_node, node, **kwargs):
    lengths = _lengths_of_batches(op, node)
    if len(lengths) in (0, len(node.inputs)):
        if isinstance(op.core_op, OpFromGraph | Scan):
            op = copy(op)
            op.core_op = _with_converted_graph(op.core_op, convert_node)
        return jax_funcify(op, node=node, **kwargs)
    # jnp.vectorize would trace them too, and nothing is split or scanned by a traced length.
    _, core_inputs = op._create_dummy_core_node(node.inputs, return_dummy_inputs=True)
    core_inputs = dict(enumerate(core_inputs)) | lengths
    others = [k for k in core_inputs if k not in lengths]
    outputs = op.core_op.make_node(*core_inputs.values()).outputs
    graph = FunctionGraph([core_inputs[k] for k in others], outputs, clone=False)
    signature = [f"({','.join(op.inputs_sig[k])})" for k in others]
    batched = jax.numpy.vectorize(
        _as_function(graph, convert_node, squeeze_output=True, **kwargs),
        signature=",".join(signature) + op.signature[op.signature.index("->") :],
    )

    def blockwise(*inputs):
        op._check_runtime_broadcast(node, inputs)
        return batched(*(inputs[k] for k in others))

    return blockwise


def _lengths_of_batches(op, node):
    """The constant integers that are the same for all of a batch, without its axes, by place.

    `vectorize_graph` gives a batch's axes to lengths: thoughts/upstream/vectorized-lengths.md.
    """
    lengths = {}
    for place, (v, sig) in enumerate(zip(node.inputs, op.inputs_sig, strict=True)):
        axes, shape, dtype = v.type.ndim - len(sig), v.type.shape, v.type.dtype
        if dtype in integer_dtypes and all(v.type.broadcastable[:axes]) and None not in shape:
            # v itself, where there are several values, or where they aren't known
            value = get_underlying_scalar_constant_value(v, raise_not_constant=False)
            if value is not v or isinstance(v, Constant):
                value = np.broadcast_to(v.data if value is v else value, shape)
                lengths[place] = constant(value.reshape(shape[axes:]), dtype=dtype)
    return lengths


def _with_converted_graph(op, convert_node):
    op = copy(op)
    op.fgraph = ConvertedGraph(op.fgraph, convert_node)
    return op


@tuned_funcify.register(CAReduce)
def tuned_funcify_CAReduce(op, convert_node, node, **kwargs):
    # PyTensor's returns the accumulator's dtype: a sum of float32 comes out as float64.  See
    # thoughts/upstream/jax-sums-in-accumulator-dtype.md.
    if getattr(op, "acc_dtype", None) is not None:
        declared = jax.dtypes.canonicalize_dtype(node.outputs[0].type.dtype).name
        op = op.clone(acc_dtype=declared)
    return jax_funcify(op, node=node, **kwargs)


@tuned_funcify.register(Elemwise)
def tuned_funcify_Elemwise(op, convert_node, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)
    compared = {v.type.dtype for v in node.inputs if node.outputs[0].type.dtype == "bool"}
    if "float64" not in compared:
        return function
    # XLA compares anew in each fusion that reads the result, and may round what it compares in
    # another way: where numbers are nearly equal, terms that should cancel don't.  It may so in
    # float32, where speed is wanted; see docs/wrong_numbers_from_xla.md.
    return lambda *inputs: jax.lax.optimization_barrier(function(*inputs))


@jax_funcify.register(ConvertedGraph)
def jax_funcify_ConvertedGraph(
    graph, node=None, fgraph_name="jax_funcified_fgraph", converted=None, **kwargs
):
    converted = {} if converted is None else converted
    # Nodes of one Op share their inner graph, and so its function.
    shared = isinstance(graph.fgraph, FrozenFunctionGraph)
    key = graph.fgraph, kwargs.get("squeeze_output", False)
    if shared and key in converted:
        return converted[key]
    function = _as_function(graph.fgraph, graph.convert, converted=converted, **kwargs)
    function.__name__ = function.__qualname__ = fgraph_name
    if shared:
        converted[key] = function
    return function


def _value(constant):
    """A constant's value for JAX."""
    data = constant.data
    if isinstance(data, np.ndarray) and data.ndim and data.dtype.kind in "biufc":
        # The array that PyTensor's conversion makes; but that runs a program to copy it.
        return jax.device_put(data)
    if isinstance(data, np.ndarray) and data.dtype == "float64":
        # A number of Python's, as PyTensor's is, would be rounded to float32 beside such an array:
        # thoughts/upstream/jax-float64-constant-beside-float32.md.
        return data[()]
    return jax_typify(data, variable=constant)


def _as_function(fgraph, convert_node, *, order=None, squeeze_output=False, **kwargs):
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

    inputs = [place(v) for v in fgraph.inputs]
    steps = [
        (
            convert_node(n.op, node=n, **kwargs),
            [place(v) for v in n.inputs],
            [place(v) for v in n.outputs],
        )
        for n in (fgraph.toposort() if order is None else order)
    ]
    outputs = [place(v) for v in fgraph.outputs]

    def function(*args):
        with paused_collection():
            return run(*args)

    def run(*args):
        slots = values.copy()
        for to, value in zip(inputs, args, strict=True):
            slots[to] = value
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
