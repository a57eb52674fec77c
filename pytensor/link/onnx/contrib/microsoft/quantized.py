"""Operators of com.microsoft on quantized numbers."""

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.pooling import (
    average_pool,
    global_average_pool,
    max_pool,
)
from pytensor.link.onnx.importing.operators.quantization import (
    dequantize_linear,
    dynamic_quantize_linear,
    matmul_integer,
    quantize_linear,
    saturated,
)
from pytensor.link.onnx.importing.registry import (
    MICROSOFT,
    Refused,
    attributes_of,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import folded
from pytensor.tensor.basic import cast

operator_funcify.register("QuantizeLinear", domain=MICROSOFT)(quantize_linear)
operator_funcify.register("DequantizeLinear", domain=MICROSOFT)(dequantize_linear)


def _centred(x, zero_point):
    difference = cast(x, "int32")
    return difference if zero_point is None else difference - cast(zero_point, "int32")


def _real(x, scale, zero_point=None):
    """Return the numbers that integers stand for."""
    return cast(_centred(x, zero_point), scale.type.dtype) * scale


@operator_funcify.register("QLinearAdd", domain=MICROSOFT)
def qlinear_add(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero=None):
    total = _real(a, a_scale, a_zero) + _real(b, b_scale, b_zero)
    return saturated(total / scale, zero, a.type.dtype)


@operator_funcify.register("QLinearMul", domain=MICROSOFT)
def qlinear_mul(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero=None):
    # As onnxruntime: one product by one factor of three scales, and the zero point before rounding
    product = cast(_centred(a, a_zero) * _centred(b, b_zero), scale.type.dtype)
    result = product * (a_scale * b_scale / scale)
    result = result if zero is None else result + cast(zero, scale.type.dtype)
    return saturated(result, None, a.type.dtype)


@operator_funcify.register("QLinearSigmoid", domain=MICROSOFT)
def qlinear_sigmoid(x, x_scale, x_zero, scale, zero=None):
    return saturated(pt.sigmoid(_real(x, x_scale, x_zero)) / scale, zero, x.type.dtype)


@operator_funcify.register("QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_leaky_relu(x, x_scale, x_zero, scale, zero=None, *, alpha=0.01):
    real = pt.nn.leaky_relu(_real(x, x_scale, x_zero), alpha)
    return saturated(real / scale, zero, x.type.dtype)


@operator_funcify.register("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(x, x_scale, x_zero, scale, zero=None, *, axis=-1, opset):
    if opset < 13:
        raise Refused("a Softmax of before opset 13; export the model with a newer one")
    real = pt.special.softmax(_real(x, x_scale, x_zero), axis=axis)
    return saturated(real / scale, zero, x.type.dtype)


@operator_funcify.register("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(scale, zero, *inputs, axis):
    if len(inputs) % 3:
        raise Refused(f"it has {len(inputs)} inputs to join, and each part has three")
    parts = [_real(*inputs[i : i + 3]) / scale for i in range(0, len(inputs), 3)]
    joined = pt.concatenate(parts, axis=axis)
    return saturated(joined, zero, zero.type.dtype)


def _pool(pool):
    @attributes_of(pool)
    def quantized(x, x_scale, x_zero, scale, zero=None, *, channels_last=0, **attributes):
        real, last = _real(x, x_scale, x_zero), x.type.ndim - 1
        if channels_last:
            real = real.dimshuffle(0, last, *range(1, last))
        pooled = pool(real, **attributes)
        if channels_last:
            pooled = pooled.dimshuffle(0, *range(2, last + 1), 1)
        return saturated(pooled / scale, zero, x.type.dtype)

    return quantized


operator_funcify.register("QLinearAveragePool", domain=MICROSOFT)(_pool(average_pool))
operator_funcify.register("QLinearGlobalAveragePool", domain=MICROSOFT)(_pool(global_average_pool))


@operator_funcify.register("MatMulIntegerToFloat", domain=MICROSOFT)
def mat_mul_integer_to_float(a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None):
    if any(v is not None and v.type.ndim and v.type.shape != (1,) for v in (a_scale, a_zero)):
        raise Refused("its first factor has scales or zero points of more than one element")
    product = matmul_integer(a, b, a_zero, b_zero)
    out = cast(product, a_scale.type.dtype) * (a_scale * b_scale)
    return out if bias is None else out + bias


@operator_funcify.register("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_mat_mul(a, b, b_scale, b_zero=None, bias=None):
    a, scale, zero = dynamic_quantize_linear(a)
    return mat_mul_integer_to_float(a, b, scale, b_scale, zero, b_zero, bias)


@operator_funcify.register("NhwcMaxPool", domain=MICROSOFT)
@attributes_of(max_pool)
def nhwc_max_pool(node, x, **attributes):
    last = x.type.ndim - 1
    pooled = max_pool(node, x.dimshuffle(0, last, *range(1, last)), **attributes)
    return pooled.dimshuffle(0, *range(2, last + 1), 1)


@operator_funcify.register("MatMulNBits", domain=MICROSOFT)
def mat_mul_n_bits(
    a, b, scales, zero_points=None, groups=None, bias=None, *,
    K, N, accuracy_level=0, bits=4, block_size, weight_prepacked=0,
):  # fmt: skip
    """Multiply by weights of few bits; for accuracy_level 4, without rounding `a`."""
    if groups is not None:
        raise Refused("its input g_idx isn't supported; quantize without act_order")
    if weight_prepacked:
        raise Refused("its weights are packed for one device; export the model before it is packed")
    rows, depth, block = N, K, block_size
    if bits not in (2, 4, 8):
        raise Refused(f"its weights have {bits} bits; 2, 4 and 8 are supported")
    blocks = -(-depth // block)
    numbers = _unpacked(b.reshape((rows, blocks, block * bits // 8)), bits)
    if zero_points is None:
        zero = np.int32(2 ** (bits - 1))
    elif zero_points.type.dtype == "uint8":
        packed = zero_points.reshape((rows, -(-blocks * bits // 8)))
        zero = _unpacked(packed, bits)[:, :blocks, None]
    else:
        zero = zero_points.reshape((rows, blocks, 1))
    weights = (numbers - zero) * scales.reshape((rows, blocks, 1))
    weights = cast(weights, a.type.dtype).reshape((rows, blocks * block))[:, :depth]
    (weights,) = folded([weights.T])
    out = pt.matmul(a, weights)
    return out if bias is None else out + bias


def _unpacked(x, bits):
    """Unpack the numbers in bytes, along the last axis, the lowest bits first."""
    if bits == 8:
        return cast(x, "int32")
    parts = [cast(x // np.uint8(2**s) % np.uint8(2**bits), "int32") for s in range(0, 8, bits)]
    *before, length = x.type.shape
    return pt.stack(parts, axis=-1).reshape((*before, length * 8 // bits))
