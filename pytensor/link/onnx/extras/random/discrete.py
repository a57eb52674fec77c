"""Distributions of counts; a count above 2**53 is rounded to double precision."""

import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.random.draws import after_draw, draws_of, repeat_while, sampler
from pytensor.link.onnx.extras.random.gamma import beta_draw, log_gamma_draw
from pytensor.link.onnx.write.formula import ceil, exp, floor, log1p
from pytensor.link.onnx.write.term import maximum, minimum, where


@sampler(ptr.BinomialRV)
def binomial_draw(draws, n, p):
    """Draw counts of uniform numbers below `p` among `n`, by halving.

    The middle one in order of size is a beta number; it tells on which side the search goes on
    (Devroye 1986, X.4.3).
    """

    def step(count, n, p):
        a = floor(n / 2.0) + 1.0
        b = n + 1.0 - a
        middle = minimum(maximum(beta_draw(draws, a, b), 1e-300), 1.0 - 2.0**-53)
        below = middle < p
        q = where(below, (p - middle) / (1.0 - middle), p / middle)
        return (
            count + where((n > 0.0) & below, a, 0.0),
            maximum(where(below, b, a) - 1.0, 0.0),
            q,
        )

    state = [draws.full(0.0), draws.expand(n), draws.expand(p)]
    return repeat_while(draws, step, lambda _count, n, _p: n > 0.0, state)[0]


@sampler(ptr.PoissonRV)
def poisson_draw(draws, rate):
    """Draw counts of events up to time `rate`, by jumps of many events (Ahrens & Dieter 1974)."""

    def step(count, rest, between, share):
        jump = maximum(floor(0.875 * rest), 1.0)
        time = exp(log_gamma_draw(draws, jump))
        within, beyond = (rest > 0.0) & (time <= rest), (rest > 0.0) & (time > rest)
        return (
            count + where(within, jump, 0.0),
            where(within, rest - time, 0.0),
            # The events before a jump that goes too far are uniform numbers.
            where(beyond, jump - 1.0, between),
            where(beyond, rest / time, share),
        )

    zero = draws.full(0.0)
    state = [zero, draws.expand(where(rate < np.inf, rate, 0.0)), zero, zero]
    count, _, between, share = repeat_while(draws, step, lambda _c, rest, *_: rest > 0.0, state)
    return count + binomial_draw(draws, between, share)


@sampler(ptr.BernoulliRV)
def bernoulli(draws, p):
    return where(draws.uniform() < p, 1.0, 0.0)


@sampler(ptr.BetaBinomialRV)
def betabinom(draws, n, a, b):
    return binomial_draw(draws, n, beta_draw(draws, a, b))


@sampler(ptr.NegBinomialRV)
def negative_binomial(draws, n, p):
    return poisson_draw(draws, exp(log_gamma_draw(draws, n)) * ((1.0 - p) / p))


@sampler(ptr.HyperGeometricRV)
def hypergeometric(draws, good, bad, sample):
    def step(count, good, total, left):
        hit = (draws.uniform() * total < good) & (left > 0.0)
        one = where(hit, 1.0, 0.0)
        return count + one, good - one, total - 1.0, left - 1.0

    state = [draws.full(0.0), *(draws.expand(v) for v in (good, good + bad, sample))]
    return repeat_while(draws, step, lambda _count, _good, _total, left: left > 0.0, state)[0]


@onnx_funcify.register(ptr.GeometricRV)
def onnx_funcify_GeometricRV(op, node, generator, size, p):
    draws = draws_of(node, generator, size, [p])
    trials = -draws.exponential() / log1p(-p.cast("float64"))
    trials = maximum(ceil(trials), 1.0)
    # As in NumPy, what is too large becomes the largest integer.
    fits = trials < 2.0**63
    whole = where(fits, trials, 1.0).cast("int64")
    result = where(fits, whole, np.iinfo("int64").max)
    return after_draw(node, generator), result.cast(op.dtype)


@onnx_funcify.register(ptr.CategoricalRV)
def onnx_funcify_CategoricalRV(op, node, generator, size, p):
    draws = draws_of(node, generator, size, [p])
    edges = p.cast("float64").cumulative_sum(-1)
    below = (edges < draws.uniform().column()).cast("int64")
    # With a negative axis onnxruntime wouldn't reduce a tensor without entries.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    result = below.reduce_sum(op.batch_ndim(node))
    return after_draw(node, generator), result.cast(op.dtype)
