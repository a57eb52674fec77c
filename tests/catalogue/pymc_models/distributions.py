"""PyMC models: continuous distributions, vectors and matrices."""

import numpy as np
import pymc as pm
import scipy.stats as st

import pytensor.tensor as pt
from tests.catalogue.pymc_models.registry import law, model


@model(small={})
def skew_normal(rng):
    alpha = pm.Normal("alpha", 0, 2)
    pm.SkewNormal("x", mu=1.0, sigma=2.0, alpha=4.0)
    pm.SkewNormal("y", mu=pm.Normal("mu"), sigma=1.3, alpha=alpha, observed=rng.normal(size=10))


law("skew_normal", lambda d: d["x"], st.skewnorm(4, 1, 2))


@model(small={})
def skew_student(rng):
    pm.SkewStudentT("y", a=2.0, b=5.0, mu=1.0, sigma=2.0)


law("skew_student", lambda d: d["y"], st.jf_skew_t(2, 5, 1, 2))


@model(large={})
def skewed(rng):
    mu, alpha = pm.Normal("mu"), pm.Normal("alpha", 0, 2, shape=50)
    group, y = rng.integers(0, 50, 200), rng.normal(size=200)
    pm.SkewNormal("y1", mu=mu, sigma=1.3, alpha=alpha[group], observed=y)
    pm.ExGaussian("y2", mu=mu, sigma=0.7, nu=pm.HalfNormal("nu"), observed=y)
    pm.AsymmetricLaplace("y3", kappa=1.5, mu=mu, b=1.2, observed=y)
    pm.SkewStudentT("y4", a=pm.Gamma("a", 3, 1), b=5.0, mu=mu, sigma=2.0, observed=y)


@model(small={})
def von_mises(rng):
    mu = pm.VonMises("mu", 0.5, 2.0)
    kappa = pm.Gamma("kappa", 2, 0.2)
    pm.VonMises("y", mu, kappa, observed=rng.vonmises(0.3, 3, 15))


law("von_mises", lambda d: d["mu"], st.vonmises(2, 0.5))


@model(large={})
def directions(rng):
    mu, kappa = pm.VonMises("mu", 0.5, 2.0), pm.Gamma("kappa", 2, 0.2, shape=40)
    pm.VonMises("y", mu, kappa[rng.integers(0, 40, 200)], observed=rng.vonmises(0.3, 3, 200))


@model(small={})
def rice(rng):
    nu, sigma = pm.HalfNormal("nu", 3), pm.HalfNormal("sigma", 2)
    pm.Rice("x", nu=2.0, sigma=1.5)
    pm.Rice("y", nu=nu, sigma=sigma, observed=st.rice(2).rvs(12, random_state=rng))


law("rice", lambda d: d["x"], st.rice(2 / 1.5, scale=1.5))


@model(small={})
def wald(rng):
    pm.Wald("x", mu=2.0, lam=3.0, alpha=0.5)
    mu, lam = pm.Gamma("mu", 3, 1), pm.Gamma("lam", 3, 1)
    pm.Wald("y", mu=mu, lam=lam, observed=rng.wald(2, 3, 12))


law("wald", lambda d: d["x"], st.invgauss(2 / 3, 0.5, 3))


@model(small={})
def ex_gaussian(rng):
    pm.ExGaussian("y", mu=pm.Normal("mu"), sigma=0.7, nu=pm.HalfNormal("nu"), observed=[0.3, 2.0])
    pm.ExGaussian("x", mu=1.0, sigma=0.7, nu=1.4)


law("ex_gaussian", lambda d: d["x"], st.exponnorm(2.0, 1.0, 0.7))


@model(small={})
def bounded(rng):
    pm.Triangular("triangular", -1, 4, 0.5)
    pm.Uniform("uniform", -2, 3)
    pm.Kumaraswamy("kumaraswamy", 2, 3)
    pm.LogitNormal("logitnormal", 0.3, 0.8)
    pm.Interpolated("interpolated", np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.1, 0.5, 0.5, 0.0]))


law("bounded", lambda d: d["triangular"], st.triang(0.3, -1, 5))
law("bounded", lambda d: d["kumaraswamy"] ** 2, st.beta(1, 3))
law("bounded", lambda d: np.log(d["logitnormal"] / (1 - d["logitnormal"])), st.norm(0.3, 0.8))


@model(small={})
def positive_numbers(rng):
    pm.Weibull("weibull", 1.7, 2.0)
    pm.Pareto("pareto", 2.5, 3.0)
    pm.HalfStudentT("t", nu=3, sigma=2)
    pm.InverseGamma("inverse", 3, 2)


law("positive_numbers", lambda d: d["weibull"], st.weibull_min(1.7, scale=2))
law("positive_numbers", lambda d: d["pareto"], st.pareto(2.5, scale=3))


@model(large={})
def positive(rng):
    a, b = pm.Gamma("a", 3, 1, shape=30), pm.LogNormal("b", 0, 0.5)
    y = rng.gamma(2, size=(64, 30)) + 0.1
    pm.Gamma("y1", a, b, observed=y)
    pm.InverseGamma("y2", a, b, observed=y)
    pm.Wald("y3", mu=a, lam=b, observed=y)
    pm.Weibull("y4", a, b, observed=y)
    pm.Rice("y5", nu=a, sigma=b, observed=y)
    pm.Moyal("y6", mu=a, sigma=b, observed=y)


