import operator

import numpy as np

from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.write.term import concat, maximum, minimum
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    MakeVector,
    PermuteRowElements,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)
from pytensor.tensor.extra_ops import CpuContiguous
from pytensor.tensor.shape import SpecifyShape


@onnx_funcify.register(Join)
def onnx_funcify_Join(op, node, *parts):
    if can_raise(parts[0].builder):
        _require_that_parts_fit(node, parts)
    return concat([part.cast(node.outputs[0].type.dtype) for part in parts], axis=op.axis)


def _require_that_parts_fit(node, parts):
    """Refuse parts of unequal lengths: next to an empty one, onnxruntime returns what memory held.

    See ``thoughts/upstream/onnxruntime-empty-tensors.md``.
    """
    ndim, axis, dims = node.outputs[0].type.ndim, node.op.axis, parts[0].builder.dims
    first, *others = ([s for a, s in enumerate(dims.sizes(v)) if a != axis % ndim]
                      for v in node.inputs)  # fmt: skip
    for part, sizes in zip(parts[1:], others, strict=True):
        if sizes != first:
            shapes = (x.sizes_without(axis % ndim, ndim) for x in (parts[0], part))
            message = f"join: the parts have other lengths on axes other than {axis}"
            require(operator.eq(*shapes), ValueError, message)


@onnx_funcify.register(Split)
def onnx_funcify_Split(op, node, x, sizes):
    if op.len_splits == 1:
        return x
    return x.node("Split", sizes.cast("int64"), n_outputs=op.len_splits, axis=op.axis)


@onnx_funcify.register(MakeVector)
def onnx_funcify_MakeVector(op, node, x, *entries):
    # Without entries it gets the builder.
    return vector_of(getattr(x, "builder", x), node.inputs, (x, *entries), op.dtype)


def vector_of(builder, variables, entries, dtype="int64"):
    """Return a vector of scalars."""
    parts = [
        variable.data.item() if isinstance(variable, Constant) else x.cast(dtype).unsqueeze(0)
        for variable, x in zip(variables, entries, strict=False)
    ]
    return builder.vector(parts, dtype)


# A promise about the shape, which the types of values carry from here on.
@onnx_funcify.register(SpecifyShape)
@onnx_funcify.register(CpuContiguous)
@onnx_funcify.register(DeepCopyOp)
@onnx_funcify.register(TypeCastingOp)
@onnx_funcify.register(ScalarFromTensor)
@onnx_funcify.register(TensorFromScalar)
def onnx_funcify_DeepCopyOp(op, node, x, *shape):
    return x


@onnx_funcify.register(Alloc)
def onnx_funcify_Alloc(op, node, value, *shape):
    static = node.outputs[0].type.shape
    if 0 in static and None not in static:
        # PyTensor's rewrites leave values of other sizes there, which an Expand would keep.
        return value.builder.constant(np.zeros(static), value.dtype)
    if not static:
        return value
    if None not in static:
        return value.expand(static)
    return value.expand(vector_of(value.builder, node.inputs[1:], shape))


@onnx_funcify.register(AllocEmpty)
def onnx_funcify_AllocEmpty(op, node, first, *rest):
    # Without axes it gets the builder.
    builder = getattr(first, "builder", first)
    sizes = vector_of(builder, node.inputs, (first, *rest))
    return builder.constant(0, op.dtype).expand(sizes)


@onnx_funcify.register(PermuteRowElements)
def onnx_funcify_PermuteRowElements(op, node, x, order):
    x = x.expand_as(order)
    order = order.cast("int64").expand_as(x)
    axis = node.outputs[0].type.ndim - 1
    if op.inverse:
        return x.scatter_elements(order, x, axis=axis)
    return x.gather_elements(order, axis=axis)


def bring_inside(index, n, mode):
    """Return what the modes "wrap" and "clip" make of indices to an axis of length `n`."""
    if mode == "wrap":
        return index % n
    return maximum(minimum(index, n - 1), 0) if mode == "clip" else index
