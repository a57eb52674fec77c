from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.math import Dot

# Integers wrap around, so that the lowest bits don't depend on the width or the sign of the sum;
# onnxruntime's product of unsigned matrices fails where there is nothing to sum up.
SUM_DTYPES = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int32",
    "uint64": "int64",
}


def matmul(builder, node, x, y):
    """MatMul in the dtype of the node's output."""
    dtype = node.outputs[0].type.dtype
    work = SUM_DTYPES.get(dtype, dtype)
    x, y = (
        cast_through(builder, name, v.type.dtype, dtype, work)
        for name, v in zip((x, y), node.inputs, strict=True)
    )
    return builder.cast(builder.add_as(work, "MatMul", x, y), work, dtype)


def cast_through(builder, name, dtype, through, to):
    """Cast to the dtype of a result, and then to the one that it is computed in."""
    return builder.cast(builder.cast(name, dtype, through), through, to)


@onnx_funcify.register(Dot)
def onnx_funcify_Dot(op, node, builder, x, y):
    return matmul(builder, node, x, y)
