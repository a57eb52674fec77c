import numpy as np

from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs
from pytensor.link.onnx.write.sizes import shape_without, vector
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
def onnx_funcify_Join(op, node, builder, *inputs):
    dtype = node.outputs[0].type.dtype
    if can_raise(builder):
        _require_that_parts_fit(node, builder, inputs)
    return builder.add("Concat", *cast_inputs(builder, node, inputs, dtype), axis=op.axis)


def _require_that_parts_fit(node, builder, parts):
    """Refuse parts of unequal lengths: next to an empty one, onnxruntime returns what memory held.

    See ``thoughts/upstream/onnxruntime-empty-tensors.md``.
    """
    ndim, axis = node.outputs[0].type.ndim, node.op.axis
    first, *others = ([s for a, s in enumerate(builder.dims.sizes(v)) if a != axis % ndim]
                      for v in node.inputs)
    for part, sizes in zip(parts[1:], others, strict=True):
        if sizes != first:
            shapes = (shape_without(builder, x, axis % ndim, ndim) for x in (parts[0], part))
            message = f"join: the parts have other lengths on axes other than {axis}"
            require(builder, builder.add("Equal", *shapes), ValueError, message)


@onnx_funcify.register(Split)
def onnx_funcify_Split(op, node, builder, x, sizes):
    if op.len_splits == 1:
        return x
    sizes = builder.cast(sizes, node.inputs[1].type.dtype, "int64")
    return builder.add("Split", x, sizes, n_outputs=op.len_splits, axis=op.axis)


@onnx_funcify.register(MakeVector)
def onnx_funcify_MakeVector(op, node, builder, *entries):
    return vector_of(builder, node.inputs, entries, op.dtype)


def vector_of(builder, variables, names, dtype):
    """Concatenate scalars to a vector."""
    parts = [
        variable.data.item()
        if isinstance(variable, Constant)
        else builder.add(
            "Unsqueeze", builder.cast(name, variable.type.dtype, dtype), builder.int64s([0])
        )
        for variable, name in zip(variables, names, strict=True)
    ]
    return vector(builder, parts, dtype)


# A promise about the shape, which the types of values carry from here on.
@onnx_funcify.register(SpecifyShape)
@onnx_funcify.register(CpuContiguous)
@onnx_funcify.register(DeepCopyOp)
@onnx_funcify.register(TypeCastingOp)
@onnx_funcify.register(ScalarFromTensor)
@onnx_funcify.register(TensorFromScalar)
def onnx_funcify_DeepCopyOp(op, node, builder, x, *shape):
    return x


@onnx_funcify.register(Alloc)
def onnx_funcify_Alloc(op, node, builder, value, *shape):
    static = node.outputs[0].type.shape
    if None not in static:
        if 0 in static:
            # PyTensor's rewrites leave values of other sizes there, which an Expand would keep.
            return builder.constant(np.zeros(static), node.outputs[0].type.dtype)
        target = builder.int64s(static)
    else:
        target = vector_of(builder, node.inputs[1:], shape, "int64")
    if not static:
        return value
    return builder.add("Expand", value, target)


@onnx_funcify.register(AllocEmpty)
def onnx_funcify_AllocEmpty(op, node, builder, *shape):
    target = vector_of(builder, node.inputs, shape, "int64")
    return builder.add("Expand", builder.constant(0, op.dtype), target)


@onnx_funcify.register(PermuteRowElements)
def onnx_funcify_PermuteRowElements(op, node, builder, x, order):
    order = builder.cast(order, node.inputs[1].type.dtype, "int64")
    x = builder.add("Expand", x, builder.add("Shape", order))
    order = builder.add("Expand", order, builder.add("Shape", x))
    axis = node.outputs[0].type.ndim - 1
    if op.inverse:
        return builder.add("ScatterElements", x, order, x, axis=axis)
    return builder.add("GatherElements", x, order, axis=axis)


def bring_inside(builder, index, n, mode):
    """Return what the modes "wrap" and "clip" make of indices to an axis of length `n`."""
    if mode == "wrap":
        return builder.add("Mod", index, n)
    if mode == "clip":
        last = builder.add("Sub", n, builder.constant(1, "int64"))
        return builder.add("Max", builder.add("Min", index, last), builder.constant(0, "int64"))
    return index
