from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.math import matmul
from pytensor.tensor.blas import BatchedDot, Dot22, Dot22Scalar, Gemm, Gemv

# Only compiled functions hold these; graphs of variables have Dot and Blockwise.


@onnx_funcify.register(Dot22)
@onnx_funcify.register(BatchedDot)
def onnx_funcify_Dot22(op, node, builder, x, y):
    return matmul(builder, node, x, y)


@onnx_funcify.register(Dot22Scalar)
def onnx_funcify_Dot22Scalar(op, node, builder, x, y, scale):
    return builder.add("Mul", builder.add("MatMul", x, y), scale)


@onnx_funcify.register(Gemm)
@onnx_funcify.register(Gemv)
def onnx_funcify_Gemm(op, node, builder, z, alpha, x, y, beta):
    product = builder.add("Mul", builder.add("MatMul", x, y), alpha)
    factor = builder.constant_value(beta)
    if factor is not None and factor == 0:
        # As in BLAS, what is multiplied by a zero beta may be uninitialized.
        return product
    return builder.add("Add", builder.add("Mul", z, beta), product)
