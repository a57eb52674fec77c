"""Owen's T function."""

import numpy as np

from pytensor.link.onnx.extras.special.erf import erfc
from pytensor.link.onnx.write.formula import exp, scalar_formula, sign
from pytensor.link.onnx.write.term import minimum, where
from pytensor.scalar import math as psm

NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / (4 * np.pi)


@scalar_formula(psm.Owens_t)
def owens_t(h, a):
    """Compute Owen's T by Gauss's rule for its integral, of |a| <= 1, and by D. B. Owen's
    reflection of larger a ("Tables for computing bivariate normal probabilities", 1956).

    Where h is large, the integrand is nothing beyond 8.7 / h.
    """
    height, slope = abs(h), abs(a)
    is_steep = slope > 1.0
    product = height * slope
    low_height = where(is_steep, product, height)
    low_slope = where(is_steep, 1.0 / slope, slope)
    end = minimum(low_slope, 8.7 / low_height)
    x = end.column() * NODES
    square = 1.0 + x * x
    exponent = (-0.5 * low_height * low_height).column() * square
    integral = end * (exp(exponent) / square).dot(WEIGHTS)
    tail, other = 0.5 * erfc(np.sqrt(0.5) * height), 0.5 * erfc(np.sqrt(0.5) * product)
    steep = 0.5 * (tail + other) - tail * other - integral
    result = where(slope == np.inf, 0.5 * tail, where(is_steep, steep, integral))
    result = where((height == np.inf) & (slope == slope), 0.0, result)
    return sign(a) * result
