"""Quantization: integers, with a scale and a zero point."""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.link.onnx.importing.sizes import like, normalized, positions, wide
from pytensor.link.onnx.importing.windows import (
    AutoPad,
    Sliding,
    filtered,
    must_have_size,
    patches,
    with_kernel,
)
from pytensor.link.onnx.importing.written import kept
from pytensor.tensor.batching import lengths_of


def _dtype(value):
    """Return the dtype that an attribute says, None where it is left out."""
    return dtype_name(ir.DataType(value)) if value else None


def _fitted(parameter, x, axis, block):
    """Return a scale or zero point in the form in which it broadcasts against `x`."""
    ndim = x.type.ndim
    if parameter.type.ndim == 0:
        return parameter
    if block:
        axis = normalized(axis, ndim)
        cells = positions(lengths_of(x)[axis]) // block
        return parameter[(slice(None),) * axis + (cells,)]
    if parameter.type.ndim == ndim != 1:
        raise Refused("its scale has as many axes as its input: that needs a block_size")
    if parameter.type.shape == (1,):
        return parameter[0]
    axis = normalized(axis, ndim) if ndim > 1 else 0
    return parameter.dimshuffle(["x" if a != axis else 0 for a in range(ndim)])


def saturated(x, zero_point, dtype):
    """Return integers of a dtype: `x` rounded, ties to even, plus the zero point, and clipped."""
    limits = np.iinfo(dtype)
    # Double precision, for sums with 16 bits to be exact where `x` is large
    x = pt.round(pt.cast(kept(x), "float64"), mode="half_to_even")
    if zero_point is not None:
        x = x + pt.cast(zero_point, "float64")
    low, high = np.float64(limits.min), np.float64(limits.max)
    return pt.cast(pt.clip(x, low, high), dtype)


@operator_funcify.register("QuantizeLinear")
def quantize_linear(
    x, scale, zero_point=None, *, axis=1, block_size=0, output_dtype=0, precision=0,
    saturate=1,
):  # fmt: skip
    # `saturate` is for floats of 8 bits, which PyTensor doesn't have
    given = _dtype(output_dtype)
    dtype = given or ("uint8" if zero_point is None else zero_point.type.dtype)
    if not dtype.startswith(("int", "uint")):
        raise Refused(f"PyTensor quantizes to integers, not to {dtype}")
    # Half precision is computed in single, as onnxruntime does
    work = _dtype(precision) or wide(scale).type.dtype
    quotient = pt.cast(x, work) / pt.cast(_fitted(scale, x, axis, block_size), work)
    if zero_point is not None:
        zero_point = _fitted(zero_point, x, axis, block_size)
    return saturated(quotient, zero_point, dtype)


@operator_funcify.register("DequantizeLinear")
def dequantize_linear(x, scale, zero_point=None, *, axis=1, block_size=0, output_dtype=0):
    dtype = _dtype(output_dtype) or scale.type.dtype
    difference = x if x.type.dtype.startswith("float") else pt.cast(x, "int64")
    if zero_point is not None:
        difference = difference - _fitted(zero_point, x, axis, block_size)
    scale = wide(_fitted(scale, x, axis, block_size))
    return pt.cast(pt.cast(difference, scale.type.dtype) * scale, dtype)


@operator_funcify.register("DynamicQuantizeLinear")
def dynamic_quantize_linear(x):
    zero = like(x, 0)
    low, high = (
        pt.minimum(x.min(initial=np.inf), zero),
        pt.maximum(x.max(initial=-np.inf), zero),
    )
    scale = kept((high - low) / like(x, 255))
    # The standard divides by 0 where all is 0
    scale = pt.switch(pt.eq(scale, zero), like(x, 1), scale)
    zero_point = saturated(zero - low / scale, None, "uint8")
    return saturated(x / scale, zero_point, "uint8"), scale, zero_point


def _centred(x, zero_point, axis=None):
    """Return an integer less its zero point, which is for entries of an axis if it is a vector."""
    x = disconnected_grad(pt.cast(x, "int32"))
    return x if zero_point is None else x - pt.cast(_along(zero_point, x, axis), "int32")


def _along(parameter, x, axis):
    if parameter.type.ndim != 1:
        return parameter
    if parameter.type.shape == (1,):
        return parameter[0]
    return parameter.dimshuffle(["x" if a != axis % x.type.ndim else 0 for a in range(x.type.ndim)])


def _convolved(x, w, kernel_shape, group, **attributes):
    w, kernel = with_kernel(w, kernel_shape)
    must_have_size(kernel)
    found = Sliding(kernel, **attributes).windows(lengths_of(x)[2:])
    return filtered(patches(x, found), w, group)


@operator_funcify.register("ConvInteger")
def conv_integer(
    x, w, x_zero_point=None, w_zero_point=None, *, auto_pad: AutoPad = "NOTSET", dilations=None,
    group=1, kernel_shape=None, pads=None, strides=None,
):  # fmt: skip
    sliding = {"auto_pad": auto_pad, "dilations": dilations, "pads": pads, "strides": strides}
    x, w = _centred(x, x_zero_point), _centred(w, w_zero_point, 0)
    return _convolved(x, w, kernel_shape, group, **sliding)


@operator_funcify.register("QLinearConv")
def qlinear_conv(
    x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, b=None, *,
    auto_pad: AutoPad = "NOTSET", dilations=None, group=1, kernel_shape=None, pads=None,
    strides=None,
):  # fmt: skip
    sliding = {"auto_pad": auto_pad, "dilations": dilations, "pads": pads, "strides": strides}
    x, w = _centred(x, x_zero_point), _centred(w, w_zero_point, 0)
    out = _convolved(x, w, kernel_shape, group, **sliding)
    if b is not None:
        out = out + _along(b, out, 1)
    scale = _along(x_scale * w_scale / y_scale, out, 1)
    return saturated(
        pt.cast(out, scale.type.dtype) * scale, y_zero_point, y_zero_point.type.dtype
    )


@operator_funcify.register("MatMulInteger")
def matmul_integer(a, b, a_zero_point=None, b_zero_point=None):
    return pt.matmul(_centred(a, a_zero_point, -2), _centred(b, b_zero_point, -1))


@operator_funcify.register("QLinearMatMul")
def qlinear_matmul(
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
):
    if any(length not in (1, None) for v in (y_scale, y_zero_point) for length in v.type.shape):
        raise Refused("its output has scales or zero points of more than one element")
    out = pt.matmul(_centred(a, a_zero_point, -2), _centred(b, b_zero_point, -1))
    scales = (_along(a_scale, out, -2), _along(b_scale, out, -1), y_scale)
    of_a, of_b, of_y = (pt.cast(scale, "float32") for scale in scales)
    product = pt.cast(out, "float32") * (of_a * of_b / of_y)
    return saturated(product, y_zero_point, y_zero_point.type.dtype)