@model(small={})
def real(rng):
    pm.Logistic("logistic", 1, 2)
    pm.Gumbel("gumbel", 1, 2)
    pm.Moyal("moyal", 1, 2)
    pm.StudentT("t", nu=3, mu=1, sigma=2)


law("real", lambda d: d["logistic"], st.logistic(1, 2))
law("real", lambda d: d["gumbel"], st.gumbel_r(1, 2))
law("real", lambda d: d["moyal"], st.moyal(1, 2))


@model(small={})
def mv_student(rng):
    pm.MvStudentT("y", nu=5, mu=pm.Normal("mu", shape=2), scale=[[2.0, 0.5], [0.5, 1.0]])


@model(small={})
def wishart_matrix(rng):
    pm.Wishart("w", nu=6, V=np.array([[2.0, 0.5], [0.5, 1.0]]))


law("wishart_matrix", lambda d: d["w"][:, 0, 0], st.chi2(6, scale=2))


@model(large={})
def wishart(rng):
    precision = pm.Wishart("precision", nu=12, V=np.eye(5) / 12, initval=np.eye(5))
    pm.MvNormal("y", pm.Normal("mu", shape=5), tau=precision, observed=rng.normal(size=(64, 5)))


@model(small={})
def matrix_normal_of_known_moments(rng):
    rows = np.array([[1.0, 0.5], [0.5, 2.0]])
    columns = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    pm.MatrixNormal("y", mu=np.arange(6.0).reshape(2, 3), rowcov=rows, colcov=columns)


law("matrix_normal_of_known_moments", lambda d: d["y"][:, 1, 0], st.norm(3, np.sqrt(6)))
law(
    "matrix_normal_of_known_moments",
    lambda d: d["y"][:, 0, 1] + d["y"][:, 1, 1],
    st.norm(5, np.sqrt(8)),
)


@model(large={})
def matrix_normal(rng):
    chol, _, _ = pm.LKJCholeskyCov("rows", n=12, eta=2, sd_dist=pm.Exponential.dist(1.0))
    mu = pm.Normal("mu", shape=(12, 30))
    columns = np.eye(30) + 0.2
    pm.MatrixNormal("y", mu=mu, rowchol=chol, colcov=columns, observed=rng.normal(size=(12, 30)))


@model(small={})
def kronecker_normal_of_known_moments(rng):
    k1, k2 = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    y = rng.normal(size=4)
    pm.KroneckerNormal("y", mu=pm.Normal("m", shape=4), covs=[k1, k2], sigma=0.4, observed=y)


@model(large={})
def kronecker_normal(rng):
    x = np.linspace(0, 1, 12)
    # Eigenvalues that lie apart, for PyTensor's gradient of eigh divides by their differences.
    cov = pt.exp(-np.abs(x[:, None] - x) / pm.Gamma("length", 3, 3))
    other = np.diag(np.arange(1.0, 11)) + 0.3
    y = rng.normal(size=120)
    mu = pm.Normal("mu", shape=120)
    pm.KroneckerNormal("y", mu=mu, covs=[cov, other], sigma=0.4, observed=y)


def grid(rows, columns):
    """Return who is whose neighbour on a grid."""
    place = np.arange(rows * columns).reshape(rows, columns)
    weights = np.zeros((rows * columns,) * 2)
    for one, other in ((place[1:], place[:-1]), (place[:, 1:], place[:, :-1])):
        weights[one.ravel(), other.ravel()] = weights[other.ravel(), one.ravel()] = 1
    return weights


@model(small={})
def car_of_known_weights(rng):
    alpha, tau = pm.Uniform("alpha"), pm.Gamma("tau", 2, 1)
    pm.CAR("x", mu=np.arange(4.0), W=CHAIN, alpha=0.6, tau=2.0)
    pm.CAR("y", mu=np.zeros(4), W=CHAIN, alpha=alpha, tau=tau, observed=rng.normal(size=4))


CHAIN = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
CAR_COVARIANCE = np.linalg.inv(2 * (np.diag(CHAIN.sum(0)) - 0.6 * CHAIN))


for weights in (np.array([1.0, 0, 0, 0]), np.array([0.0, 1, -1, 0]), np.array([1.0, 1, 1, 1])):
    law(
        "car_of_known_weights",
        lambda d, weights=weights: d["x"] @ weights,
        st.norm(np.arange(4.0) @ weights, np.sqrt(weights @ CAR_COVARIANCE @ weights)),
    )


@model(large={})
def car(rng):
    alpha, tau = pm.Beta("alpha", 5, 2), pm.Gamma("tau", 2, 1)
    phi = pm.CAR("phi", mu=np.zeros(100), W=grid(10, 10), alpha=alpha, tau=tau)
    pm.Poisson("y", pt.exp(pm.Normal("bias") + phi), observed=rng.poisson(2, 100))


@model(small={"rows": 1, "columns": 4}, large={"rows": 10, "columns": 10})
def icar(rng, rows, columns):
    phi = pm.ICAR("phi", W=grid(rows, columns))
    rate = pt.exp(pm.Normal("bias") + pm.HalfNormal("scale") * phi)
    pm.Poisson("y", rate, observed=rng.poisson(2, rows * columns))
