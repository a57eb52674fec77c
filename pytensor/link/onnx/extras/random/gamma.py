"""The gamma distribution and what follows from it.

All is in terms of logarithms: a gamma number of shape 0.001 is mostly smaller than any float.
"""

import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.extras.random.draws import repeat_while, sampler
from pytensor.link.onnx.write.formula import exp, log, sqrt
from pytensor.link.onnx.write.term import maximum, where


def log_gamma_draw(draws, shape):
    """Draw logarithms of gamma numbers of scale 1, by Marsaglia & Tsang 2000.

    NaN where `shape` is negative or NaN.
    """
    # A gamma number of a + 1 times u**(1 / a) is one of a.
    d = where(shape < 1.0, shape + 1.0, shape) - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)

    def step(result, pending):
        x = draws.normal()
        root = 1.0 + c * x
        log_v = 3.0 * log(maximum(root, 0.0))
        bound = 0.5 * x * x + d * (1.0 - exp(log_v) + log_v)
        accepted = (root > 0.0) & (log(draws.open_uniform()) < bound) & (pending > 0.0)
        return where(accepted, log(d) + log_v, result), where(accepted, 0.0, pending)

    proper = (shape > 0.0) & (shape < np.inf)
    improper = where(shape == 0.0, -np.inf, where(shape == np.inf, np.inf, np.nan))
    state = [draws.expand(improper), draws.expand(where(proper, 1.0, 0.0))]
    result, _ = repeat_while(draws, step, lambda _, pending: pending > 0.0, state)
    boost = where((shape > 0.0) & (shape < 1.0), log(draws.open_uniform()) / shape, 0.0)
    return result + boost


@sampler(ptr.BetaRV)
def beta_draw(draws, a, b):
    return 1.0 / (1.0 + exp(log_gamma_draw(draws, b) - log_gamma_draw(draws, a)))


@sampler(ptr.GammaRV)
def gamma(draws, shape, scale):
    return scale * exp(log_gamma_draw(draws, shape))


@sampler(ptr.InvGammaRV)
def invgamma(draws, shape, scale):
    return scale * exp(-log_gamma_draw(draws, shape))


@sampler(ptr.GenGammaRV)
def gengamma(draws, alpha, p, lambd):
    return lambd * exp(log_gamma_draw(draws, alpha / p) / p)


@sampler(ptr.StudentTRV)
def student_t(draws, df, loc, scale):
    half = df / 2.0
    variance = where(df == np.inf, 1.0, half * exp(-log_gamma_draw(draws, half)))
    return loc + scale * draws.normal() * sqrt(variance)
