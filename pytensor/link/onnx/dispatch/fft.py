from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.sizes import count_to, size
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.fft import IRFFTOp, RFFTOp


@onnx_funcify.register(RFFTOp)
def onnx_funcify_RFFTOp(op, node, builder, x, lengths):
    lengths = builder.cast(lengths, node.inputs[1].type.dtype, "int64")
    last = node.inputs[0].type.ndim - 1
    require_float(node)
    x = builder.add("Unsqueeze", x, builder.int64s([-1]))
    x = dft(builder, x, length_of(builder, lengths, last), last, onesided=1)
    for axis in range(last - 1, 0, -1):
        x = dft(builder, x, length_of(builder, lengths, axis), axis)
    return x


@onnx_funcify.register(IRFFTOp)
def onnx_funcify_IRFFTOp(op, node, builder, x, lengths):
    add = builder.add
    variable = node.inputs[0]
    dtype, last = variable.type.dtype, variable.type.ndim - 2
    require_float(node)
    lengths = builder.cast(lengths, node.inputs[1].type.dtype, "int64")
    # The inverse without its division, which onnxruntime rounds to float32, is the conjugate of
    # the conjugate's transform.
    # thoughts/upstream/onnxruntime-rounding.md
    x = add("Mul", x, builder.constant([1, -1], dtype))
    for axis in range(1, last):
        x = dft(builder, x, length_of(builder, lengths, axis), axis)
    length = length_of(builder, lengths, last)
    x = dft(builder, mirrored(builder, x, length, last, dtype), length, last)
    return add("Gather", x, builder.constant(0, "int64"), axis=last + 1)


def require_float(node):
    if node.inputs[0].type.dtype in discrete_dtypes:
        raise ConversionError("ONNX transforms floats; cast to float32 or float64 first")


def length_of(builder, lengths, axis):
    """Return the length of an axis after the first one, which is the batch's."""
    return builder.add("Gather", lengths, builder.constant(axis - 1, "int64"))


def dft(builder, x, length, axis, **attributes):
    if builder.opset < 20:
        return builder.add("DFT", x, length, axis=axis, **attributes)
    return builder.add("DFT", x, length, builder.constant(axis, "int64"), **attributes)


def mirrored(builder, x, length, axis, dtype):
    """Return the whole spectrum of something real, from the half that isn't redundant."""
    add = builder.add
    zero, two = builder.constant(0, "int64"), builder.constant(2, "int64")
    positions = count_to(builder, length)
    index = add("Min", positions, add("Sub", length, positions))
    is_given = add("Less", index, size(builder, x, axis))
    x = add("Gather", x, add("Where", is_given, index, zero), axis=axis)
    is_second_half = add("Greater", add("Mul", positions, two), length)
    # What is its own mirror image has no imaginary part.
    is_real = add("Equal", add("Mod", add("Mul", positions, two), length), zero)
    sign = add("Where", is_second_half, builder.constant(-1, dtype), builder.constant(1, dtype))
    sign = add("Where", is_real, builder.constant(0, dtype), sign)
    factors = [
        add("Unsqueeze", factor, builder.int64s([1]))
        for factor in (add("Expand", builder.constant(1, dtype), add("Shape", sign)), sign)
    ]
    factors = add("Concat", *factors, axis=1)
    is_given = add("Unsqueeze", is_given, builder.int64s([1]))
    return add("Where", is_given, add("Mul", x, factors), builder.constant(0, dtype))
