from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import where
from pytensor.tensor.blas import Dot22Scalar, Gemm, Gemv

# Only compiled functions hold these; graphs of variables have Dot and Blockwise.


@onnx_funcify.register(Dot22Scalar)
def onnx_funcify_Dot22Scalar(op, node, x, y, scale):
    return scaled(x @ y, scale)


@onnx_funcify.register(Gemv)
def onnx_funcify_Gemv(op, node, y, alpha, a, x, beta):
    # onnxruntime doesn't initialize the product of a matrix and a vector without entries.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    y, x = y.unsqueeze(1), x.unsqueeze(1)
    return onnx_funcify_Gemm(op, node, y, alpha, a, x, beta).squeeze(1)


@onnx_funcify.register(Gemm)
def onnx_funcify_Gemm(op, node, z, alpha, x, y, beta):
    alpha, beta = alpha.cast(z.dtype), beta.cast(z.dtype)
    product = scaled(x @ y, alpha)
    # As in BLAS, what is multiplied by a zero beta may be uninitialized.
    if beta.data is not None and beta.data == 0:
        return product
    z = scaled(z, beta)
    if beta.data is None:
        z = where(beta == 0, 0, z)
    return z + product


def scaled(x, factor):
    return x if factor.data is not None and factor.data == 1 else x * factor
