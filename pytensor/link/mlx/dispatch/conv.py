import itertools
import math

import mlx.core as mx

from pytensor.link.mlx.dispatch.basic import mlx_funcify
from pytensor.tensor.conv.lengths import tap_slices
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose


def _general(op, image, filters, pads):
    """Convolve images by MLX's convolution, channels last."""
    return mx.conv_general(
        image,
        filters,
        stride=op.subsample,
        padding=tuple(zip(*pads, strict=True)),
        kernel_dilation=op.filter_dilation,
        groups=op.num_groups,
        flip=op.filter_flip,
    )


def _by_taps(op, image, filters, pads, output_shape):
    """Convolve as `_general`, by one matrix product for each element of the kernel."""
    n, groups = op.n_spatial, op.num_groups
    batch, channels, out_channels = image.shape[0], image.shape[-1], filters.shape[0]
    padded = mx.pad(image, [(0, 0), *pads, (0, 0)])
    # (*kernel, groups, channels / groups, out channels / groups)
    matrices = mx.transpose(
        filters.reshape(groups, out_channels // groups, *filters.shape[1:]),
        (*range(2, 2 + n), 0, 2 + n, 1),
    )
    out = 0
    for tap in itertools.product(*map(range, filters.shape[1 : 1 + n])):
        where = tap_slices(tap, op.filter_dilation, op.subsample, output_shape)
        rows = padded[(slice(None), *where)].reshape(
            batch * math.prod(output_shape), groups, channels // groups
        )
        if op.filter_flip:
            tap = [k - 1 - t for t, k in zip(tap, filters.shape[1 : 1 + n], strict=True)]
        out = out + mx.swapaxes(rows, 0, 1) @ matrices[tuple(tap)]
    return mx.swapaxes(out, 0, 1).reshape(batch, *output_shape, out_channels)


def _convolution(op):
    """Return the convolution of `op`'s properties as a function of image and filters."""

    def conv(image, filters):
        # Shapes are known while MLX traces: the checks of the NumPy code serve here too
        _, pads, output_shape = op._run_time_shapes(image.shape, filters.shape)
        image, filters = mx.moveaxis(image, 1, -1), mx.moveaxis(filters, 1, -1)
        # MLX convolves neither in double precision nor groups over more than two axes, and a
        # gradient for an empty batch ends the process.
        if (
            image.dtype == mx.float64
            or (op.num_groups > 1 and op.n_spatial > 2)
            or 0 in (image.size, filters.size)
        ):
            out = _by_taps(op, image, filters, pads, output_shape)
        else:
            out = _general(op, image, filters, pads)
        return mx.moveaxis(out, -1, 1)

    return conv


def _pullback(function, x, cotangent):
    # MLX is lazy: the value at x is never computed
    _, (gradient,) = mx.vjp(function, [x], [cotangent])
    return gradient


@mlx_funcify.register(Conv)
def mlx_funcify_Conv(op, **kwargs):
    return _convolution(op)


@mlx_funcify.register(ConvTranspose)
def mlx_funcify_ConvTranspose(op, **kwargs):
    conv = _convolution(op.like(Conv))

    def conv_transpose(image, filters):
        op._run_time_shapes(image.shape, filters.shape)
        zeros = mx.zeros(op.output_shape(image.shape, filters.shape), image.dtype)
        return _pullback(lambda x: conv(x, filters), zeros, image)

    return conv_transpose


@mlx_funcify.register(ConvGradInput)
def mlx_funcify_ConvGradInput(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_input(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        zeros = mx.zeros(image.shape, cotangent.dtype)
        return _pullback(lambda image: conv(image, filters), zeros, cotangent)

    return conv_grad_input


@mlx_funcify.register(ConvGradFilters)
def mlx_funcify_ConvGradFilters(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_filters(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        zeros = mx.zeros(filters.shape, cotangent.dtype)
        return _pullback(lambda filters: conv(image, filters), zeros, cotangent)

    return conv_grad_filters
