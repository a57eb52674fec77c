from math import prod

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.conv import (
    correlate,
    correlation_filters,
    is_native,
    operands,
)
from pytensor.link.onnx.write.lengths import (
    all_known,
    crop,
    matmul_or_zeros,
    one_if_empty,
    pad,
    reshape,
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
def onnx_funcify_ConvGradInput(op, node, builder, image, filters, cotangent):
    dtype = node.outputs[0].type.dtype
    # The image gives its shape alone, whatever its dtype.
    (_, image_shape), *rest = operands(node, builder, image, filters, cotangent)
    (filters, filter_shape), (cotangent, shape) = rest
    kernel = filter_shape[2:]
    filters = correlation_filters(builder, op, filters, kernel)
    if is_native("ConvTranspose", dtype, image_shape, filter_shape, shape):
        plans = [
            plan_of_axis(*axis)
            for axis in zip(
                image_shape[2:],
                kernel,
                op.pads(kernel),
                op.subsample,
                op.filter_dilation,
                strict=True,
            )
        ]
        return transposed_convolution(builder, op, plans, filters, kernel, cotangent)
    return summed_windows(builder, op, dtype, image_shape, filters, filter_shape, cotangent, shape)


@onnx_funcify.register(ConvTranspose)
def onnx_funcify_ConvTranspose(op, node, builder, image, filters):
    dtype = node.outputs[0].type.dtype
    (image, image_shape), (filters, filter_shape) = operands(node, builder, image, filters)
    kernel = filter_shape[2:]
    filters = correlation_filters(builder, op, filters, kernel)
    shape = op.output_shape(image_shape, filter_shape)
    if not is_native("ConvTranspose", dtype, image_shape, filter_shape):
        return summed_windows(builder, op, dtype, shape, filters, filter_shape, image, image_shape)
    plans = [
        (pads, more, None) if all_known(pads) else ((0, 0), more, (pads[0], length))
        for pads, more, length in zip(op.pads(kernel), op.output_padding, shape[2:], strict=True)
    ]
    return transposed_convolution(builder, op, plans, filters, kernel, image)


def transposed_convolution(builder, op, plans, filters, kernel, cotangent):
    """Add ONNX's ConvTranspose with a plan for each axis, as `plan_of_axis` makes them."""
    pads, rest, cropped = zip(*plans, strict=True)
    before, after = split_pairs(pads)
    gradient = builder.add(
        "ConvTranspose",
        cotangent,
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
    return crop(builder, gradient, starts, lengths, list(cropped))


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


def summed_windows(builder, op, dtype, image_shape, filters, filter_shape, cotangent, shape):
    kernel, outputs, groups, n = filter_shape[2:], shape[2:], op.num_groups, op.n_spatial
    batch, channels = image_shape[:2]
    x = cotangent_matrix(builder, op, cotangent, shape)
    matrix = filter_matrix(builder, op, filters, filter_shape)
    x = matmul_or_zeros(builder, dtype, x, matrix, filter_shape[0] // groups)
    x = reshape(builder, x, [groups, batch, *outputs, channels // groups, *kernel])
    pairs = [axis for i in range(n) for axis in (3 + n + i, 2 + i)]
    x = builder.add("Transpose", x, perm=[1, 0, 2 + n, *pairs])
    merged = [k * m for k, m in zip(kernel, outputs, strict=True)]
    x = reshape(builder, x, [batch, channels, *merged])
    rest = op.subsample, op.filter_dilation
    axes = [*zip(image_shape[2:], op.pads(kernel), outputs, kernel, *rest, strict=True)]
    return add_windows(builder, x, dtype, 2, axes, per_tap=True)


@onnx_funcify.register(ConvGradFilters)
def onnx_funcify_ConvGradFilters(op, node, builder, image, filters, cotangent):
    dtype = node.outputs[0].type.dtype
    (image, image_shape), (_, filter_shape), (cotangent, shape) = operands(
        node, builder, image, filters, cotangent
    )
    arguments = (builder, op, dtype, image, image_shape, filter_shape, cotangent, shape)
    if is_native("Conv", dtype, image_shape, filter_shape, shape):
        gradient = swapped_convolution(*arguments)
    else:
        gradient = product_of_columns(*arguments)
    return correlation_filters(builder, op, gradient, filter_shape[2:])


def swapped_convolution(builder, op, dtype, image, image_shape, filter_shape, cotangent, shape):
    """Correlate over the batch: channels serve as batch, output gradients as filters."""
    groups, n, (batch, channels, *spatial) = op.num_groups, op.n_spatial, image_shape
    # Without any images, a blank one: onnxruntime's Conv never returns if there are no channels.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    blank = [(0, one_if_empty(batch))]
    cotangent = builder.add("Transpose", cotangent, perm=[1, 0, *range(2, 2 + n)])
    cotangent = pad(builder, cotangent, dtype, blank, axes=[1])
    if groups == 1:
        image = builder.add("Transpose", image, perm=[1, 0, *range(2, 2 + n)])
        image = pad(builder, image, dtype, blank, axes=[1])
    else:
        per_group = channels // groups
        image = reshape(builder, image, [batch, groups, per_group, *spatial])
        image = builder.add("Transpose", image, perm=[2, 1, 0, *range(3, 3 + n)])
        image = pad(builder, image, dtype, blank, axes=[2])
        image = reshape(builder, image, [per_group, groups * (batch + blank[0][1]), *spatial])
    gradient = correlate(
        builder,
        image,
        cotangent,
        dtype,
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
        gradient = crop(builder, gradient, [0] * len(cropped), lengths, [2 + i for i in cropped])
    return builder.add("Transpose", gradient, perm=[1, 0, *range(2, 2 + n)])


def product_of_columns(builder, op, dtype, image, image_shape, filter_shape, cotangent, shape):
    kernel = filter_shape[2:]
    padded = pad(builder, image, dtype, op.pads(kernel))
    x = columns(builder, op, padded, image_shape, kernel, shape[2:])
    matrix = cotangent_matrix(builder, op, cotangent, shape)
    matrix = builder.add("Transpose", matrix, perm=[0, 2, 1])
    x = matmul_or_zeros(builder, dtype, matrix, x, shape[0] * prod(shape[2:]))
    return reshape(builder, x, filter_shape)
