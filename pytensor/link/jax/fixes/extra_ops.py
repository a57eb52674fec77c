"""Conversions to JAX of what PyTensor's own refuse, or refuse in part.

They are entries of the table `corrected_funcify`.
"""

from copy import copy

import jax.numpy as jnp
import numpy as np

from pytensor.compile.mode import get_mode
from pytensor.link.jax.fixes.callbacks import called_back
from pytensor.link.jax.fixes.elemwise import corrected_funcify
from pytensor.tensor.basic import Eye
from pytensor.tensor.extra_ops import FillDiagonalOffset, RavelMultiIndex
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.optimize import ScipyWrapperOp

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


@corrected_funcify.register(RFFTOp)
def completed_funcify_RFFTOp(op, **kwargs):
    def rfft(x, lengths):
        result = jnp.fft.rfftn(_for_fourier(x), *_last_axes(lengths))
        return jnp.stack([result.real, result.imag], axis=-1)

    return rfft


@corrected_funcify.register(IRFFTOp)
def completed_funcify_IRFFTOp(op, **kwargs):
    def irfft(x, lengths):
        x = _for_fourier(x)
        # PyTensor's inverse isn't divided by the number of elements.
        return jnp.fft.irfftn(x[..., 0] + 1j * x[..., 1], *_last_axes(lengths), norm="forward")

    return irfft


def _last_axes(lengths):
    """Return lengths as numbers, and the last axes, which they are of."""
    return np.asarray(lengths).tolist(), range(-len(lengths), 0)


def _for_fourier(x):
    """Return numbers of half precision in single: XLA transforms no others."""
    half = jnp.issubdtype(x.dtype, jnp.floating)
    return x.astype(jnp.promote_types(x.dtype, "float32")) if half else x


@corrected_funcify.register(ScipyWrapperOp)
def completed_funcify_ScipyWrapperOp(op, node, **kwargs):
    op = copy(op)
    # In a callback, JAX can't compute what SciPy asks for again and again.
    op._fn = op.compile_fn(get_mode("FAST_RUN"))
    return called_back(op, node, lambda x, *others: [x, ()])
