from pytensor.graph.basic import Constant
from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    MakeVector,
    ScalarFromTensor,
    Split,
    TensorFromScalar,
)


@onnx_funcify.register(Join)
def onnx_funcify_Join(op, node, builder, *inputs):
    dtype = node.outputs[0].type.dtype
    inputs = [
        builder.cast(x, v.type.dtype, dtype) for x, v in zip(inputs, node.inputs, strict=True)
    ]
    return builder.add("Concat", *inputs, axis=op.axis)


@onnx_funcify.register(Split)
def onnx_funcify_Split(op, node, builder, x, sizes):
    if op.len_splits == 1:
        return x
    sizes = builder.cast(sizes, node.inputs[1].type.dtype, "int64")
    return builder.add("Split", x, sizes, n_outputs=op.len_splits, axis=op.axis)


@onnx_funcify.register(MakeVector)
def onnx_funcify_MakeVector(op, node, builder, *entries):
    return vector(builder, node.inputs, entries, op.dtype)


def vector(builder, variables, names, dtype):
    """Concatenate scalars to a vector, neighbouring constants as one."""
    parts, constants = [], []

    def flush():
        if constants:
            parts.append(builder.constant(constants, dtype))
            constants.clear()

    for variable, name in zip(variables, names, strict=True):
        if isinstance(variable, Constant):
            constants.append(variable.data.item())
        else:
            flush()
            scalar = builder.cast(name, variable.type.dtype, dtype)
            parts.append(builder.add("Unsqueeze", scalar, builder.int64s([0])))
    flush()
    if not parts:
        return builder.constant([], dtype)
    return parts[0] if len(parts) == 1 else builder.add("Concat", *parts, axis=0)


@onnx_funcify.register(ScalarFromTensor)
@onnx_funcify.register(TensorFromScalar)
def onnx_funcify_ScalarFromTensor(op, node, builder, x):
    return x


@onnx_funcify.register(Alloc)
def onnx_funcify_Alloc(op, node, builder, value, *shape):
    static = node.outputs[0].type.shape
    if None not in static:
        target = builder.int64s(static)
    else:
        target = vector(builder, node.inputs[1:], shape, "int64")
    if not static:
        return value
    return builder.add("Expand", value, target)


@onnx_funcify.register(AllocEmpty)
def onnx_funcify_AllocEmpty(op, node, builder, *shape):
    target = vector(builder, node.inputs, shape, "int64")
    return builder.add("Expand", builder.constant(0, op.dtype), target)
