"""Convolutions along one axis, and Fourier transforms."""

import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.type import discrete_dtypes


@corrected_funcify.register(Convolve1d)
def corrected_funcify_Convolve1d(op, node, **kwargs):
    def conv1d(data, kernel, full_mode):
        # The gradient's mode is computed from lengths, which PyTensor's conversion doesn't ask for.
        mode = "full" if np.asarray(full_mode) else "valid"
        # Without a dtype, JAX computes integers in float32:
        # thoughts/upstream/jax-diagonals-convolutions.md.
        return jnp.convolve(data, kernel, mode=mode, preferred_element_type=data.dtype)

    dtype = node.outputs[0].type.dtype
    return with_operands(conv1d, node, [dtype, dtype, None])


@corrected_funcify.register(RFFTOp)
def corrected_funcify_RFFTOp(op, node, **kwargs):
    _check_floating(op, node.inputs[0])

    def rfft(x, lengths):
        result = jnp.fft.rfftn(_for_fourier(x), *_last_axes(lengths))
        return jnp.stack([result.real, result.imag], axis=-1)

    return rfft


@corrected_funcify.register(IRFFTOp)
def corrected_funcify_IRFFTOp(op, node, **kwargs):
    _check_floating(op, node.inputs[0])

    def irfft(x, lengths):
        x = _for_fourier(x)
        # PyTensor's inverse isn't divided by the number of elements.
        return jnp.fft.irfftn(x[..., 0] + 1j * x[..., 1], *_last_axes(lengths), norm="forward")

    return irfft


def _check_floating(op, x):
    if x.type.dtype in discrete_dtypes:
        # The type of their transform is theirs, which cuts it:
        # thoughts/upstream/floats-called-integers.md.
        raise NotImplementedError(
            f"{op} of {x}: PyTensor cuts transforms of {x.type.dtype} to integers; cast it to "
            "float32 or float64 first"
        )


def _last_axes(lengths):
    """Return lengths as numbers, and the last axes, which they are of."""
    return np.asarray(lengths).tolist(), range(-len(lengths), 0)


def _for_fourier(x):
    """Return numbers of half precision in single: XLA transforms no others."""
    half = jnp.issubdtype(x.dtype, jnp.floating)
    return x.astype(jnp.promote_types(x.dtype, "float32")) if half else x
