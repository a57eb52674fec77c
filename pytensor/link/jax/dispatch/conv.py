import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput


def _convolution(op):
    """The convolution of `op`'s properties as a function of image and filters."""
    spatial = tuple(range(2, 2 + op.n_spatial))

    def conv(image, filters):
        # JAX knows all shapes while it traces: the checks of the NumPy code serve here too
        _, pads, _ = op._run_time_shapes(image.shape, filters.shape)
        dtype = jnp.promote_types(image.dtype, filters.dtype)
        if op.filter_flip:
            filters = jnp.flip(filters, spatial)
        return jax.lax.conv_general_dilated(
            image.astype(dtype),
            filters.astype(dtype),
            window_strides=op.subsample,
            padding=pads,
            rhs_dilation=op.filter_dilation,
            feature_group_count=op.num_groups,
        )

    return conv


@jax_funcify.register(Conv)
def jax_funcify_Conv(op, **kwargs):
    return _convolution(op)


@jax_funcify.register(ConvGradInput)
def jax_funcify_ConvGradInput(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_input(image, filters, cotangent):
        _, vjp = jax.vjp(lambda image: conv(image, filters), image)
        return vjp(cotangent)[0]

    return conv_grad_input


@jax_funcify.register(ConvGradFilters)
def jax_funcify_ConvGradFilters(op, **kwargs):
    conv = _convolution(op)

    def conv_grad_filters(image, filters, cotangent):
        _, vjp = jax.vjp(lambda filters: conv(image, filters), filters)
        return vjp(cotangent)[0]

    return conv_grad_filters
