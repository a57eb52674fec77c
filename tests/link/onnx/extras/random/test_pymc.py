"""Draws of PyMC's own random variables, against the exact laws."""

import numpy as np
import pytest
import scipy.stats as st

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.extras.random.test_random import (
    P_VALUE,
    N,
    chisquare_pvalue,
    draw,
    shared_rng,
)

pm = pytest.importorskip("pymc")

pytestmark = pytest.mark.filterwarnings(
    "ignore::pytensor.link.onnx.errors.DroppedRandomStateWarning",
    "ignore:RandomVariable Ops will stop hiding:DeprecationWarning",
)
CHAIN = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
LAWS = [
    (pm.TruncatedNormal, (1.0, 2.0), {"lower": -1.0, "upper": 2.5}, st.truncnorm(-1, 0.75, 1, 2)),
    (pm.TruncatedNormal, (0.0, 1.0), {"lower": 30.0, "upper": np.inf}, st.truncnorm(30, np.inf)),
    (
        pm.TruncatedNormal,
        (0.0, 2.0),
        {"lower": -np.inf, "upper": -16.0},
        st.truncnorm(-np.inf, -8, 0, 2),
    ),
    (pm.TruncatedNormal, (0.0, 1.0), {"lower": -np.inf, "upper": np.inf}, st.norm()),
    (pm.TruncatedNormal, (0.0, 1.0), {"lower": -3.0, "upper": 9.0}, st.truncnorm(-3, 9)),
    (pm.SkewNormal, (), {"mu": 1.0, "sigma": 2.0, "alpha": 4.0}, st.skewnorm(4, 1, 2)),
    (pm.SkewNormal, (), {"mu": 1.0, "sigma": 2.0, "alpha": -0.5}, st.skewnorm(-0.5, 1, 2)),
    (pm.Rice, (), {"nu": 2.0, "sigma": 1.5}, st.rice(2 / 1.5, scale=1.5)),
    (pm.Wald, (2.0, 3.0), {"alpha": 0.5}, st.invgauss(2 / 3, 0.5, 3)),
    (pm.Moyal, (1.0, 2.0), {}, st.moyal(1, 2)),
    (pm.SkewStudentT, (2.0, 5.0), {"mu": 1.0, "sigma": 2.0}, st.jf_skew_t(2, 5, 1, 2)),
    (pm.VonMises, (0.5, 2.0), {}, st.vonmises(2, 0.5)),
    (pm.ExGaussian, (1.0, 0.7), {"nu": 1.4}, st.exponnorm(2.0, 1.0, 0.7)),
]


@pytest.mark.parametrize(("distribution", "parameters", "named", "law"), LAWS)
def test_laws(distribution, parameters, named, law):
    variable = distribution.dist(*parameters, **named, size=(N,), rng=shared_rng())
    sample = draw(variable, opset=18)
    assert sample.dtype == variable.type.dtype
    assert st.kstest(sample, law.cdf).pvalue > P_VALUE


def test_bounds_of_truncated_normal_vary():
    lower = pt.dvector("lower")
    x = pm.TruncatedNormal.dist(0.0, 1.0, lower=lower, size=(N, 3), rng=shared_rng())
    sample = draw(x, [lower], [[-1.0, 0.0, 8.0]])
    for column, start in zip(sample.T, (-1, 0, 8), strict=True):
        assert st.kstest(column, st.truncnorm(start, np.inf).cdf).pvalue > P_VALUE


def test_discrete_uniform():
    sample = draw(pm.DiscreteUniform.dist(2, 9, size=(N,), rng=shared_rng()))
    assert chisquare_pvalue(sample, st.randint(2, 10)) > P_VALUE


def test_stick_breaking_weights():
    sample = draw(pm.StickBreakingWeights.dist(2.0, 3, size=(N,), rng=shared_rng()))
    assert sample.shape == (N, 4)
    np.testing.assert_allclose(sample.sum(-1), 1)
    left = 1.0
    for k in range(3):
        assert st.kstest(sample[:, k] / left, st.beta(1, 2).cdf).pvalue > P_VALUE
        left = left - sample[:, k]


def check_white(white):
    for column in white.T:
        assert st.kstest(column, "norm").pvalue > P_VALUE
    count = white.shape[1]
    assert np.abs(np.corrcoef(white.T) - np.eye(count)).max() < 4 / np.sqrt(len(white))


def test_matrix_normal():
    rows = np.array([[1.0, 0.0], [0.5, 2.0]])
    columns = np.array([[3.0, 0, 0], [1.0, 2.0, 0], [0.0, 0.5, 1.0]])
    mu = np.arange(6.0).reshape(2, 3)
    x = pm.MatrixNormal.dist(mu, rowchol=rows, colchol=columns, size=(N,), rng=shared_rng())
    white = np.linalg.solve(rows, draw(x) - mu) @ np.linalg.inv(columns.T)
    check_white(white.reshape(N, 6))


def test_car():
    """By the precision of its density: see thoughts/upstream/pymc-car-draws.md."""
    mu = np.arange(4.0)
    x = pm.CAR.dist(mu, CHAIN, alpha=0.6, tau=2.0, size=(N,), rng=shared_rng())
    precision = 2.0 * (np.diag(CHAIN.sum(0)) - 0.6 * CHAIN)
    check_white((draw(x) - mu) @ np.linalg.cholesky(precision))


def test_correlations_of_lkj():
    """Each is a beta number on (-1, 1): Lewandowski, Kurowicka & Joe 2009."""
    factor = draw(pm.LKJCorr.dist(3, 2.0, size=(N,), rng=shared_rng()))
    matrices = factor @ np.swapaxes(factor, -1, -2)
    for i, j in ((1, 0), (2, 0), (2, 1)):
        assert st.kstest(matrices[:, i, j], st.beta(2.5, 2.5, -1, 2).cdf).pvalue > P_VALUE


def test_others_are_refused():
    with pytest.raises(UnsupportedOpError, match=r"polyagamma.*no converter is registered"):
        export_onnx([], pm.PolyaGamma.dist(2.0, 0.5, rng=shared_rng()))
