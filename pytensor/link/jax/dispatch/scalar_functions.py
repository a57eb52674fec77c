"""Functions of numbers that JAX lacks, or of which PyTensor's conversion needs another library."""

from importlib.util import find_spec

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.callbacks import called_back
from pytensor.scalar.as_written import AsWritten
from pytensor.scalar.basic import Complex, RoundHalfAwayFromZero, TrueDiv
from pytensor.scalar.math import (
    J0,
    J1,
    BetaIncInv,
    GammaIncCInv,
    GammaIncInv,
    Ive,
    Jv,
    Kve,
    PolyGamma,
)

__all__ = []


@jax_funcify.register(RoundHalfAwayFromZero)
def jax_funcify_RoundHalfAwayFromZero(op, **kwargs):
    def round_half_away_from_zero(x):
        return jax.lax.round(x, jax.lax.RoundingMethod.AWAY_FROM_ZERO)

    return round_half_away_from_zero


@jax_funcify.register(Complex)
def jax_funcify_Complex(op, **kwargs):
    def to_complex(real, imaginary):
        return jax.lax.complex(*jnp.broadcast_arrays(real, imaginary))

    return to_complex


@jax_funcify.register(AsWritten)
def jax_funcify_AsWritten(op, node, **kwargs):
    function = jax_funcify(op.scalar_op, node=node, **kwargs)
    if not isinstance(op.scalar_op, TrueDiv):
        return function

    def quotient(x, y):
        # XLA multiplies by the reciprocal of a divisor that it sees repeated, and divides once by
        # the product of two divisors
        return function(*jax.lax.optimization_barrier(jnp.broadcast_arrays(x, y)))

    return quotient


@jax_funcify.register(PolyGamma)
def jax_funcify_PolyGamma(op, node, **kwargs):
    def polygamma(n, x):
        # JAX's takes no orders that are floats.
        return jax.scipy.special.polygamma(jnp.asarray(n).astype("int64"), x)

    return polygamma


def jax_funcify_by_scipy(op, node, **kwargs):
    """Have SciPy compute a function of numbers, by a callback."""

    def shapes(*inputs):
        return [jnp.broadcast_shapes(*inputs)]

    return called_back(op, node, shapes)


# PyTensor's conversions of the first ones ask jax.scipy.special, those of the others TensorFlow
# Probability: thoughts/upstream/jax-bessel-functions.md.
for missing in (J0, J1, Jv):
    jax_funcify.register(missing, jax_funcify_by_scipy)
if find_spec("tensorflow_probability") is None:
    for missing in (Ive, Kve, BetaIncInv, GammaIncInv, GammaIncCInv):
        jax_funcify.register(missing, jax_funcify_by_scipy)
