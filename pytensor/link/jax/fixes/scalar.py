"""Functions of numbers that JAX lacks, or whose conversion by PyTensor needs another library.

And those of which `jax.grad` is NaN with PyTensor's conversion.
"""

from importlib.util import find_spec

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes.callbacks import called_back
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
    Log1mexp,
    PolyGamma,
    Softplus,
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


# PyTensor's choose among values of which one overflows, and its derivative too: 0 * inf is NaN.
# thoughts/upstream/jax-gradients-of-choices.md
@jax_funcify.register(Softplus)
def jax_funcify_Softplus(op, **kwargs):
    def softplus(x):
        return jnp.logaddexp(x, 0)

    return softplus


@jax_funcify.register(Log1mexp)
def jax_funcify_Log1mexp(op, **kwargs):
    def log1mexp(x):
        near = x > -jnp.log(2)
        far_log = jnp.log1p(-jnp.exp(jnp.where(near, -1, x)))
        return jnp.where(near, jnp.log(-jnp.expm1(jnp.where(near, x, -1))), far_log)

    return log1mexp


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
