from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.kernels import work_dtype
from pytensor.tensor.math import Dot


def matmul(builder, node, x, y):
    """MatMul in the dtype of the node's output."""
    dtype = node.outputs[0].type.dtype
    work = sum_dtype(dtype)
    x, y = (
        cast_through(builder, name, v.type.dtype, dtype, work)
        for name, v in zip((x, y), node.inputs, strict=True)
    )
    return builder.cast(builder.add("MatMul", x, y), work, dtype)


def sum_dtype(dtype):
    """In which dtype to sum products of `dtype`.

    Integers wrap around, so that the lowest bits don't depend on the width or the sign of the sum.
    """
    # onnxruntime's product of unsigned matrices fails where there is nothing to sum up.
    return work_dtype("MatMul", {"uint32": "int32", "uint64": "int64"}.get(dtype, dtype))


def cast_through(builder, name, dtype, through, to):
    """Cast to the dtype of a result, and then to the one that it is computed in."""
    return builder.cast(builder.cast(name, dtype, through), through, to)


@onnx_funcify.register(Dot)
def onnx_funcify_Dot(op, node, builder, x, y):
    return matmul(builder, node, x, y)
