"""The regularized incomplete beta function."""

import numpy as np

from pytensor.link.onnx.extras.special.gammainc import (
    double_exponential_rule,
    log1p_excess,
    scaled_gamma,
)
from pytensor.link.onnx.write.formula import exp, expm1, log1p, scalar_formula, sqrt
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.scalar import math as psm

# The error is 3e-15 of the integral.
NODES, WEIGHTS = double_exponential_rule(110, -3.6, 3.8)


def beta_density(a, b, x, y):
    """Return x**a * y**b / beta(a, b) of x + y = 1."""
    total = a + b
    scale = scaled_gamma(total) / (scaled_gamma(a) * scaled_gamma(b))
    difference = x * b - y * a
    curve = a * log1p_excess(difference / a, x * (total / a))
    curve = curve + b * log1p_excess(-difference / b, y * (total / b))
    return scale * sqrt(a / total * b * (0.5 / np.pi)) * exp(-curve)


def beta_integral(a, b, x, y):
    """Compute int_0^inf exp(-a u) * (y + x exp(-u))**(-a - b) du of x + y = 1 and x <= a / (a + b).

    It's int_0^x t**(a - 1) * (1 - t)**(b - 1) dt over x**a * y**b, with t / (1 - t) going down
    from x / y exponentially.
    """
    total = a + b
    slope = maximum(a * y - b * x, 0.0)
    width = 2.0 / (slope + sqrt(slope * slope + 2.0 * (total * x * y)))
    u = width.column() * NODES
    low = -a.column() * u - total.column() * log1p(x.column() * expm1(-u))
    # Where x is almost 1, these would cancel.
    high = b.column() * u - total.column() * log1p(y.column() * expm1(minimum(u, 300.0)))
    return width * exp(where((x < 0.5).column() | (u > 300.0), low, high)).dot(WEIGHTS)


def lower_beta(a, b, x, y):
    """Compute the regularized function of x below the mean, or of a < 1 below that for a + 1."""
    is_small = a < 1.0
    density = beta_density(a, b, x, y)
    integral = beta_integral(where(is_small, a + 1.0, a), b, x, y)
    # NIST DLMF 8.17.20: the integrand falls slowly where a is small.
    return density * where(is_small, (1.0 + x * (a + b) * integral) / a, integral)


def regularized_beta(a, b, x, y):
    """Compute the regularized incomplete beta function of x and y = 1 - x, and one less that."""
    larger_a, larger_b = where(a < 1.0, a + 1.0, a), where(b < 1.0, b + 1.0, b)
    is_upper = x * larger_b > y * larger_a
    result = lower_beta(
        where(is_upper, b, a),
        where(is_upper, a, b),
        where(is_upper, y, x),
        where(is_upper, x, y),
    )
    return where(is_upper, 1.0 - result, result), where(is_upper, result, 1.0 - result)


@scalar_formula(psm.BetaInc)
def betainc(a, b, x):
    return beta_limits(a, b, x, regularized_beta(a, b, x, 1.0 - x)[0])


def beta_limits(a, b, x, value):
    """Return `value` with the limits at zero and infinity, and where there's no value."""
    value = where((b == 0.0) | (a == np.inf) | (x == 0.0), 0.0, value)
    value = where(((a == 0.0) | (b == np.inf)) & (x > 0.0) | (x == 1.0), 1.0, value)
    neither = ((a == 0.0) & (b == 0.0)) | ((a == np.inf) & (b == np.inf))
    is_valid = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)
    return where(is_valid & ~neither, value, np.nan)
