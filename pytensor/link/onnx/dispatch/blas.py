from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.tensor.blas import Dot22Scalar, Gemm, Gemv

# Only compiled functions hold these; graphs of variables have Dot and Blockwise.


@onnx_funcify.register(Dot22Scalar)
def onnx_funcify_Dot22Scalar(op, node, builder, x, y, scale):
    dtype = node.outputs[0].type.dtype
    return scaled(builder, builder.add_as(dtype, "MatMul", x, y), scale, dtype)


@onnx_funcify.register(Gemv)
def onnx_funcify_Gemv(op, node, builder, y, alpha, a, x, beta):
    # onnxruntime doesn't initialize the product of a matrix and a vector without entries.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    last = builder.int64s([1])
    y, x = (builder.add("Unsqueeze", vector, last) for vector in (y, x))
    return builder.add("Squeeze", onnx_funcify_Gemm(op, node, builder, y, alpha, a, x, beta), last)


@onnx_funcify.register(Gemm)
def onnx_funcify_Gemm(op, node, builder, z, alpha, x, y, beta):
    dtype = node.outputs[0].type.dtype
    alpha, beta = (
        builder.cast(name, node.inputs[i].type.dtype, dtype) for i, name in ((1, alpha), (4, beta))
    )
    product = scaled(builder, builder.add_as(dtype, "MatMul", x, y), alpha, dtype)
    # As in BLAS, what is multiplied by a zero beta may be uninitialized.
    factor = builder.constant_value(beta)
    if factor is not None and factor == 0:
        return product
    z = scaled(builder, z, beta, dtype)
    if factor is None:
        zero = builder.constant(0, dtype)
        is_zero = builder.add_as(dtype, "Equal", beta, zero, to="bool")
        z = where(builder, dtype, is_zero, zero, z)
    return builder.add_as(dtype, "Add", z, product)


def scaled(builder, x, factor, dtype):
    value = builder.constant_value(factor)
    return x if value is not None and value == 1 else builder.add_as(dtype, "Mul", x, factor)
