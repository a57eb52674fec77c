"""Draws of which PyTensor has no conversion to JAX, against their distributions in SciPy."""

import numpy as np
import pytest
from scipy import stats

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.random import basic as draws

pytest.importorskip("jax")

CONTINUOUS = {
    "triangular": (draws.triangular, (-1.0, 0.5, 3.0), stats.triang(0.375, -1, 4)),
    "weibull": (draws.weibull, (1.7,), stats.weibull_min(1.7)),
    "halfcauchy": (draws.halfcauchy, (1.0, 2.0), stats.halfcauchy(1, 2)),
    "truncexpon": (draws.truncexpon, (1.5, 1.0, 2.0), stats.truncexpon(1.5, 1, 2)),
}
DISCRETE = {
    "hypergeometric": (draws.hypergeometric, (7, 5, 6), stats.hypergeom(12, 7, 6)),
    "binomial": (draws.binomial, (9, 0.3), stats.binom(9, 0.3)),
}


def drawn(draw, parameters, size):
    """Return draws and new ones of the next call, and those of a batch of parameters."""
    rng = pytensor.shared(np.random.default_rng(0))
    inputs = [pt.as_tensor(np.array(p)).type() for p in parameters]
    next_rng, x = draw(*inputs, size=size, rng=rng, return_next_rng=True)
    batches = [pt.stack([v, v]) for v in inputs]
    _, rows = draw(*batches, rng=rng, return_next_rng=True)
    with pytest.warns(UserWarning, match="will not be used in the compiled JAX graph"):
        f = pytensor.function(inputs, [x, rows], updates={rng: next_rng}, mode="JAX")
    x, rows = f(*parameters)
    again, _ = f(*parameters)
    assert x.shape == size
    assert rows.shape == (2,)
    assert (x != again).any()
    return np.asarray(x)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name):
    draw, parameters, expected = CONTINUOUS[name]
    x = drawn(draw, parameters, (40, 50))
    assert x.dtype == "float64"
    assert stats.kstest(x.ravel(), expected.cdf).pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name):
    draw, parameters, expected = DISCRETE[name]
    x = drawn(draw, parameters, (40, 50))
    assert x.dtype == "int64"
    values, counts = np.unique(x, return_counts=True)
    assert set(values) <= set(range(10))
    wanted = expected.pmf(values) * x.size
    assert (abs(counts - wanted) < 5 * np.sqrt(wanted) + 1).all()


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
    """Return the warnings of a test, of which those that functions with draws give are expected."""
    yield recwarn
    for warning in recwarn:
        assert "will not be used" in str(warning.message) or "halves" in str(warning.message)


@pytest.mark.slow
def test_draws_of_numpys_generator(told):
    rng = pytensor.shared(np.random.default_rng(0))
    p = pt.vector("p")
    next_rng, open_size = Halves()(p, rng=rng, return_next_rng=True)
    last_rng, fixed_size = Halves()(0.5, size=(200, 3), rng=next_rng, return_next_rng=True)
    values = np.linspace(0, 1, 100)
    both = [open_size, fixed_size]
    f, same = (pytensor.function([p], both, updates={rng: last_rng}, mode="JAX") for _ in range(2))
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
    np.testing.assert_array_equal(same(values)[1], first[1])


def test_lengths_of_draws_must_be_known(told):
    class Pairs(Halves):
        signature = "(n)->(n)"

    p = pt.vector("p")
    rng = pytensor.shared(np.random.default_rng(0))
    _, x = Pairs()(p, rng=rng, return_next_rng=True)
    f = pytensor.function([p], x, mode="JAX")
    with pytest.raises(NotImplementedError, match="static shapes"):
        f(np.ones(3))
