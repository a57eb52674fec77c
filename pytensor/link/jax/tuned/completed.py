"""Conversions to JAX of what PyTensor's own refuse, or refuse in part.

They are entries of the table `corrected_funcify`.
"""

import jax.numpy as jnp

from pytensor.link.jax.tuned.corrected import corrected_funcify
from pytensor.tensor.basic import Eye
from pytensor.tensor.extra_ops import FillDiagonalOffset, RavelMultiIndex

__all__ = []


@corrected_funcify.register(Eye)
def completed_funcify_Eye(op, **kwargs):
    def eye(n, m, k):
        # jnp.eye takes no offset that is computed; and neither do lengths.
        rows, columns = (jnp.arange(int(length)) for length in (n, m))
        return (columns - rows[:, None] == k).astype(op.dtype)

    return eye


@corrected_funcify.register(FillDiagonalOffset)
def completed_funcify_FillDiagonalOffset(op, **kwargs):
    def fill_diagonal_offset(a, value, offset):
        rows, columns = (jnp.arange(length) for length in a.shape)
        return jnp.where(columns - rows[:, None] == offset, value, a)

    return fill_diagonal_offset


@corrected_funcify.register(RavelMultiIndex)
def completed_funcify_RavelMultiIndex(op, **kwargs):
    def ravel_multi_index(*inputs):
        # JAX's takes no lengths that are computed.
        *indices, lengths = inputs
        pairs = list(zip(indices, lengths, strict=True))
        place = 0
        for index, length in pairs if op.order == "C" else reversed(pairs):
            if op.mode == "wrap":
                index = index % length
            elif op.mode == "clip":
                index = jnp.clip(index, 0, length - 1)
            place = place * length + index
        return jnp.asarray(place).astype("int64")

    return ravel_multi_index
