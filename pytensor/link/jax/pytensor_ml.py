"""Windows of pytensor-ml, whose layers of windows have conversions of their own there."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from pytensor_ml.layers.conv import Col2Im, Im2Col

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.conv.lengths import tap_slices, window_count, window_extent


def windows(op, x):
    """Stack a strided slice for each tap."""
    n, extents = len(op.kernel_size), map(window_extent, op.kernel_size, op.dilation)
    counts = [*map(window_count, x.shape[1:-1], extents, op.stride, [(0, 0)] * n)]
    cells = [tap_slices(tap, op.dilation, op.stride, counts) for tap in np.ndindex(op.kernel_size)]
    taps = jnp.stack([x[(slice(None), *places)] for places in cells], axis=1 + n)
    return taps.reshape(x.shape[0], *counts, *op.kernel_size, x.shape[-1])


@jax_funcify.register(Im2Col)
def jax_funcify_Im2Col(op, **kwargs):
    return partial(windows, op)


@jax_funcify.register(Col2Im)
def jax_funcify_Col2Im(op, **kwargs):
    def summed_windows(patches, *lengths):
        shape = (patches.shape[0], *map(int, lengths), patches.shape[-1])
        x = jax.ShapeDtypeStruct(shape, patches.dtype)
        (summed,) = jax.linear_transpose(partial(windows, op), x)(patches)
        return summed

    return summed_windows
