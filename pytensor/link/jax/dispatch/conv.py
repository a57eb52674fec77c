import itertools
import math

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose


def _general(op, image, filters, pads):
    return jax.lax.conv_general_dilated(
        image,
        filters,
        window_strides=op.subsample,
        padding=pads,
        rhs_dilation=op.filter_dilation,
        feature_group_count=op.num_groups,
    )


def _general_channels_last(op, image, filters, pads):
    """As `_general`, with the transpositions said that XLA for CPUs makes in any case.

    Where the caller's images have the channels last, they cancel.
    """
    spatial = "DHW"[-op.n_spatial :]
    out = jax.lax.conv_general_dilated(
        jnp.moveaxis(image, 1, -1),
        jnp.moveaxis(filters, (0, 1), (-1, -2)),
        window_strides=op.subsample,
        padding=pads,
        rhs_dilation=op.filter_dilation,
        feature_group_count=op.num_groups,
        dimension_numbers=(f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"),
    )
    return jnp.moveaxis(out, -1, 1)


def _pointwise(image, filters):
    """Kernels of size 1 as one matrix product over all positions, channels last.

    Of matrices: XLA would transpose the operands of the gradient's product over several axes.
    """
    last = jnp.moveaxis(image, 1, -1)
    # Said in full: lengths may be zero.
    out = last.reshape(math.prod(last.shape[:-1]), last.shape[-1])
    out = out @ filters.reshape(filters.shape[:2]).T
    return jnp.moveaxis(out.reshape(*last.shape[:-1], len(filters)), -1, 1)


def _depthwise(op, image, filters, pads, output_shape):
    """One filter per channel as shifted multiply-adds, channels last."""
    dtype = image.dtype
    if dtype == jnp.bfloat16:
        # Sums, the gradients' too, are rounded once; a convolution adds up in float32 as well.
        image, filters = image.astype("float32"), filters.astype("float32")
    padded = jnp.pad(jnp.moveaxis(image, 1, -1), ((0, 0), *pads, (0, 0)))
    out = 0
    for tap in itertools.product(*map(range, filters.shape[2:])):
        where = [
            slice(t * d, t * d + s * (length - 1) + 1, s)
            for t, d, s, length in zip(
                tap, op.filter_dilation, op.subsample, output_shape, strict=True
            )
        ]
        out = out + padded[(slice(None), *where)] * filters[(slice(None), 0, *tap)]
    return jnp.moveaxis(out.astype(dtype), -1, 1)


def _convolution(op):
    """The convolution of `op`'s properties as a function of image and filters."""
    spatial = tuple(range(2, 2 + op.n_spatial))

    def conv(image, filters):
        # JAX knows all shapes while it traces: the checks of the NumPy code serve here too
        kernel, pads, output_shape = op._run_time_shapes(image.shape, filters.shape)
        dtype = jnp.promote_types(image.dtype, filters.dtype)
        image, filters = image.astype(dtype), filters.astype(dtype)
        if op.filter_flip:
            filters = jnp.flip(filters, spatial)
        # XLA's convolution for CPUs has no good code for these two (see thoughts/shared/research);
        # on a GPU cuDNN has.
        if jax.default_backend() == "cpu":
            plain = max(kernel) == 1 and set(op.subsample) == {1} and not any(sum(pads, ()))
            if plain and op.num_groups == 1:
                return _pointwise(image, filters)
            if op.num_groups == image.shape[1] == filters.shape[0] > 1:
                return _depthwise(op, image, filters, pads, output_shape)
            return _general_channels_last(op, image, filters, pads)
        return _general(op, image, filters, pads)

    return conv


@jax_funcify.register(Conv)
def jax_funcify_Conv(op, **kwargs):
    return _convolution(op)


@jax_funcify.register(ConvTranspose)
def jax_funcify_ConvTranspose(op, **kwargs):
    conv = _convolution(op.like(Conv))

    def conv_transpose(image, filters):
        op._run_time_shapes(image.shape, filters.shape)
        dtype = jnp.promote_types(image.dtype, filters.dtype)
        # The convolution is linear: its value at zeros is never computed.
        zeros = jnp.zeros(op.output_shape(image.shape, filters.shape), dtype)
        _, vjp = jax.vjp(lambda x: conv(x, filters), zeros)
        return vjp(image.astype(dtype))[0]

    return conv_transpose


@jax_funcify.register(ConvGradInput)
def jax_funcify_ConvGradInput(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_input(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        _, vjp = jax.vjp(lambda image: conv(image, filters), image)
        return vjp(cotangent)[0]

    return conv_grad_input


@jax_funcify.register(ConvGradFilters)
def jax_funcify_ConvGradFilters(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_filters(image, filters, cotangent):
        op._check_cotangent(image.shape, filters.shape, cotangent.shape)
        _, vjp = jax.vjp(lambda filters: conv(image, filters), filters)
        return vjp(cotangent)[0]

    return conv_grad_filters
