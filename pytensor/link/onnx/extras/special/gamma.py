"""The gamma function, its logarithm and the derivatives of that."""

from math import factorial, pi

import numpy as np
from numpy.polynomial import Polynomial

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.formula import (
    exp,
    floor,
    log,
    log1p,
    polynomial,
    rint,
    scalar_formula,
    sin,
)
from pytensor.link.onnx.write.term import minimum, where
from pytensor.scalar import math as psm

# B_2, B_4, ...; NIST DLMF 24.2.1.
BERNOULLI = [
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730, 8553103 / 6,
]  # fmt: skip
# Coefficients of log gamma less Stirling's formula, NIST DLMF 5.11.1, by powers of 1/x**2: from 10
# on the error is below 1e-17.
STIRLING = [b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(BERNOULLI[:9])]


def pochhammer(x, n):
    """Return x * (x + 1) * ... of n factors."""
    return polynomial(x, np.poly(-np.arange(float(n)))[::-1])


def zeta_less_one(n):
    """Compute zeta(n) - 1 by Euler and Maclaurin's formula, NIST DLMF 25.11.7 with a = 2."""
    return hurwitz_zeta_rest(n, 20.0) + sum(float(k) ** -n for k in range(19, 1, -1))


def hurwitz_zeta_rest(s, x):
    """Sum (x + k)**-s over all k >= 0, of a number or term x that's larger than s + 10."""
    series = [b / factorial(2 * j + 2) * pochhammer(s, 2 * j + 1) for j, b in enumerate(BERNOULLI)]
    inverse = 1.0 / x
    rest = polynomial(inverse * inverse, series) * inverse
    return (1 / (s - 1) + inverse * (0.5 + rest)) * x ** (1 - s)


# Coefficients of log(gamma(2 + z)) by powers of z, NIST DLMF 5.7.3: terms fall like (z/2)**k.
NEAR_TWO = [0.0, 1 - np.euler_gamma]
NEAR_TWO += [(-1) ** k * zeta_less_one(float(k)) / k for k in range(2, 27)]


def stirling_rest(x):
    """Return log(gamma(x)) less Stirling's formula, of x >= 10."""
    inverse = 1.0 / x
    return inverse * polynomial(inverse * inverse, STIRLING)


def sin_pi(x):
    """Return sin(pi x), exactly zero at integers."""
    rest = x - 2.0 * rint(0.5 * x)
    # Near the odd integers, sin(pi - y) = sin(y).
    rest = where(abs(rest) > 0.5, where(rest > 0.0, 1.0, -1.0) - rest, rest)
    return sin(pi * rest)


def cot_pi(x):
    rest = x - rint(x)
    # This cosine is exactly zero halfway.
    return sin(pi * (0.5 - abs(rest))) / sin(pi * rest)


def is_pole(x):
    return (x <= 0.0) & (x == floor(x))


def log_gamma_near(x):
    """Return log(gamma(x)) of -0.5 <= x < 2.5, precise where it's near zero."""
    nearest = rint(x)
    rest = x - nearest
    result = polynomial(rest, NEAR_TWO)
    result = where(nearest < 2.0, result - log1p(rest), result)
    return where(nearest < 1.0, result - log(abs(where(nearest < 1.0, rest, 1.0))), result)


def log_gamma_far(x):
    """Return log(gamma(x)) of x >= 2.5."""
    is_large = x >= 10.0
    large = where(is_large, x, x + 8.0)
    result = (large - 0.5) * (log(large) - 1.0) + (np.log(2 * pi) - 1) / 2 + stirling_rest(large)
    return where(is_large, result, result - log(pochhammer(x, 8)))


def log_gamma(x):
    """Return log(gamma(x)) of x >= -0.5."""
    return where(x < 2.5, log_gamma_near(x), log_gamma_far(x))


@scalar_formula(psm.GammaLn)
def gammaln(x):
    is_negative = x < -0.5
    result = log_gamma(where(is_negative, 1.0 - x, x))
    reflected = np.log(pi) - log(abs(sin_pi(where(is_negative, x, 0.5)))) - result
    # There's no limit at minus infinity, which SciPy returns there.
    reflected = where(x == -np.inf, x, where(is_pole(x), np.inf, reflected))
    return where(is_negative, reflected, result)


