"""The von Mises distribution."""

from math import pi

import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.dispatch.scalar.trig import arcsin
from pytensor.link.onnx.extras.random.draws import repeat_while, sampler
from pytensor.link.onnx.write.formula import cos, floor, log, sin, sqrt
from pytensor.link.onnx.write.term import maximum, minimum, where


@sampler(ptr.VonMisesRV)
def vonmises(draws, mu, kappa):
    """Draw by Best & Fisher 1979, with the differences of their formulas multiplied out.

    The cosine of the result is w = (1 + s z) / (s + z); the loop carries sin(angle / 2) instead,
    which tells small angles apart.
    """
    is_proper = (kappa >= 0.0) & (kappa < np.inf)
    # What is less can't be told from the uniform distribution.
    kappa = maximum(kappa, 1e-8)
    root = sqrt(1.0 + 4.0 * kappa * kappa)
    denominator = 1.0 + root + sqrt(2.0 + 2.0 * root)
    rho = 2.0 * kappa / denominator
    gap = (1.0 + 1.0 / (root + 2.0 * kappa) + sqrt(2.0 + 2.0 * root)) / denominator
    s_less_1 = gap * gap / (2.0 * rho)

    def step(half_sine, pending):
        angle = pi / 2 * draws.uniform()
        s_plus_z = s_less_1 + 2.0 * cos(angle) * cos(angle)
        excess = kappa * s_less_1 * (s_less_1 + 2.0) / s_plus_z
        accepted = (log(excess / draws.open_uniform()) + 1.0 >= excess) & (pending > 0.0)
        proposal = sin(angle) * sqrt(s_less_1 / s_plus_z)
        return where(accepted, proposal, half_sine), where(accepted, 0.0, pending)

    state = [draws.full(np.nan), draws.expand(where(is_proper, 1.0, 0.0))]
    half_sine, _ = repeat_while(draws, step, lambda _, pending: pending > 0.0, state)
    angle = 2.0 * arcsin(minimum(half_sine, 1.0))
    angle = mu + where(draws.uniform() < 0.5, angle, -angle)
    return angle - 2.0 * pi * floor((angle + pi) / (2.0 * pi))
