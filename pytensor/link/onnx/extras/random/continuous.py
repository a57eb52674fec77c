"""Continuous distributions that are transforms of uniform and normal numbers."""

from math import pi

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.extras.random.draws import sampler
from pytensor.link.onnx.write.formula import cos, exp, expm1, log, log1p, sin, sqrt
from pytensor.link.onnx.write.term import where


@sampler(ptr.UniformRV)
def uniform(draws, low, high):
    return low + (high - low) * draws.uniform()


@sampler(ptr.NormalRV)
def normal(draws, loc, scale):
    return loc + scale * draws.normal()


@sampler(ptr.HalfNormalRV)
def halfnormal(draws, loc, scale):
    return loc + scale * abs(draws.normal())


@sampler(ptr.LogNormalRV)
def lognormal(draws, mean, sigma):
    return exp(mean + sigma * draws.normal())


@sampler(ptr.ExponentialRV)
def exponential(draws, scale):
    return scale * draws.exponential()


@sampler(ptr.WeibullRV)
def weibull(draws, shape):
    return where(shape == 0.0, 0.0, draws.exponential() ** (1.0 / shape))


@sampler(ptr.ParetoRV)
def pareto(draws, b, scale):
    return scale * exp(draws.exponential() / b)


@sampler(ptr.GumbelRV)
def gumbel(draws, loc, scale):
    return loc - scale * log(-log(draws.open_uniform()))


@sampler(ptr.LogisticRV)
def logistic(draws, loc, scale):
    u = draws.open_uniform()
    return loc + scale * log(u / (1.0 - u))


@sampler(ptr.LaplaceRV)
def laplace(draws, loc, scale):
    u = draws.open_uniform()
    return loc + scale * where(u < 0.5, log(2.0 * u), -log(2.0 * (1.0 - u)))


@sampler(ptr.CauchyRV)
def cauchy(draws, loc, scale):
    angle = pi * (draws.uniform() - 0.5)
    # onnxruntime's tangent is in single precision only.
    # thoughts/upstream/onnxruntime-missing-kernels.md
    return loc + scale * (sin(angle) / cos(angle))


@sampler(ptr.HalfCauchyRV)
def halfcauchy(draws, loc, scale):
    angle = pi / 2 * draws.uniform()
    return loc + scale * (sin(angle) / cos(angle))


@sampler(ptr.TriangularRV)
def triangular(draws, left, mode, right):
    u, width = draws.uniform(), right - left
    rising = left + sqrt(u * (mode - left) * width)
    falling = right - sqrt((1.0 - u) * (right - mode) * width)
    return where(u * width <= mode - left, rising, falling)


@sampler(ptr.TruncExponentialRV)
def truncexpon(draws, b, loc, scale):
    return loc - scale * log1p(draws.uniform() * expm1(-b))


@sampler(ptr.WaldRV)
def wald(draws, mean, scale):
    # Michael, Schucany & Haas 1976, with the smaller root written without a difference.
    y = draws.normal()
    w = mean * y * y / (2.0 * scale)
    ratio = 1.0 / (1.0 + w + sqrt(w * (w + 2.0)))
    return mean * where(draws.uniform() * (1.0 + ratio) <= 1.0, ratio, 1.0 / ratio)
