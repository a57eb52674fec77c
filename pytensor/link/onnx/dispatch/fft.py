from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.term import concat, minimum, where
from pytensor.tensor.fft import IRFFTOp, RFFTOp


@onnx_funcify.register(RFFTOp)
def onnx_funcify_RFFTOp(op, node, x, lengths):
    require_float(x)
    lengths, last = lengths.cast("int64"), x.ndim - 1
    x = dft(x.unsqueeze(-1), length_of(lengths, last), last, onesided=1)
    for axis in range(last - 1, 0, -1):
        x = dft(x, length_of(lengths, axis), axis)
    return x


@onnx_funcify.register(IRFFTOp)
def onnx_funcify_IRFFTOp(op, node, x, lengths):
    require_float(x)
    lengths, last = lengths.cast("int64"), x.ndim - 2
    # The inverse without its division, which onnxruntime rounds to float32, is the conjugate of
    # the conjugate's transform.
    # thoughts/upstream/onnxruntime-rounding.md
    x = x * [1, -1]
    for axis in range(1, last):
        x = dft(x, length_of(lengths, axis), axis)
    length = length_of(lengths, last)
    return dft(mirrored(x, length, last), length, last).gather(0, axis=last + 1)


def require_float(x):
    if not x.is_float:
        raise ConversionError("ONNX transforms floats; cast to float32 or float64 first")


def length_of(lengths, axis):
    """Return the length of an axis after the first one, which is the batch's."""
    return lengths.gather(axis - 1)


def dft(x, length, axis, **attributes):
    if x.builder.opset < 20:
        return x.node("DFT", length, axis=axis, **attributes)
    return x.node("DFT", length, x.builder.constant(axis, "int64"), **attributes)


def mirrored(x, length, axis):
    """Return the whole spectrum of something real, from the half that isn't redundant."""
    positions = x.builder.arange(length)
    index = minimum(positions, length - positions)
    is_given = index < x.size(axis)
    x = x.gather(where(is_given, index, 0), axis=axis)
    is_second_half = positions * 2 > length
    # What is its own mirror image has no imaginary part.
    is_real = positions * 2 % length == 0
    sign = where(is_real, 0, where(is_second_half, x.lift(-1), 1))
    parts = x.lift(1).expand_as(sign), sign
    factors = concat([part.unsqueeze(1) for part in parts], axis=1)
    return where(is_given.unsqueeze(1), x * factors, 0)
