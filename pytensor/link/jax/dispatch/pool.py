import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.pool import Pool


@jax_funcify.register(Pool)
def jax_funcify_Pool(op, **kwargs):
    n = len(op.ws)

    def window_sum(x, pads):
        lead = (1,) * (x.ndim - n)
        return jax.lax.reduce_window(
            x,
            np.zeros((), x.dtype),
            jax.lax.add,
            (*lead, *op.ws),
            (*lead, *op.stride),
            [(0, 0)] * (x.ndim - n) + pads,
        )

    def pool(x):
        spatial = x.shape[-n:]
        out = op.output_spatial_shape(spatial)
        # A window of ceil mode may reach past the padded end.  Floor mode may leave a rest, which
        # is cut off: JAX can't differentiate a reduction with negative padding.
        reach = [
            (o - 1) * s + w - lo
            for (lo, _), o, s, w in zip(op.pad, out, op.stride, op.ws, strict=True)
        ]
        x = x[(..., *(slice(r) for r in reach))]
        pads = [
            (lo, max(r - length, 0))
            for (lo, _), r, length in zip(op.pad, reach, spatial, strict=True)
        ]
        if op.mode == "max":
            lead = (1,) * (x.ndim - n)
            floating = jnp.issubdtype(x.dtype, jnp.floating)
            return jax.lax.reduce_window(
                x,
                np.asarray(-np.inf if floating else jnp.iinfo(x.dtype).min, x.dtype),
                jax.lax.max,
                (*lead, *op.ws),
                (*lead, *op.stride),
                [(0, 0)] * (x.ndim - n) + pads,
            )
        total = window_sum(x, pads)
        if op.mode == "sum":
            return total
        counted = op.pad if op.mode == "average_inc_pad" else ((0, 0),) * n
        sides = [lo + length + hi for length, (lo, hi) in zip(spatial, counted, strict=True)]
        rest = [
            (lo - clo, r - length - chi)
            for (lo, _), (clo, chi), r, length in zip(op.pad, counted, reach, spatial, strict=True)
        ]
        return total / jax.lax.reduce_window(
            np.ones(sides, x.dtype), np.zeros((), x.dtype), jax.lax.add, op.ws, op.stride, rest
        )

    return pool
