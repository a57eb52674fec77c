"""Draws by JAX, against their distributions in SciPy."""

import numpy as np
import pytest
from scipy import stats

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.tensor.random import basic as draws

pytest.importorskip("jax")


def gamma(shape, scale, **kwargs):
    return draws.gamma(shape, scale=scale, **kwargs)


CONTINUOUS = {
    "beta": (draws.beta, (2.0, 3.0), stats.beta(2, 3)),
    "cauchy": (draws.cauchy, (1.0, 2.0), stats.cauchy(1, 2)),
    "chisquare": (draws.chisquare, (3.0,), stats.chi2(3)),
    "exponential": (draws.exponential, (2.0,), stats.expon(scale=2)),
    "gamma": (gamma, (2.0, 3.0), stats.gamma(2, scale=3)),
    "gengamma": (draws.gengamma, (2.0, 3.0, 1.5), stats.gengamma(2 / 3, 3, scale=1.5)),
    "gumbel": (draws.gumbel, (1.0, 2.0), stats.gumbel_r(1, 2)),
    "halfcauchy": (draws.halfcauchy, (1.0, 2.0), stats.halfcauchy(1, 2)),
    "halfnormal": (draws.halfnormal, (1.0, 2.0), stats.halfnorm(1, 2)),
    "invgamma": (draws.invgamma, (2.0, 3.0), stats.invgamma(2, scale=3)),
    "laplace": (draws.laplace, (1.0, 2.0), stats.laplace(1, 2)),
    "logistic": (draws.logistic, (1.0, 2.0), stats.logistic(1, 2)),
    "lognormal": (draws.lognormal, (0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "normal": (draws.normal, (1.0, 2.0), stats.norm(1, 2)),
    "pareto": (draws.pareto, (2.0, 3.0), stats.pareto(2, scale=3)),
    "t": (draws.t, (3.0, 1.0, 2.0), stats.t(3, 1, 2)),
    "triangular": (draws.triangular, (-1.0, 0.5, 3.0), stats.triang(0.375, -1, 4)),
    "truncexpon": (draws.truncexpon, (1.5, 1.0, 2.0), stats.truncexpon(1.5, 1, 2)),
    "uniform": (draws.uniform, (-1.0, 2.0), stats.uniform(-1, 3)),
    "vonmises": (draws.vonmises, (0.5, 3.0), stats.vonmises(3, 0.5)),
    "wald": (draws.wald, (2.0, 3.0), stats.invgauss(2 / 3, scale=3)),
    "weibull": (draws.weibull, (1.7,), stats.weibull_min(1.7)),
}
DISCRETE = {
    "bernoulli": (draws.bernoulli, (0.3,), stats.bernoulli(0.3)),
    "betabinom": (draws.betabinom, (9, 2.0, 3.0), stats.betabinom(9, 2, 3)),
    "binomial": (draws.binomial, (9, 0.3), stats.binom(9, 0.3)),
    "geometric": (draws.geometric, (0.6,), stats.geom(0.6)),
    "hypergeometric": (draws.hypergeometric, (7, 5, 6), stats.hypergeom(12, 7, 6)),
    "integers": (draws.integers, (2, 7), stats.randint(2, 7)),
    "negative_binomial": (draws.negative_binomial, (2, 0.7), stats.nbinom(2, 0.7)),
    "poisson": (draws.poisson, (0.7,), stats.poisson(0.7)),
}
CATEGORIES = np.array([0.1, 0.0, 0.6, 0.3])


def drawn(draw, parameters, size):
    """Return draws and new ones of the next call, and those of a batch of parameters."""
    rng = pytensor.shared(np.random.default_rng(0))
    inputs = [pt.as_tensor(np.array(p)).type() for p in parameters]
    next_rng, x = draw(*inputs, size=size, rng=rng, return_next_rng=True)
    batches = [pt.stack([v, v]) for v in inputs]
    _, rows = draw(*batches, rng=rng, return_next_rng=True)
    f = pytensor.function(inputs, [x, rows], updates={rng: next_rng}, mode="JAX")
    x, rows = f(*parameters)
    again, _ = f(*parameters)
    assert x.shape == size
    assert rows.shape == (2,)
    assert (x != again).any()
    return np.asarray(x)


def chisquare_pvalue(x, probabilities):
    """Return the p-value of draws of 0, 1, ... with their probabilities; rare ones count as one."""
    observed = np.bincount(x.ravel(), minlength=len(probabilities))
    expected = np.asarray(probabilities) * x.size
    common = expected >= 5
    assert set(np.flatnonzero(observed)) <= set(np.flatnonzero(expected))
    observed, expected = observed[common], expected[common]
    rest = x.size - observed.sum(), x.size - expected.sum()
    if rest[1] > 0.1:
        observed, expected = np.append(observed, rest[0]), np.append(expected, rest[1])
    return stats.chisquare(observed, expected, sum_check=False).pvalue


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*PyTensor computes it on the host")
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, parameters, expected = CONTINUOUS[name]
    x = drawn(draw, parameters, (40, 50))
    assert x.dtype == "float64"
    assert stats.kstest(x.ravel(), expected.cdf).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*PyTensor computes it on the host")
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, parameters, expected = DISCRETE[name]
    x = drawn(draw, parameters, (40, 50))
    assert chisquare_pvalue(x, expected.pmf(np.arange(40))) > 0.01


@pytest.mark.parametrize("mode", ["JAX", jax_mode()], ids=["JAX", "jax_mode"])
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_categories(dtype, mode):
    p = CATEGORIES.astype(dtype)
    rng = pytensor.shared(np.random.default_rng(0))
    rng_1, x = draws.categorical(p, size=5_000, rng=rng, return_next_rng=True)
    rng_2, y = draws.choice(np.arange(4), 5_000, p=p, rng=rng_1, return_next_rng=True)
    next_rng, z = draws.categorical(
        np.stack([p, p[::-1]]), size=(5_000, 2), rng=rng_2, return_next_rng=True, dtype="int32"
    )
    f = pytensor.function([], [x, y, z], updates={rng: next_rng}, mode=mode)
    x, y, z = map(np.asarray, f())
    assert (x.dtype, z.dtype) == ("int64", "int32")
    for drawn in (x, y, z[:, 0], 3 - z[:, 1]):
        assert chisquare_pvalue(drawn, CATEGORIES) > 0.01


class Halves(draws.RandomVariable):
    """Draws of 0 and a half, of which JAX knows nothing."""

    name = "halves"
    signature = "()->()"
    dtype = "floatX"

    @classmethod
    def rng_fn(cls, rng, p, size):
        return rng.binomial(1, p, size) / 2


@pytest.fixture
def told(recwarn):
    """Return the warnings of a test, of which those of `Halves` are expected."""
    yield recwarn
    for warning in recwarn:
        assert "halves" in str(warning.message)


@pytest.mark.slow
def test_draws_of_numpys_generator(told):
    rng = pytensor.shared(np.random.default_rng(0))
    p = pt.vector("p")
    next_rng, open_size = Halves()(p, rng=rng, return_next_rng=True)
    last_rng, fixed_size = Halves()(0.5, size=(200, 3), rng=next_rng, return_next_rng=True)
    values = np.linspace(0, 1, 100)
    both = [open_size, fixed_size]
    f, g = (pytensor.function([p], both, updates={rng: last_rng}, mode="JAX") for _ in range(2))
    first, second = f(values), f(values)
    assert any("PyTensor computes it on the host" in str(w.message) for w in told)
    for x, again in zip(first, second, strict=True):
        assert x.dtype == pytensor.config.floatX
        assert set(np.unique(x)) == {0.0, 0.5}
        assert (x != again).any()
    assert first[0].shape == (100,)
    assert first[0][0] == 0
    assert first[0][-1] == 0.5
    assert 0.2 < first[1].mean() < 0.3
    rng.set_value(np.random.default_rng(0))
    np.testing.assert_array_equal(g(values)[1], first[1])


def test_lengths_of_draws_must_be_known(told):
    class Pairs(Halves):
        signature = "(n)->(n)"

    p = pt.vector("p")
    rng = pytensor.shared(np.random.default_rng(0))
    _, x = Pairs()(p, rng=rng, return_next_rng=True)
    f = pytensor.function([p], x, mode="JAX")
    with pytest.raises(NotImplementedError, match="static shapes"):
        f(np.ones(3))