def positive_gamma(x):
    """Return gamma(x) of x >= 0.5."""
    is_large = x >= 10.0
    large = minimum(where(is_large, x, x + 10.0), 180.0)
    # The power would overflow before the product does.
    power = large ** (0.5 * large - 0.25)
    result = np.sqrt(2 * pi) * power * (power * exp(-large)) * exp(stirling_rest(large))
    return where(is_large, result, result / pochhammer(x, 10))


@scalar_formula(psm.Gamma)
def gamma(x):
    is_low, is_small = x < -0.5, x < 0.5
    result = positive_gamma(where(is_low, -x, where(is_small, 1.0 + x, x)))
    # NIST DLMF 5.5.3 with gamma(1 - x) = -x gamma(-x): the difference would be rounded.
    reflected = -pi / (x * result * sin_pi(where(is_low, x, 0.5)))
    reflected = where(is_pole(x), np.nan, reflected)
    return where(is_low, reflected, where(is_small, result / x, result))


def positive_psi(x):
    """Return the digamma function of x >= 0."""
    is_large = x >= 10.0
    large = where(is_large, x, x + 10.0)
    inverse = 1.0 / large
    # NIST DLMF 5.11.2, after the recurrence 5.5.2.
    series = [0.0] + [-b / (2 * k + 2) for k, b in enumerate(BERNOULLI[:9])]
    result = log(large) - 0.5 * inverse + polynomial(inverse * inverse, series)
    # The reciprocal of a negative zero stays outside of the sum.
    shifted = result - (1.0 / (x.column() + np.arange(1.0, 10.0))).dot(np.ones(9)) - 1.0 / x
    return where(is_large, result, shifted)


@scalar_formula(psm.Psi)
def psi(x):
    is_negative = x < 0.0
    result = positive_psi(where(is_negative, 1.0 - x, x))
    reflected = where(is_pole(x), np.nan, result - pi * cot_pi(where(is_negative, x, 0.5)))
    return where(is_negative, reflected, result)


def derivative_of_psi(n, x):
    """Return the digamma function's n-th derivative, n > 0."""
    is_negative = x < 0.0
    size = where(is_negative, 1.0 - x, abs(x))
    shift = 10 + n
    # NIST DLMF 5.15.1 and, of negative arguments, 5.15.6.
    head = ((size.column() + np.arange(float(shift))) ** -(n + 1.0)).dot(np.ones(shift))
    zeta = head + hurwitz_zeta_rest(n + 1.0, size + float(shift))
    result = float((-1) ** (n + 1) * factorial(n)) * zeta
    reflected = (-1.0) ** n * result - pi ** (n + 1) * polynomial(cot_pi(x), cotangent(n))
    result = where(is_negative, reflected, result)
    return where(is_pole(x), (-1) ** (n + 1) * np.inf, result)


def cotangent(n):
    """Return the n-th derivative of the cotangent, a polynomial of the cotangent."""
    result = Polynomial([0.0, 1.0])
    for _ in range(n):
        result = -Polynomial([1.0, 0.0, 1.0]) * result.deriv()
    return result.coef


@scalar_formula(psm.TriGamma)
def trigamma(x):
    return derivative_of_psi(1, x)


@onnx_funcify.register(psm.PolyGamma)
def onnx_funcify_PolyGamma(op, node, n, x):
    orders = n.data
    if orders is None:
        raise ConversionError("the formula of polygamma depends on its order; give a constant one")
    # The factorial of a larger order isn't finite.
    if orders.size and not 0 <= orders.min() <= orders.max() <= 170:
        raise ConversionError(
            "polygamma has no finite values of orders beyond 170, and none of negative ones; give "
            "an order from 0 to 170"
        )
    n, x = n.cast("float64"), x.cast("float64")
    result = n * x
    for order in np.unique(orders).tolist():
        value = derivative_of_psi(order, x) if order else psi(x)
        result = where(n == float(order), value, result)
    return result.cast(node.outputs[0].type.dtype)
