from math import prod

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.conv import correlate, correlation_filters, is_native
from pytensor.link.onnx.write.lengths import (
    all_known,
    crop,
    matmul_or_zeros,
    one_if_empty,
    pad,
    split_pairs,
)
from pytensor.link.onnx.write.windows import (
    add_windows,
    columns,
    cotangent_matrix,
    filter_matrix,
)
from pytensor.tensor.conv.lengths import window_extent
from pytensor.tensor.conv.ops import ConvGradFilters, ConvGradInput, ConvTranspose


@onnx_funcify.register(ConvGradInput)
def onnx_funcify_ConvGradInput(op, node, image, filters, cotangent):
    dtype = node.outputs[0].type.dtype
    filters, cotangent = filters.cast(dtype), cotangent.cast(dtype)
    # The image gives only its shape, whatever its dtype.
    image_shape, filter_shape, shape = image.lengths, filters.lengths, cotangent.lengths
    kernel = filter_shape[2:]
    filters = correlation_filters(op, filters, kernel)
    if not is_native("ConvTranspose", dtype, image_shape, filter_shape, shape):
        return summed_windows(op, image_shape, filters, filter_shape, cotangent, shape)
    rest = op.pads(kernel), op.subsample, op.filter_dilation
    axes = zip(image_shape[2:], kernel, *rest, strict=True)
    plans = [plan_of_axis(*axis) for axis in axes]
    return transposed_convolution(op, plans, filters, kernel, cotangent)


@onnx_funcify.register(ConvTranspose)
def onnx_funcify_ConvTranspose(op, node, image, filters):
    dtype = node.outputs[0].type.dtype
    image, filters = image.cast(dtype), filters.cast(dtype)
    image_shape, filter_shape = image.lengths, filters.lengths
    kernel = filter_shape[2:]
    filters = correlation_filters(op, filters, kernel)
    shape = op.output_shape(image_shape, filter_shape)
    if not is_native("ConvTranspose", dtype, image_shape, filter_shape):
        return summed_windows(op, shape, filters, filter_shape, image, image_shape)
    plans = [
        (pads, more, None) if all_known(pads) else ((0, 0), more, (pads[0], length))
        for pads, more, length in zip(op.pads(kernel), op.output_padding, shape[2:], strict=True)
    ]
    return transposed_convolution(op, plans, filters, kernel, image)


def transposed_convolution(op, plans, filters, kernel, cotangent):
    """Add ONNX's ConvTranspose with a plan for each axis, as `plan_of_axis` makes them."""
    pads, rest, cropped = zip(*plans, strict=True)
    before, after = split_pairs(pads)
    gradient = cotangent.node(
        "ConvTranspose",
        filters,
        kernel_shape=kernel if all_known(kernel) else None,
        strides=list(op.subsample),
        dilations=list(op.filter_dilation),
        pads=[*before, *after],
        output_padding=list(rest) if any(rest) else None,
        group=op.num_groups,
    )
    cropped = {2 + i: part for i, part in enumerate(cropped) if part is not None}
    if not cropped:
        return gradient
    starts, lengths = zip(*cropped.values(), strict=True)
    return crop(gradient, starts, lengths, list(cropped))


def plan_of_axis(length, kernel, pads, stride, dilation):
    """Return padding, output padding, and (start, length) of what is cut out, for one axis.

    Cells of the image after its last window have a gradient of zero.  How many they are may be
    known at run time only: at most one less than the stride.
    """
    if all_known([length, kernel]):
        return pads, (length + sum(pads) - window_extent(kernel, dilation)) % stride, None
    if stride == 1 and all_known([length, *pads]):
        return pads, 0, None
    # Padding isn't left to ConvTranspose, which refuses to cut out an empty image.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    return (0, 0), stride - 1, (pads[0], length)


def summed_windows(op, image_shape, filters, filter_shape, cotangent, shape):
    kernel, outputs, groups, n = filter_shape[2:], shape[2:], op.num_groups, op.n_spatial
    batch, channels = image_shape[:2]
    x = cotangent_matrix(op, cotangent, shape)
    matrix = filter_matrix(op, filters, filter_shape)
    x = matmul_or_zeros(x, matrix, filter_shape[0] // groups)
    x = x.reshape([groups, batch, *outputs, channels // groups, *kernel])
    pairs = [axis for i in range(n) for axis in (3 + n + i, 2 + i)]
    x = x.transpose(1, 0, 2 + n, *pairs)
    merged = [k * m for k, m in zip(kernel, outputs, strict=True)]
    x = x.reshape([batch, channels, *merged])
    rest = op.subsample, op.filter_dilation
    axes = [*zip(image_shape[2:], op.pads(kernel), outputs, kernel, *rest, strict=True)]
    return add_windows(x, 2, axes, per_tap=True)


@onnx_funcify.register(ConvGradFilters)
def onnx_funcify_ConvGradFilters(op, node, image, filters, cotangent):
    dtype = node.outputs[0].type.dtype
    image, cotangent = image.cast(dtype), cotangent.cast(dtype)
    image_shape, filter_shape, shape = image.lengths, filters.lengths, cotangent.lengths
    native = is_native("Conv", dtype, image_shape, filter_shape, shape)
    write = swapped_convolution if native else product_of_columns
    gradient = write(op, image, image_shape, filter_shape, cotangent, shape)
    return correlation_filters(op, gradient, filter_shape[2:])


def swapped_convolution(op, image, image_shape, filter_shape, cotangent, shape):
    """Correlate over the batch: channels serve as batch, output gradients as filters."""
    groups, n, (batch, channels, *spatial) = op.num_groups, op.n_spatial, image_shape
    # Without any images, a blank one: onnxruntime's Conv never returns if there are no channels.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    blank = [(0, one_if_empty(batch))]
    swapped = 1, 0, *range(2, 2 + n)
    cotangent = pad(cotangent.transpose(*swapped), blank, axes=[1])
    if groups == 1:
        image = pad(image.transpose(*swapped), blank, axes=[1])
    else:
        per_group = channels // groups
        image = image.reshape([batch, groups, per_group, *spatial])
        image = pad(image.transpose(2, 1, 0, *range(3, 3 + n)), blank, axes=[2])
        image = image.reshape([per_group, groups * (batch + blank[0][1]), *spatial])
    gradient = correlate(
        image,
        cotangent,
        op.pads(filter_shape[2:]),
        kernel_shape=shape[2:] if all_known(shape[2:]) else None,
        strides=list(op.filter_dilation),
        dilations=list(op.subsample),
        group=groups,
    )
    # What lies after the last window may be long enough for another tap.
    cropped = [
        i
        for i, (stride, dilation) in enumerate(zip(op.subsample, op.filter_dilation, strict=True))
        if stride > dilation
    ]
    if cropped:
        lengths = [filter_shape[2 + i] for i in cropped]
        gradient = crop(gradient, [0] * len(cropped), lengths, [2 + i for i in cropped])
    return gradient.transpose(*swapped)


def product_of_columns(op, image, image_shape, filter_shape, cotangent, shape):
    kernel = filter_shape[2:]
    x = columns(op, pad(image, op.pads(kernel)), image_shape, kernel, shape[2:])
    matrix = cotangent_matrix(op, cotangent, shape).transpose(0, 2, 1)
    return matmul_or_zeros(matrix, x, shape[0] * prod(shape[2:])).reshape(filter_shape)
