"""Operators of com.microsoft on quantized numbers."""

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.quantization import saturated
from pytensor.link.onnx.importing.registry import MICROSOFT, Refused, converter_of, converts
from pytensor.tensor.basic import cast


def _real(x, scale, zero_point=None):
    """The numbers that integers stand for."""
    difference = cast(x, "int32")
    if zero_point is not None:
        difference = difference - cast(zero_point, "int32")
    return cast(difference, scale.type.dtype) * scale


@converts("QLinearAdd", domain=MICROSOFT)
def qlinear_add(node, a, a_scale, a_zero, b, b_scale, b_zero, scale, zero=None):
    total = _real(a, a_scale, a_zero) + _real(b, b_scale, b_zero)
    return saturated(total / scale, zero, a.type.dtype)


@converts("QLinearMul", domain=MICROSOFT)
def qlinear_mul(node, a, a_scale, a_zero, b, b_scale, b_zero, scale, zero=None):
    product = _real(a, a_scale, a_zero) * _real(b, b_scale, b_zero)
    return saturated(product / scale, zero, a.type.dtype)


@converts("QLinearSigmoid", domain=MICROSOFT)
def qlinear_sigmoid(node, x, x_scale, x_zero, scale, zero=None):
    return saturated(pt.sigmoid(_real(x, x_scale, x_zero)) / scale, zero, x.type.dtype)


@converts("QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_leaky_relu(node, x, x_scale, x_zero, scale, zero=None):
    real = pt.leaky_relu(_real(x, x_scale, x_zero), node.attribute("alpha", 0.01))
    return saturated(real / scale, zero, x.type.dtype)


@converts("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(node, x, x_scale, x_zero, scale, zero=None):
    if node.required("opset") < 13:
        raise Refused("a Softmax of before opset 13; export the model with a newer one")
    real = pt.special.softmax(_real(x, x_scale, x_zero), axis=node.attribute("axis", -1))
    return saturated(real / scale, zero, x.type.dtype)


@converts("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(node, scale, zero, *inputs):
    parts = [_real(*inputs[i : i + 3]) / scale for i in range(0, len(inputs), 3)]
    joined = pt.concatenate(parts, axis=node.required("axis"))
    return saturated(joined, zero, zero.type.dtype)


def _pool(op_type):
    def pool(node, x, x_scale, x_zero, scale, zero=None):
        real, last = _real(x, x_scale, x_zero), x.type.ndim - 1
        channels_last = node.attribute("channels_last", 0)
        if channels_last:
            real = real.dimshuffle(0, last, *range(1, last))
        pooled = converter_of("", op_type)(node, real)
        if channels_last:
            pooled = pooled.dimshuffle(0, *range(2, last + 1), 1)
        return saturated(pooled / scale, zero, x.type.dtype)

    return pool


for _name in ("AveragePool", "GlobalAveragePool"):
    converts(f"QLinear{_name}", domain=MICROSOFT)(_pool(_name))


@converts("MatMulIntegerToFloat", domain=MICROSOFT)
def mat_mul_integer_to_float(
    node, a, b, a_scale, b_scale, a_zero=None, b_zero=None, bias=None
):
    if any(v is not None and v.type.ndim and v.type.shape != (1,) for v in (a_scale, a_zero)):
        raise Refused("its first factor has scales or zero points of more than one element")
    product = converter_of("", "MatMulInteger")(node, a, b, a_zero, b_zero)
    out = cast(product, a_scale.type.dtype) * (a_scale * b_scale)
    return out if bias is None else out + bias


@converts("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_mat_mul(node, a, b, b_scale, b_zero=None, bias=None):
    a, scale, zero = converter_of("", "DynamicQuantizeLinear")(node, a)
    return mat_mul_integer_to_float(node, a, b, scale, b_scale, zero, b_zero, bias)
