"""Inverses of the incomplete gamma and beta functions, by Newton's method in a loop."""

import numpy as np

from pytensor.link.onnx.extras.special.beta import beta_density, regularized_beta
from pytensor.link.onnx.extras.special.gamma import log_gamma
from pytensor.link.onnx.extras.special.gammainc import gamma_density, regularized_gamma
from pytensor.link.onnx.write.formula import exp, log, scalar_formula
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.scalar import math as psm

COUNT = 40
# exp(TINY) is small enough for the first term of the series at zero, and no subnormal number.
TINY = -600.0


def solve(distribution, start, p, q):
    """Find the t where a cumulative distribution function is p, and its complement q.

    `distribution` returns the function, its complement and the density of t.  The logarithm of
    the smaller one is concave in t, for which Newton's method converges from anywhere but where
    it's minus infinity: there the interval that's left is halved.
    """
    is_low = p <= q
    wanted = where(is_low, p, q)

    def step(k, t, low, high):
        lower, upper, density = distribution(t)
        value = where(is_low, lower, upper)
        step = log(wanted / value) * (value / density)
        following = t + where(is_low, step, -step)
        is_below = where(is_low, lower, q) < where(is_low, p, upper)
        low, high = where(is_below, t, low), where(is_below, high, t)
        # Quotients of subnormal numbers are rough.
        is_usable = (value > 1e-305) & (density > 1e-305)
        following = maximum(minimum(following, high), low)
        return where(is_usable, following, 0.5 * (low + high)), low, high

    # A zero in the shape that the result has
    zero = 0.0 * start
    state, count = (start, zero - np.inf, zero + np.inf), zero.builder.constant(COUNT, "int64")
    return zero.builder.loop(step, state, count=count, shapes=[None] * 3)[0]


def limit(value, p, start, end, is_valid):
    value = where(p == 0.0, start, where(p == 1.0, end, value))
    return where((p >= 0.0) & (p <= 1.0) & is_valid, value, np.nan)


def is_gamma(a, p):
    return (a > 0.0) | (a == 0.0) & ((p == 0.0) | (p == 1.0))


def inverse_gamma(a, p, q):
    def distribution(t):
        x = exp(t)
        return (*regularized_gamma(a, x), gamma_density(a, x))

    # NIST DLMF 8.7.1.
    tiny = (log(p) + log_gamma(a + 1.0)) / a
    start = log(a) + 0.0 * p
    t = solve(distribution, start, p, q)
    return exp(where(tiny < TINY, tiny, t))


@scalar_formula(psm.GammaIncInv)
def gammaincinv(a, p):
    return limit(inverse_gamma(a, p, 1.0 - p), p, 0.0, np.inf, is_gamma(a, p))


@scalar_formula(psm.GammaIncCInv)
def gammainccinv(a, q):
    return limit(inverse_gamma(a, 1.0 - q, q), q, np.inf, 0.0, is_gamma(a, q))


@scalar_formula(psm.BetaIncInv)
def betaincinv(a, b, p):
    def distribution(t):
        x, y = 1.0 / (1.0 + exp(-t)), 1.0 / (1.0 + exp(t))
        return (*regularized_beta(a, b, x, y), beta_density(a, b, x, y))

    t = solve(distribution, log(a / b) + 0.0 * p, p, 1.0 - p)
    # NIST DLMF 8.17.7.
    log_beta = log_gamma(a + 1.0) + log_gamma(b) - log_gamma(a + b)
    tiny = (log(p) + log_beta) / a
    result = where(tiny < TINY, exp(tiny), 1.0 / (1.0 + exp(-t)))
    return limit(result, p, 0.0, 1.0, (a > 0.0) & (b > 0.0))
