from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.math import Dot


def matmul(builder, node, x, y):
    """MatMul in the dtype of the node's output."""
    dtype = node.outputs[0].type.dtype
    work = dtype
    if dtype not in ("float16", "float32", "float64", "int32", "int64", "uint32", "uint64"):
        if dtype == "bool":
            raise ConversionError("ONNX has no product of boolean matrices; cast them first")
        work = "int32"
    x, y = (
        builder.cast(name, v.type.dtype, work) for name, v in zip((x, y), node.inputs, strict=True)
    )
    return builder.cast(builder.add("MatMul", x, y), work, dtype)


@onnx_funcify.register(Dot)
def onnx_funcify_Dot(op, node, builder, x, y):
    return matmul(builder, node, x, y)
