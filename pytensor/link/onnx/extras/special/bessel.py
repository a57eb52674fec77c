"""Bessel functions of constant order."""

from math import ceil, gamma, pi

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.formula import (
    cos,
    exp,
    log,
    named_formula,
    polynomial,
    scalar_formula,
    sin,
    sqrt,
)
from pytensor.link.onnx.write.term import minimum, where
from pytensor.scalar import math as psm

# Up to here integrals are computed, beyond there are asymptotic series.
LIMIT = 30.0
LARGEST_ORDER = 20


def poisson_rule(order, limit):
    """Return nodes and weights of Poisson's integral (NIST DLMF 10.32.2) of |x| < limit.

    The sum of weights * exp(x * nodes) is I(x) / (x/2)**order, that of cosines J(x) / (x/2)**order.
    """
    # For order 0 the rule's error is 2 I_2n(x), or exp(-2 n**2 / x) of I_0(x): 1e-17 with this n.
    nodes, weights = gauss_gegenbauer(ceil(5 * np.sqrt(limit)) + 8, order)
    return nodes, weights / (weights.sum() * gamma(order + 1))


def gauss_gegenbauer(n, order):
    """Return nodes of Gauss's rule for (1 - t**2)**(order - 1/2), and weights but for a factor.

    Eigenvalues of the Jacobi matrix (Golub and Welsch, 1969), with Newton's steps for the last
    digits, which cosines of 30 times a node need.
    """
    k = np.arange(2.0, n, dtype="longdouble")
    rest = k * (k + 2 * order - 1) / (4 * (k + order) * (k + order - 1))
    squares = np.concatenate([[np.longdouble(1) / (2 + 2 * order)], rest])
    matrix = np.diag(np.sqrt(squares.astype("float64")), -1)
    nodes = np.linalg.eigvalsh(matrix).astype("longdouble")
    for _ in range(2):
        below, value, slope_below, slope = 0 * nodes, 0 * nodes + 1, 0 * nodes, 0 * nodes
        for square in [0, *squares]:
            below, value, slope_below, slope = (
                value,
                nodes * value - square * below,
                slope,
                value + nodes * slope - square * slope_below,
            )
        nodes = nodes - value / slope
    return nodes.astype("float64"), (1 / (slope * below)).astype("float64")


def hankel_coefficients(order, limit):
    """Return a_k of NIST DLMF 10.17.1 until they are nothing at `limit`."""
    coefficients = [1.0]
    k = 0
    while k < 2 * order or abs(coefficients[-1]) > 1e-18 * limit**k:
        k += 1
        factor = (4 * order**2 - (2 * k - 1) ** 2) / (8 * k)
        coefficients.append(coefficients[-1] * factor)
    return np.array(coefficients)


def scaled_modified(order, x):
    """Return exp(-x) I(x) of order >= 0 and x >= 0."""
    limit = max(LIMIT, order**2 / 2)
    nodes, weights = poisson_rule(order, limit)
    integral = exp(minimum(x, limit).column() * (nodes - 1)).dot(weights)
    near = integral if order == 0 else integral * (0.5 * x) ** order
    # NIST DLMF 10.40.1.
    coefficients = hankel_coefficients(order, limit)
    signs = (-1.0) ** np.arange(len(coefficients))
    far = polynomial(1.0 / x, signs * coefficients) / sqrt(2 * pi * x)
    return where(x > limit, far, near)


@named_formula("scipy.special.i0e")
def i0e(x):
    return scaled_modified(0, abs(x))


@named_formula("scipy.special.i1e")
def i1e(x):
    result = scaled_modified(1, abs(x))
    return where(x < 0.0, -result, result)


def unscale(scaled, x):
    """Multiply by exp(x), which overflows before the product does."""
    root = exp(0.5 * x)
    return root * (root * scaled)


@scalar_formula(psm.I0)
def i0(x):
    return unscale(i0e(x), abs(x))


@scalar_formula(psm.I1)
def i1(x):
    return unscale(i1e(x), abs(x))


def scaled_macdonald_near(order, x):
    """Return exp(x) K(x) of 0 <= order < 2 and 0 < x <= 30.

    The trapezoidal rule for int_0^inf exp(x - x cosh t) cosh(order t) dt, NIST DLMF 10.32.9, up to
    where the integrand is nothing.  The step is 1/4 at most, the error then exp(-4 pi**2) = 7e-18.
    Below, NIST DLMF 10.30.2, 10.30.3 and 10.27.4 without what's of the order of x**2.
    """
    tiny = 1e-8
    count = 96
    end = log(2.0 + 200.0 / where(x < tiny, tiny, x))
    t = end.column() * (np.arange(count + 1.0) / count)
    grow = exp(t)
    decay = exp((-0.5 * where(x < tiny, tiny, x)).column() * (grow + 1.0 / grow - 2.0))
    power = grow**order
    weights = np.r_[0.5, np.ones(count)] / (2 * count)
    near = (decay * (power + 1.0 / power)).dot(weights) * end
    half = 0.5 * x
    if order == 0:
        series = -log(half) - np.euler_gamma
    else:
        series = (0.5 * gamma(order)) * half**-order
        if order < 1:
            series = series + 0.5 * gamma(-order) * half**order
    return where(x < tiny, (1.0 + x) * series, near)


