"""Draws of PyMC's own distributions, of which PyTensor knows no conversion to JAX."""

import numpy as np
import pytest
from scipy import stats

import pytensor

pytest.importorskip("jax")
pm = pytest.importorskip("pymc")

from pytensor.link.jax import jax_mode  # noqa: E402

# PyMC's warnings, and those of draws on the host.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SIZE = 2_000
UNIVARIATE = {
    "TruncatedNormal": (
        lambda: pm.TruncatedNormal.dist(0.5, 2, lower=-1, upper=3, size=SIZE),
        stats.truncnorm(-0.75, 1.25, 0.5, 2),
    ),
    "Wald": (lambda: pm.Wald.dist(mu=1, lam=2, size=SIZE), stats.invgauss(0.5, scale=2)),
    "SkewNormal": (
        lambda: pm.SkewNormal.dist(mu=1, sigma=2, alpha=3, size=SIZE),
        stats.skewnorm(3, 1, 2),
    ),
    "Moyal": (lambda: pm.Moyal.dist(1, 2, size=SIZE), stats.moyal(1, 2)),
    "Rice": (lambda: pm.Rice.dist(nu=1, sigma=2, size=SIZE), stats.rice(0.5, scale=2)),
    "VonMises": (lambda: pm.VonMises.dist(0.5, 3, size=SIZE), stats.vonmises(3, 0.5)),
    "Truncated": (
        lambda: pm.Truncated.dist(pm.Gamma.dist(2, 1), 1, 3, size=SIZE),
        None,  # SciPy has no truncated gamma distribution
    ),
    "NormalMixture": (lambda: pm.NormalMixture.dist([0.5, 0.5], [0, 9], 1, size=SIZE), None),
}
OTHERS = {
    "DiscreteUniform": lambda: pm.DiscreteUniform.dist(2, 7, size=SIZE),
    "Interpolated": lambda: pm.Interpolated.dist(np.arange(3.0), np.array([1, 2, 1.0]), size=3),
    "StickBreakingWeights": lambda: pm.StickBreakingWeights.dist(2, 4, size=3),
    "MatrixNormal": lambda: pm.MatrixNormal.dist(
        np.zeros((2, 3)), rowcov=np.eye(2), colcov=np.eye(3)
    ),
    "CAR": lambda: pm.CAR.dist(np.zeros(3), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0.5, 1.0),
    "CustomDist": lambda: pm.CustomDist.dist(
        7.0, random=lambda mean, rng=None, size=None: rng.normal(mean, 0.1, size=size), size=3
    ),
}


@pytest.fixture(scope="module")
def draws():
    """Return one draw of each distribution, all of one program."""
    made = [dist() for dist, _ in UNIVARIATE.values()] + [dist() for dist in OTHERS.values()]
    drawn = pytensor.function([], made, mode=jax_mode())()
    for x, variable in zip(drawn, made, strict=True):
        assert x.dtype == variable.dtype
        assert np.isfinite(x).all()
    return dict(zip([*UNIVARIATE, *OTHERS], map(np.asarray, drawn), strict=True))


@pytest.mark.by_default("Wald", "SkewNormal", "Moyal", "Rice", "VonMises")
@pytest.mark.parametrize("name", [n for n, (_, law) in UNIVARIATE.items() if law])
def test_distribution(draws, name):
    assert stats.kstest(draws[name], UNIVARIATE[name][1].cdf).pvalue > 0.001


def test_truncated(draws):
    gamma = stats.gamma(2)
    low, high = gamma.cdf([1, 3])
    law = stats.kstest(draws["Truncated"], lambda x: (gamma.cdf(x) - low) / (high - low))
    assert law.pvalue > 0.001


def test_mixture(draws):
    assert 0.45 < (draws["NormalMixture"] > 4.5).mean() < 0.55


def test_others(draws):
    assert sorted(set(draws["DiscreteUniform"])) == [2, 3, 4, 5, 6, 7]
    assert ((draws["Interpolated"] >= 0) & (draws["Interpolated"] <= 2)).all()
    np.testing.assert_allclose(draws["StickBreakingWeights"].sum(-1), 1)
    assert draws["MatrixNormal"].shape == (2, 3)
    assert draws["CAR"].shape == (3,)
    assert (abs(draws["CustomDist"] - 7) < 1).all()
