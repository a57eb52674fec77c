import sys
from math import prod

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.kernels import has_kernel
from pytensor.link.onnx.write.lengths import (
    all_known,
    matmul_or_zeros,
    one_if_empty,
    pad,
    split_pairs,
)
from pytensor.link.onnx.write.term import is_empty
from pytensor.link.onnx.write.windows import columns, filter_matrix
from pytensor.tensor.conv.lengths import window_extent
from pytensor.tensor.conv.ops import Conv


@onnx_funcify.register(Conv)
def onnx_funcify_Conv(op, node, image, filters):
    dtype = node.outputs[0].type.dtype
    image, filters = image.cast(dtype), filters.cast(dtype)
    image_shape, filter_shape = image.lengths, filters.lengths
    kernel = filter_shape[2:]
    filters = correlation_filters(op, filters, kernel)
    pads = op.pads(kernel)
    if is_native("Conv", dtype, image_shape, filter_shape):
        image, filters = fill_channels(op, image, image_shape, filters, filter_shape)
        return correlate(
            image,
            filters,
            pads,
            kernel_shape=kernel if all_known(kernel) else None,
            strides=list(op.subsample),
            dilations=list(op.filter_dilation),
            group=op.num_groups,
        )
    require_fitting_kernel(op, image.builder, image_shape[2:], kernel, pads)
    outputs = op.output_spatial_shape(image_shape[2:], kernel)
    x = columns(op, pad(image, pads), image_shape, kernel, outputs)
    matrix = filter_matrix(op, filters, filter_shape)
    x = matmul_or_zeros(matrix, x.transpose(0, 2, 1), prod(filter_shape[1:]))
    groups, n = op.num_groups, op.n_spatial
    batch, channels = image_shape[0], filter_shape[0]
    x = x.reshape([groups, channels // groups, batch, *outputs])
    return x.transpose(2, 0, 1, *range(3, 3 + n)).reshape([batch, channels, *outputs])


def require_fitting_kernel(op, builder, lengths, kernel, pads):
    """Let mode ONNX refuse a kernel larger than the padded image, as the native node does."""
    if not can_raise(builder):
        return
    axes = zip(lengths, kernel, op.filter_dilation, pads, strict=True)
    for length, taps, dilation, (before, after) in axes:
        rest = length + before + after - window_extent(taps, dilation)
        if not isinstance(rest, int):
            message = f"{op.function_name}: the kernel is larger than the padded image"
            require(rest >= 0, ValueError, message)


def is_native(op_type, dtype, *shapes):
    """Return whether onnxruntime has a kernel, and tensors aren't known to be empty."""
    return has_kernel(op_type, dtype) and not any(map(is_empty, shapes))


def fill_channels(op, image, image_shape, filters, filter_shape):
    """Give both a blank channel where there may be none: onnxruntime's Conv never returns then.

    See ``thoughts/upstream/onnxruntime-empty-tensors.md``.
    """
    channels = next((n for n in (filter_shape[1], image_shape[1]) if isinstance(n, int)), None)
    blank = one_if_empty(filter_shape[1]) if channels is None else 0
    image = pad(image, [(0, blank * op.num_groups)], axes=[1])
    return image, pad(filters, [(0, blank)], axes=[1])


def correlate(image, filters, pads, **attributes):
    """Add ONNX's Conv; padding known at run time only is done before it."""
    if all_known([n for pair in pads for n in pair]):
        before, after = split_pairs(pads)
    else:
        image = pad(image, pads)
        before = after = [0] * len(pads)
    return image.node("Conv", filters, pads=[*before, *after], **attributes)


def correlation_filters(op, filters, kernel):
    """Mirror the filters if the Op is a convolution, which ONNX's Conv is not."""
    if op.filter_flip and not all(isinstance(k, int) and k == 1 for k in kernel):
        return mirror(filters, range(2, 2 + op.n_spatial))
    return filters


def mirror(x, axes):
    """Reverse `x` along `axes`; folded away where `x` is constant."""
    n = len(axes)
    return x.slice([-1] * n, [-sys.maxsize] * n, axes, [-1] * n)
