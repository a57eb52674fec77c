import itertools
import math

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.vjp import pull_back
from pytensor.link.jax.target import target_platform
from pytensor.tensor.conv.lengths import tap_slices
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose


def _general(op, image, filters, pads, dimension_numbers=None):
    return jax.lax.conv_general_dilated(
        image,
        filters,
        window_strides=op.subsample,
        padding=pads,
        rhs_dilation=op.filter_dilation,
        feature_group_count=op.num_groups,
        dimension_numbers=dimension_numbers,
    )


def _pointwise(image, filters):
    """Apply kernels of size 1, as one matrix product over all positions, channels last.

    Of matrices: XLA would transpose the operands of the gradient's product over several axes.
    """
    # Said in full: lengths may be zero.
    out = image.reshape(math.prod(image.shape[:-1]), image.shape[-1])
    out = out @ filters.reshape(filters.shape[:2]).T
    return out.reshape(*image.shape[:-1], len(filters))


def _depthwise(op, image, filters, pads, output_shape):
    """Apply one filter per channel by shifted multiply-adds, channels last."""
    dtype = image.dtype
    if dtype == jnp.bfloat16:
        # Sums, the gradients' too, are rounded once; a convolution adds up in float32 as well.
        image, filters = image.astype("float32"), filters.astype("float32")
    # XLA would pad again for each tap, and share shifted copies with the filters' gradient.
    padded = jax.lax.optimization_barrier(jnp.pad(image, ((0, 0), *pads, (0, 0))))
    out = 0
    for tap in itertools.product(*map(range, filters.shape[2:])):
        where = tap_slices(tap, op.filter_dilation, op.subsample, output_shape)
        out = out + padded[(slice(None), *where)] * filters[(slice(None), 0, *tap)]
    return out.astype(dtype)


def _has_a_filter_per_channel(op, image, filters):
    return op.num_groups == image.shape[-1] == filters.shape[0] > 1


def _depthwise_grad_input(op, image, filters, cotangent):
    """Return the gradient for the image, by another such convolution; channels last.

    None where there is none: with strides, or where more was padded than the kernel reaches.  The
    derivative of `_depthwise` would pad for each tap, within the loop of what reads the sum.
    """
    kernel, pads, _ = op._run_time_shapes(channels_second(image.shape), filters.shape)
    reach = [(k - 1) * d for k, d in zip(kernel, op.filter_dilation, strict=True)]
    pads = [(r - a, r - b) for r, (a, b) in zip(reach, pads, strict=True)]
    if set(op.subsample) != {1} or min(min(pair) for pair in pads) < 0:
        return None
    spatial = tuple(range(2, 2 + op.n_spatial))
    flipped = filters if op.filter_flip else jnp.flip(filters, spatial)
    dtype = jnp.promote_types(image.dtype, filters.dtype)
    cotangent, flipped = cotangent.astype(dtype), flipped.astype(dtype)
    return _depthwise(op, cotangent, flipped, pads, image.shape[1:-1]).astype(image.dtype)


def _channels_last(op, image, filters, kernel, pads, output_shape):
    """Convolve images, channels last, by what XLA for CPUs is fast at.

    Its convolution has no good code for kernels of size 1, nor for a filter per channel (see
    thoughts/shared/research); on a GPU cuDNN has.
    See ``thoughts/upstream/xla-cpu-depthwise.md``.
    """
    plain = max(kernel) == 1 and set(op.subsample) == {1} and not any(sum(pads, ()))
    if plain and op.num_groups == 1:
        return _pointwise(image, filters)
    if _has_a_filter_per_channel(op, image, filters):
        return _depthwise(op, image, filters, pads, output_shape)
    spatial, filters = "DHW"[-op.n_spatial :], jnp.moveaxis(filters, (0, 1), (-1, -2))
    return _general(op, image, filters, pads, (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"))


def channels_second(shape):
    """Return the shape that an image of a `shape` with its channels last has with them second."""
    return shape[0], shape[-1], *shape[1:-1]


def _convolution(op, channels_last=False):
    """Return the convolution of `op`'s properties as a function of image and filters."""
    spatial = tuple(range(2, 2 + op.n_spatial))

    def conv(image, filters):
        # JAX knows all shapes while it traces: the checks of the NumPy code serve here too
        shape = channels_second(image.shape) if channels_last else image.shape
        kernel, pads, output_shape = op._run_time_shapes(shape, filters.shape)
        dtype = jnp.promote_types(image.dtype, filters.dtype)
        image, filters = image.astype(dtype), filters.astype(dtype)
        if op.filter_flip:
            filters = jnp.flip(filters, spatial)
        on_cpu = target_platform() == "cpu"
        # XLA makes these transpositions in any case; where the caller's cancel them, neither is.
        given, computed = (-1 if last else 1 for last in (channels_last, on_cpu))
        image = jnp.moveaxis(image, given, computed)
        if on_cpu:
            out = _channels_last(op, image, filters, kernel, pads, output_shape)
        else:
            out = _general(op, image, filters, pads)
        return jnp.moveaxis(out, computed, given)

    return conv


@jax_funcify.register(Conv)
def jax_funcify_Conv(op, channels_last=False, **kwargs):
    return _convolution(op, channels_last)


@jax_funcify.register(ConvTranspose)
def jax_funcify_ConvTranspose(op, **kwargs):
    conv = _convolution(op.like(Conv))

    def conv_transpose(image, filters):
        op._run_time_shapes(image.shape, filters.shape)
        dtype = jnp.promote_types(image.dtype, filters.dtype)
        # The convolution is linear: its value at zeros is never computed.
        zeros = jnp.zeros(op.output_shape(image.shape, filters.shape), dtype)
        return pull_back(lambda x: conv(x, filters), zeros, cotangents=image)

    return conv_transpose


def _check(op, image, filters, cotangent, channels_last):
    images, outputs = image.shape, cotangent.shape
    if channels_last:
        images, outputs = channels_second(images), channels_second(outputs)
    op._check_cotangent(images, filters.shape, outputs)


@jax_funcify.register(ConvGradInput)
def jax_funcify_ConvGradInput(op, channels_last=False, **kwargs):
    conv = _convolution(op, channels_last)

    def conv_grad_input(image, filters, cotangent):
        _check(op, image, filters, cotangent, channels_last)
        if target_platform() == "cpu":
            images = [v if channels_last else jnp.moveaxis(v, 1, -1) for v in (image, cotangent)]
            if _has_a_filter_per_channel(op, images[0], filters):
                out = _depthwise_grad_input(op, images[0], filters, images[1])
                if out is not None:
                    return out if channels_last else jnp.moveaxis(out, -1, 1)
        return pull_back(lambda image: conv(image, filters), image, cotangents=cotangent)

    return conv_grad_input


@jax_funcify.register(ConvGradFilters)
def jax_funcify_ConvGradFilters(op, channels_last=False, **kwargs):
    conv = _convolution(op, channels_last)

    def conv_grad_filters(image, filters, cotangent):
        _check(op, image, filters, cotangent, channels_last)
        return pull_back(lambda filters: conv(image, filters), filters, cotangents=cotangent)

    return conv_grad_filters
