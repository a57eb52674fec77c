"""Graphs with numbers of 64 bits that matter, where JAX has none: if floatX is float32.

PyTensor sets ``jax_enable_x64`` by floatX for the whole process, and JAX then halves integers and
floating-point numbers of 64 bits without a word.  A function whose graph has such numbers is traced
and called under `jax.enable_x64`.  Lengths, positions and indices fit in 32 bits: where a graph has
no others, its program stays the same.
"""

import numpy as np

from pytensor import scalar as ps
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import LazyIfElse
from pytensor.graph.basic import Constant
from pytensor.graph.fg import Output
from pytensor.link.jax.dispatch.shape import JAXShapeTuple
from pytensor.link.jax.dispatch.table import dispatch
from pytensor.link.jax.rewriting.find_sizes import length_inputs
from pytensor.link.jax.rewriting.index_checks import READING, indexes
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import (
    Alloc,
    ARange,
    Join,
    MakeVector,
    Nonzero,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import SearchsortedOp
from pytensor.tensor.known_lengths import KnownLength
from pytensor.tensor.math import Argmax
from pytensor.tensor.pool.ops import PoolWithIndices
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.sort import ArgSortOp
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor
from pytensor.tensor.topk import TopK
from pytensor.tensor.type import discrete_dtypes

__all__ = ["has_wide_numbers", "is_wide"]

INTEGERS = ("int64", "uint64")
FLOATS = ("float64", "complex128")
# What these compute is a length, or the place of an element.
POSITIONS = (
    Argmax, ArgSortOp, JAXShapeTuple, KnownLength, Nonzero, PoolWithIndices,
    SearchsortedOp, Shape, Shape_i, TopK,
)  # fmt: skip
MOVING = (
    AdvancedSubtensor, CheckAndRaise, DimShuffle, Reshape, ScalarFromTensor, SpecifyShape,
    Subtensor, TensorFromScalar,
)  # fmt: skip
ARITHMETIC = (
    ps.Abs, ps.Add, ps.Cast, ps.Identity, ps.IntDiv, ps.Maximum, ps.Minimum, ps.Mod, ps.Mul, ps.Neg,
    ps.Second, ps.Sign, ps.Sub, ps.Switch,
)  # fmt: skip


def is_wide(variable):
    """Return whether a variable's numbers have 64 bits."""
    return getattr(variable.type, "dtype", None) in (*INTEGERS, *FLOATS)


def has_wide_numbers(fgraph):
    """Return whether JAX would halve numbers of a function's graph that 32 bits may not hold."""
    return any(map(is_wide, fgraph.outputs)) or _has_wide_numbers(fgraph, fgraph.inputs)


def _has_wide_numbers(fgraph, inputs=()):
    small, nodes = {}, fgraph.toposort()
    for variable in [*inputs, *(v for node in nodes for v in node.outputs)]:
        dtype = getattr(variable.type, "dtype", None)
        if dtype in FLOATS:
            return True
        if dtype in INTEGERS:
            small[variable] = variable.owner is not None and _is_small(variable, small)
            if not (small[variable] or _only_indexes(fgraph, variable)):
                return True
    for node in nodes:
        for value in node.inputs:
            if isinstance(value, Constant) and not _is_small(value, small):
                return True
        if any(map(_has_wide_numbers, inner_graphs(node.op))):
            return True
    return False


def _is_small(variable, small):
    """Return whether a variable holds lengths, positions, or what follows from such integers."""
    dtype = getattr(variable.type, "dtype", None)
    if isinstance(variable, Constant):
        if dtype not in INTEGERS:
            return dtype not in FLOATS
        values = np.asarray(variable.data)
        return bool(((values >= -(2**31)) & (values < 2**31)).all())
    if dtype not in INTEGERS:
        return True
    node = variable.owner
    if node is None:  # of an inner graph: its value is one of the outer graph's
        return small.get(variable, True)
    if isinstance(node.op, POSITIONS):
        return True
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if isinstance(op, CAReduce):
        # Counts, and the largest and smallest of several.
        if isinstance(op.scalar_op, ps.Maximum | ps.Minimum):
            return _is_small(node.inputs[0], small)
        return node.inputs[0].type.dtype == "bool"
    if isinstance(op, ps.Cast):
        (x,) = node.inputs
        return x.type.dtype in discrete_dtypes and _is_small(x, small)
    if not isinstance(op, (*MOVING, *ARITHMETIC, Alloc, ARange, Join, MakeVector, Split)):
        return False
    return all(_is_small(v, small) for v in node.inputs)


def _only_indexes(fgraph, variable):
    """Return whether nothing but indices, lengths and shapes is made of a variable."""
    for node, place in fgraph.clients[variable]:
        if isinstance(node.op, Output):
            return False
        if isinstance(node.op, Shape | Shape_i) or place in length_inputs(node.op, node):
            continue
        if indexes(node) and place >= (1 if isinstance(node.op, READING) else 2):
            continue
        moved = isinstance(node.op, MOVING) or _is_cast_of_integers(node)
        if place or not moved or not _only_indexes(fgraph, node.outputs[0]):
            return False
    return True


def _is_cast_of_integers(node):
    op = getattr(node.op, "scalar_op", None)
    return isinstance(op, ps.Cast) and node.outputs[0].type.dtype in ("int32", *INTEGERS)


def inner_graphs(op):
    """Return the graphs within an Op that JAX computes."""
    if isinstance(op, LazyIfElse):
        return [branch.fgraph for branch in (op.true_branch, op.false_branch)]
    if isinstance(op, Blockwise):
        return inner_graphs(op.core_op)
    if isinstance(op, OpFromGraph):
        # Others of its kind have a conversion of their own.
        general = dispatch(type(op)) is dispatch(OpFromGraph)
        return [op.fgraph] if general else []
    graph = getattr(getattr(op, "scalar_op", op), "fgraph", None)
    return [] if graph is None else [graph]