def scaled_macdonald(order, x):
    """Return exp(x) K(x) of order >= 0 and x > 0, by upward recurrence (NIST DLMF 10.29.1)."""
    lowest = order % 1
    previous, result = (
        where(
            x > LIMIT,
            sqrt(pi / 2 / x) * polynomial(1.0 / x, hankel_coefficients(start, LIMIT)),
            scaled_macdonald_near(start, minimum(x, LIMIT)),
        )
        for start in (lowest, lowest + 1)
    )
    if order < 1:
        return previous
    for k in range(1, int(order)):
        previous, result = result, previous + (2 * (lowest + k)) / x * result
    return result


def ive(order, x):
    size = abs(x)
    result = scaled_modified(abs(order), size)
    if order == int(order):
        return where(x < 0.0, -result, result) if order % 2 else result
    if order < 0:
        # NIST DLMF 10.27.2.
        second = exp(-2.0 * size) * scaled_macdonald(-order, size)
        result = result + (2 / pi * np.sin(-order % 2 * pi)) * second
    return where(x < 0.0, np.nan, result)


def kve(order, x):
    result = scaled_macdonald(abs(order), x)
    return where(x < 0.0, np.nan, where(x == 0.0, np.inf, result))


def bessel_near(order, x):
    """Return J(x) of order >= 0 and 0 <= x <= 30, by Poisson's integral, NIST DLMF 10.9.4."""
    if 1 <= order < 2:
        # Its derivative (10.6.6) has no factor of x that errors are multiplied by.
        order = order - 1
        nodes, weights = poisson_rule(order, LIMIT)
        integral = sin(x.column() * nodes).dot(weights * nodes)
    else:
        nodes, weights = poisson_rule(order, LIMIT)
        integral = cos(x.column() * nodes).dot(weights)
    return integral if order == 0 else integral * (0.5 * x) ** order


def bessel_far(order, x):
    """Return J(x) of 0 <= order < 2 and x >= 30, by Hankel's expansion, NIST DLMF 10.17.3."""
    coefficients = hankel_coefficients(order, LIMIT)
    coefficients *= np.resize([1.0, 1.0, -1.0, -1.0], len(coefficients))
    inverse = 1.0 / x
    square = inverse * inverse
    p, q = polynomial(square, coefficients[::2]), inverse * polynomial(square, coefficients[1::2])
    # The phase is x less a constant, whose difference would be rounded.
    phase = (order / 2 + 0.25) * pi
    sine, cosine = sin(x), cos(x)
    real = cosine * np.cos(phase) + sine * np.sin(phase)
    imaginary = sine * np.cos(phase) - cosine * np.sin(phase)
    return sqrt(2 / pi * inverse) * (real * p - imaginary * q)


def bessel(order, x):
    """Return J(x) of 0 <= order < 2 and x >= 0."""
    return where(x > LIMIT, bessel_far(order, x), bessel_near(order, minimum(x, LIMIT)))


@scalar_formula(psm.J0)
def j0(x):
    return bessel(0, abs(x))


@scalar_formula(psm.J1)
def j1(x):
    result = bessel(1, abs(x))
    return where(x < 0.0, -result, result)


def jv(order, x):
    if order < 0 and order == int(order):
        return jv(-order, x) * (-1.0) ** order
    size = abs(x)
    lowest = order % 1
    first, second = bessel(lowest, size), bessel(lowest + 1, size)
    # NIST DLMF 10.6.1, upwards where it's stable.
    for k in range(1, int(order)):
        first, second = second, (2 * (lowest + k)) / size * second - first
    for k in range(0, -ceil(-order) if order < 0 else 0, -1):
        first, second = (2 * (lowest + k)) / size * first - second, first
    result = first if order < 1 else second
    if order >= 2:
        result = where(size < order, bessel_near(order, minimum(size, LIMIT)), result)
    if order == int(order):
        return where(x < 0.0, -result, result) if order % 2 else result
    if order < 0:
        # The first term of NIST DLMF 10.2.2; the recurrence has infinity times zero there.
        result = where(size < 1e-8, (0.5 * size) ** order / gamma(order + 1), result)
    return where(x < 0.0, np.nan, result)


FUNCTIONS = {psm.Ive: ive, psm.Jv: jv, psm.Kve: kve}


@onnx_funcify.register(psm.Ive)
@onnx_funcify.register(psm.Jv)
@onnx_funcify.register(psm.Kve)
def onnx_funcify_Ive(op, node, order, x):
    orders = order.data
    if orders is None:
        raise ConversionError(
            "the formula of a Bessel function depends on its order; give a constant one"
        )
    if orders.size and not np.abs(orders).max() <= LARGEST_ORDER:
        raise ConversionError(
            f"orders of Bessel functions beyond {LARGEST_ORDER} would lose precision; use smaller "
            "orders, or compute the function before the model"
        )
    order, x = order.cast("float64"), x.cast("float64")
    result = order * x
    for value in np.unique(orders).astype("float64").tolist():
        result = where(order == value, FUNCTIONS[type(op)](value, x), result)
    return result.cast(node.outputs[0].type.dtype)
