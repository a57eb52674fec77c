"""Incomplete gamma functions, as integrals of positive functions.

The integrals from zero to infinity are computed by the trapezoidal rule in s, the variable being
exp(s - exp(-s)) times the width of the function (H. Takahasi and M. Mori, 1974).  Every element
costs about a hundred exponentials.
"""

from math import factorial

import numpy as np

from pytensor.link.onnx.extras.special.gamma import NEAR_TWO, pochhammer, stirling_rest
from pytensor.link.onnx.write.formula import (
    exp,
    expm1,
    log,
    log1p,
    polynomial,
    scalar_formula,
    sqrt,
)
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.scalar import math as psm


def double_exponential_rule(count, start, stop):
    """Return nodes and weights for integrals from zero to infinity of functions about 1 wide."""
    s, step = np.linspace(start, stop, count, retstep=True)
    nodes = np.exp(s - np.exp(-s))
    return nodes, step * nodes * (1 + np.exp(-s))


# The error is 2e-15 of the integrals below.
NODES, WEIGHTS = double_exponential_rule(70, -3.5, 4.2)
# Coefficients of 2 * atanh(r) less its first term, by powers of r**2.
ATANH = [1 / (2 * k + 3) for k in range(14)]


def log1p_excess(x, one_plus_x):
    """Return x - log(1 + x), without cancellation where x is small."""
    r = x / (2.0 + x)
    square = r * r
    series = x * r - 2.0 * r * square * polynomial(square, ATANH)
    return where(abs(x) < 0.5, series, x - log(one_plus_x))


def scaled_gamma(x):
    """Return gamma(x) divided by Stirling's formula, x > 0; NIST DLMF 5.11.3."""
    is_large = x >= 10.0
    small = minimum(x, 10.0)
    large = where(is_large, x, small + 10.0)
    # The quotient of the powers, with an exponent of one factor each that's below 10.
    power = (large / small) ** (small - 0.5) * large**10.0 * np.exp(-10)
    shifted = power / pochhammer(small, 10)
    return exp(stirling_rest(large)) * where(is_large, 1.0, shifted)


def gamma_density(a, x):
    """Return x**a * exp(-x) / gamma(a)."""
    return sqrt(a / (2 * np.pi)) / scaled_gamma(a) * exp(-a * log1p_excess((x - a) / a, x / a))


def lower_integral(a, x):
    """Compute int_0^inf exp(-a u + x - x exp(-u)) du of x <= a."""
    slope = a - x
    width = 2.0 / (slope + sqrt(slope * slope + 2.0 * x))
    u = width.column() * NODES
    series = u * u * polynomial(u, [(-1) ** k / factorial(k) for k in range(2, 16)])
    curve = where(u < 0.5, series, u - 1.0 + exp(-u))
    return width * exp(-slope.column() * u - x.column() * curve).dot(WEIGHTS)


def upper_integral(a, x):
    """Compute int_0^inf exp(-x u) * (1 + u)**(a - 1) du of x >= a."""
    slope = x - a + 1.0
    width = 2.0 / (slope + sqrt(slope * slope + 2.0 * maximum(a - 1.0, 0.0)))
    u = width.column() * NODES
    curve = (a - 1.0).column() * log1p_excess(u, 1.0 + u)
    return width * exp(-slope.column() * u - curve).dot(WEIGHTS)


def log_of_small(a, x):
    """Compute the logarithm of the lower function of a < 1 and x < 1, NIST DLMF 8.7.1."""
    k = np.arange(1.0, 18.0)
    terms = (-minimum(x, 1.0)).column() ** k / (a.column() + k)
    series = terms.dot([1 / factorial(int(j)) for j in k])
    is_near_zero = a < 0.5
    gammaln = polynomial(where(is_near_zero, a, a - 1.0), NEAR_TWO)
    gammaln = where(is_near_zero, gammaln - log1p(a), gammaln)
    return a * log(x) - gammaln + log1p(a * series)


def regularized_gamma(a, x):
    """Compute the lower and the upper regularized incomplete gamma function."""
    is_low = x < a
    # Whatever isn't used shall stay finite.
    smaller = where(is_low, x, a)
    density = gamma_density(a, x)
    lower = density * lower_integral(a, smaller)
    upper = density * upper_integral(smaller, x)
    is_small = (a < 1.0) & (x < 1.0)
    small = log_of_small(minimum(a, 1.0), x)
    lower = where(is_small, exp(small), where(is_low, lower, 1.0 - upper))
    upper = where(is_small, -expm1(small), where(is_low, 1.0 - lower, upper))
    return lower, upper


def limits(a, x, value, start, end):
    """Return `value` with the limits at zero and infinity, and where there's no value."""
    value = where((x == 0.0) | (a == np.inf), start, value)
    value = where((x == np.inf) | (a == 0.0), end, value)
    neither = ((a == 0.0) & (x == 0.0)) | ((a == np.inf) & (x == np.inf))
    return where(neither | (a < 0.0) | (x < 0.0) | ~(a == a) | ~(x == x), np.nan, value)


@scalar_formula(psm.GammaInc)
def gammainc(a, x):
    return limits(a, x, regularized_gamma(a, x)[0], 0.0, 1.0)


@scalar_formula(psm.GammaIncC)
def gammaincc(a, x):
    return limits(a, x, regularized_gamma(a, x)[1], 1.0, 0.0)
