"""Functions of numbers that JAX lacks, or whose conversion by PyTensor needs another library.

And functions of which `jax.grad` is NaN with PyTensor's conversion.
"""

from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes.callbacks import called_back
from pytensor.link.jax.fixes.elemwise import corrected_scalar
from pytensor.scalar.as_written import AsWritten
from pytensor.scalar.basic import Complex, RoundHalfAwayFromZero, TrueDiv
from pytensor.scalar.loop import ScalarLoop
from pytensor.scalar.math import (
    J0,
    J1,
    BetaIncInv,
    GammaIncCInv,
    GammaIncInv,
    Hyp2F1,
    Ive,
    Jv,
    Kve,
    Log1mexp,
    NdtriExp,
    PolyGamma,
    Softplus,
    TriGamma,
)


@jax_funcify.register(RoundHalfAwayFromZero)
def jax_funcify_RoundHalfAwayFromZero(op, **kwargs):
    def round_half_away_from_zero(x):
        return jax.lax.round(x, jax.lax.RoundingMethod.AWAY_FROM_ZERO)

    return round_half_away_from_zero


@jax_funcify.register(Complex)
def jax_funcify_Complex(op, node, **kwargs):
    real = np.zeros(0, node.outputs[0].type.dtype).real
    real_dtype = jax.dtypes.canonicalize_dtype(real.dtype)

    def to_complex(*parts):
        return jax.lax.complex(*(v.astype(real_dtype) for v in jnp.broadcast_arrays(*parts)))

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


# PyTensor's conversions of the first ones ask jax.scipy.special, the others' conversions TensorFlow
# Probability: thoughts/upstream/jax-bessel-functions.md.
for missing in (J0, J1, Jv):
    jax_funcify.register(missing, jax_funcify_by_scipy)
if find_spec("tensorflow_probability") is None:
    for missing in (Ive, Kve, BetaIncInv, GammaIncInv, GammaIncCInv):
        jax_funcify.register(missing, jax_funcify_by_scipy)


# JAX's is wrong from 0.9 on and left of -0.5: thoughts/upstream/jax-hyp2f1.md.
corrected_scalar.register(Hyp2F1, jax_funcify_by_scipy)


@corrected_scalar.register(NdtriExp)
def corrected_scalar_NdtriExp(scalar_op, node, **kwargs):
    # PyTensor's is ndtri(exp(y)): -inf where exp(y) is 0, inf where it is rounded to 1.  See
    # thoughts/upstream/jax-ndtri-exp.md.
    lowest = -80.0 if node.outputs[0].type.dtype in ("float16", "float32") else -500.0

    def ndtri_exp(y):
        y = jnp.asarray(y)
        given, y = y.dtype, y.astype("float32") if y.dtype == "float16" else y
        near_one = y > -0.1
        p = jnp.where(near_one, -jnp.expm1(y), jnp.exp(y))
        quantile = jax.scipy.special.ndtri(jnp.where(y < lowest, 0.5, p))
        quantile = jnp.where(near_one, -quantile, quantile)
        far = -_far_quantile(jnp.minimum(y, lowest))
        return jnp.where(y < lowest, far, quantile).astype(given)

    return ndtri_exp


def _far_quantile(log_p):
    """Return how far left of 0 a normal variable is with a tiny probability, of this logarithm.

    By iteration of log(p) = -x**2 / 2 - log(x sqrt(2 pi)) + log(1 - 1 / x**2 + 3 / x**4 - ...),
    Abramowitz & Stegun 26.2.12.
    """
    # As a product, for -2 * log_p may overflow.
    x = np.sqrt(2) * jnp.sqrt(-log_p)
    for _ in range(6):
        u = 1 / (x * x)
        series = jnp.log1p(-u * (1 - u * (3 - u * 15)))
        x = np.sqrt(2) * jnp.sqrt(-log_p - np.log(2 * np.pi) / 2 - jnp.log(x) + series)
    return jnp.where(jnp.isinf(log_p), jnp.inf, x)


@corrected_scalar.register(TriGamma)
def corrected_scalar_TriGamma(scalar_op, **kwargs):
    # JAX's is wrong left of -9, and NaN at infinity: thoughts/upstream/jax-trigamma.md.
    def trigamma(x):
        x = jnp.asarray(x)
        right = jax.scipy.special.polygamma(1, jnp.where(x < 0.5, 1 - x, x))
        # NIST DLMF 5.15.6; the remainder keeps the sine's argument small.
        left = (np.pi / jnp.sin(np.pi * (x - jnp.round(x)))) ** 2 - right
        return jnp.where(x < 0.5, left, jnp.where(x == jnp.inf, 0, right))

    return trigamma


@jax_funcify.register(ScalarLoop)
def jax_funcify_ScalarLoop(op, **kwargs):
    step = jax_funcify(op.fgraph)
    carried = len(op.outputs) - op.is_while
    dtypes = [jax.dtypes.canonicalize_dtype(v.type.dtype) for v in op.inputs]

    def loop(n_steps, *inputs):
        values = [jnp.asarray(x).astype(dtype) for x, dtype in zip(inputs, dtypes, strict=True)]
        carry, constants = values[:carried], values[carried:]

        def goes_on(state):
            k, done, _ = state
            return (k < n_steps) & ~done

        def advance(state):
            k, done, carry = state
            results = step(*carry, *constants)
            if op.is_while:
                *results, done = results
            # A number of Python's has no dtype of its own.
            results = [jnp.asarray(x).astype(v.dtype) for x, v in zip(results, carry, strict=True)]
            return k + 1, jnp.asarray(done), results

        # Without a step the condition is False, as in Python and Numba, where C has True:
        # thoughts/upstream/loops-and-diagonals-in-python.md.
        start = jnp.zeros_like(n_steps), jnp.asarray(False), carry
        _, done, carry = jax.lax.while_loop(goes_on, advance, start)
        results = (*carry, done) if op.is_while else tuple(carry)
        return results[0] if len(results) == 1 else results

    return jnp.vectorize(loop)
