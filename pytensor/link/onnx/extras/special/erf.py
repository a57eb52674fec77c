"""The error function, its complement and their inverses."""

import numpy as np

from pytensor.link.onnx.dispatch.scalar.math import log1mexp
from pytensor.link.onnx.write.formula import (
    double_formula,
    exp,
    exp_of_square,
    expm1,
    log,
    minus_abs,
    polynomial,
    scalar_formula,
    sign,
    sqrt,
)
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.scalar import math as psm

SQRT_PI = np.sqrt(np.pi)
# Coefficients of x**(2k + 1) in erf(x); NIST DLMF 7.6.1.
FACTORIALS = np.cumprod([1.0, *range(1, 13)])
SERIES = [2 / SQRT_PI * (-1) ** k / (FACTORIALS[k] * (2 * k + 1)) for k in range(13)]
# Step of the trapezoidal rule, and the squares of its nodes.
STEP = 0.5
SQUARES = (STEP * (np.arange(13) + 0.5)) ** 2


def scaled_complement(x):
    """Return exp(x**2) * erfc(x) of x >= 0.

    The midpoint rule for (2 x / pi) * int_0^inf exp(-t**2) / (x**2 + t**2) dt (NIST DLMF 7.7.1),
    with the residue of the pole at i x put back (C. Chiarella and A. Reichel, Math. Comp. 22,
    1968).  The rule's error is exp(-(pi / STEP)**2) = 7e-18; no term is negative.
    """
    weights = 2 * STEP / np.pi * np.exp(-SQUARES)
    integral = (1.0 / ((x * x).column() + SQUARES)).dot(weights)
    near = minimum(x, np.pi / STEP)
    pole = exp(near * (near - 2 * np.pi / STEP))
    pole = where(x < np.pi / STEP, 2.0 * pole / (1.0 + exp((-2 * np.pi / STEP) * near)), 0.0)
    return where(x > 1e8, (1 / SQRT_PI) / maximum(x, 1.0), x * integral + pole)


def complement(x):
    """Return erfc of x >= 0."""
    # Beyond 28 it's zero, and infinity minus infinity wouldn't be.
    x = minimum(x, 28.0)
    return exp_of_square(x) * scaled_complement(x)


def center(x):
    """Return erf of |x| < 0.5."""
    return x * polynomial(x * x, SERIES)


@double_formula(psm.Erf, "Erf")
def erf(x):
    size = abs(x)
    return where(size >= 0.5, sign(x) * (1.0 - complement(size)), center(x))


@scalar_formula(psm.Erfc)
def erfc(x):
    tail = complement(abs(x))
    return where(abs(x) < 0.5, 1.0 - center(x), where(x < 0.0, 2.0 - tail, tail))


@scalar_formula(psm.Erfcx)
def erfcx(x):
    scaled = scaled_complement(-minus_abs(x))
    return where(x < 0.0, 2.0 / exp_of_square(minimum(maximum(x, -28.0), 0.0)) - scaled, scaled)


def inverse_center(y):
    """Compute erfinv of |y| <= 0.5: two of Halley's steps from the series at 0, DLMF 7.17.2."""
    t = y * (SQRT_PI / 2)
    x = t * polynomial(t * t, [1, 1 / 3, 7 / 30, 127 / 630, 4369 / 22680])
    for _ in range(2):
        step = (center(x) - y) * exp(x * x) * (SQRT_PI / 2)
        x = x - step / (1.0 + x * step)
    return x


def inverse_tail(log_p):
    """Compute erfcinv(p) of 0 < p <= 0.5, of p's logarithm.

    Abramowitz & Stegun 26.2.23, whose error is 5e-4, and two of Halley's steps for the logarithm
    of erfc, after which it's 1e-20.
    """
    t = sqrt(2.0 * (np.log(2) - log_p))
    ratio = polynomial(t, [2.515517, 0.802853, 0.010328]) / polynomial(
        t, [1.0, 1.432788, 0.189269, 0.001308]
    )
    x = (t - ratio) * np.sqrt(0.5)
    for _ in range(2):
        scaled = scaled_complement(x)
        slope = (-2 / SQRT_PI) / scaled
        step = (log(scaled) - x * x - log_p) / slope
        x = x - step / (1.0 + 0.5 * step * (slope + 2.0 * x))
    return x


@scalar_formula(psm.Erfinv)
def erfinv(y):
    tail = sign(y) * inverse_tail(log(1.0 - maximum(abs(y), 0.5)))
    tail = where(y == 1.0, np.inf, where(y == -1.0, -np.inf, tail))
    return where(abs(y) > 0.5, tail, inverse_center(y))


@scalar_formula(psm.Erfcinv)
def erfcinv(p):
    tail = inverse_tail(log(minimum(p, 2.0 - p)))
    tail = where(p == 0.0, np.inf, where(p == 2.0, -np.inf, sign(1.0 - p) * tail))
    return where(abs(1.0 - p) <= 0.5, inverse_center(1.0 - p), tail)


@scalar_formula(psm.NdtriExp)
def ndtri_exp(y):
    """Compute the normal quantile of exp(y)."""
    # Beyond, a square would overflow; the next term of the quantile is 1e-14 of the first.
    low = -inverse_tail(maximum(y, -1e18) + np.log(2))
    low = where(y < -1e18, -sqrt(-y), low)
    high = inverse_tail(log1mexp(y) + np.log(2))
    high = where(y == 0.0, np.inf, high)
    middle = inverse_center(2.0 * expm1(y) + 1.0)
    quantile = where(y < np.log(0.25), low, where(y > np.log(0.75), high, middle))
    return np.sqrt(2) * quantile
