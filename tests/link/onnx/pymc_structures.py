"""PyMC models: continuous distributions, vectors, Gaussian processes, time series and others."""

import warnings

import numpy as np
import pymc as pm
import scipy.stats as st

import pytensor.tensor as pt
from tests.link.onnx.pymc_registry import law, model
from tests.link.pymc import common_models as pymc_models

# Continuous distributions


@model
def skew_normal(rng):
    alpha = pm.Normal("alpha", 0, 2)
    pm.SkewNormal("x", mu=1.0, sigma=2.0, alpha=4.0)
    pm.SkewNormal("y", mu=pm.Normal("mu"), sigma=1.3, alpha=alpha, observed=rng.normal(size=10))


law("skew_normal", lambda d: d["x"], st.skewnorm(4, 1, 2))


@model
def skew_student(rng):
    pm.SkewStudentT("y", a=2.0, b=5.0, mu=1.0, sigma=2.0)


law("skew_student", lambda d: d["y"], st.jf_skew_t(2, 5, 1, 2))


@model
def von_mises(rng):
    mu = pm.VonMises("mu", 0.5, 2.0)
    kappa = pm.Gamma("kappa", 2, 0.2)
    pm.VonMises("y", mu, kappa, observed=rng.vonmises(0.3, 3, 15))


law("von_mises", lambda d: d["mu"], st.vonmises(2, 0.5))


@model
def rice(rng):
    nu, sigma = pm.HalfNormal("nu", 3), pm.HalfNormal("sigma", 2)
    pm.Rice("x", nu=2.0, sigma=1.5)
    pm.Rice("y", nu=nu, sigma=sigma, observed=st.rice(2).rvs(12, random_state=rng))


law("rice", lambda d: d["x"], st.rice(2 / 1.5, scale=1.5))


@model
def wald(rng):
    pm.Wald("x", mu=2.0, lam=3.0, alpha=0.5)
    mu, lam = pm.Gamma("mu", 3, 1), pm.Gamma("lam", 3, 1)
    pm.Wald("y", mu=mu, lam=lam, observed=rng.wald(2, 3, 12))


law("wald", lambda d: d["x"], st.invgauss(2 / 3, 0.5, 3))


@model
def ex_gaussian(rng):
    pm.ExGaussian("y", mu=pm.Normal("mu"), sigma=0.7, nu=pm.HalfNormal("nu"), observed=[0.3, 2.0])
    pm.ExGaussian("x", mu=1.0, sigma=0.7, nu=1.4)


law("ex_gaussian", lambda d: d["x"], st.exponnorm(2.0, 1.0, 0.7))


@model
def bounded(rng):
    pm.Triangular("triangular", -1, 4, 0.5)
    pm.Uniform("uniform", -2, 3)
    pm.Kumaraswamy("kumaraswamy", 2, 3)
    pm.LogitNormal("logitnormal", 0.3, 0.8)
    pm.Interpolated("interpolated", np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.1, 0.5, 0.5, 0.0]))


law("bounded", lambda d: d["triangular"], st.triang(0.3, -1, 5))
law("bounded", lambda d: d["kumaraswamy"] ** 2, st.beta(1, 3))
law("bounded", lambda d: np.log(d["logitnormal"] / (1 - d["logitnormal"])), st.norm(0.3, 0.8))


@model
def positive(rng):
    pm.Weibull("weibull", 1.7, 2.0)
    pm.Pareto("pareto", 2.5, 3.0)
    pm.HalfStudentT("t", nu=3, sigma=2)
    pm.InverseGamma("inverse", 3, 2)


law("positive", lambda d: d["weibull"], st.weibull_min(1.7, scale=2))
law("positive", lambda d: d["pareto"], st.pareto(2.5, scale=3))


@model
def real(rng):
    pm.Logistic("logistic", 1, 2)
    pm.Gumbel("gumbel", 1, 2)
    pm.Moyal("moyal", 1, 2)
    pm.StudentT("t", nu=3, mu=1, sigma=2)


law("real", lambda d: d["logistic"], st.logistic(1, 2))
law("real", lambda d: d["gumbel"], st.gumbel_r(1, 2))
law("real", lambda d: d["moyal"], st.moyal(1, 2))


# Vectors and matrices


@model
def mv_student(rng):
    pm.MvStudentT("y", nu=5, mu=pm.Normal("mu", shape=2), scale=[[2.0, 0.5], [0.5, 1.0]])


@model
def wishart(rng):
    pm.Wishart("w", nu=6, V=np.array([[2.0, 0.5], [0.5, 1.0]]))


law("wishart", lambda d: d["w"][:, 0, 0], st.chi2(6, scale=2))


@model
def matrix_normal(rng):
    rows = np.array([[1.0, 0.5], [0.5, 2.0]])
    columns = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    pm.MatrixNormal("y", mu=np.arange(6.0).reshape(2, 3), rowcov=rows, colcov=columns)


law("matrix_normal", lambda d: d["y"][:, 1, 0], st.norm(3, np.sqrt(6)))
law("matrix_normal", lambda d: d["y"][:, 0, 1] + d["y"][:, 1, 1], st.norm(5, np.sqrt(8)))


@model
def kronecker_normal(rng):
    k1, k2 = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    y = rng.normal(size=4)
    pm.KroneckerNormal("y", mu=pm.Normal("m", shape=4), covs=[k1, k2], sigma=0.4, observed=y)


@model
def car(rng):
    alpha, tau = pm.Uniform("alpha"), pm.Gamma("tau", 2, 1)
    pm.CAR("x", mu=np.arange(4.0), W=CHAIN, alpha=0.6, tau=2.0)
    pm.CAR("y", mu=np.zeros(4), W=CHAIN, alpha=alpha, tau=tau, observed=rng.normal(size=4))


CHAIN = np.array([[0.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
CAR_COVARIANCE = np.linalg.inv(2 * (np.diag(CHAIN.sum(0)) - 0.6 * CHAIN))


for weights in (np.array([1.0, 0, 0, 0]), np.array([0.0, 1, -1, 0]), np.array([1.0, 1, 1, 1])):
    law(
        "car",
        lambda d, weights=weights: d["x"] @ weights,
        st.norm(np.arange(4.0) @ weights, np.sqrt(weights @ CAR_COVARIANCE @ weights)),
    )


@model
def icar(rng):
    phi = pm.ICAR("phi", W=CHAIN)
    pm.Poisson("y", pt.exp(phi * pm.HalfNormal("s")), observed=rng.poisson(2, 4))


# Gaussian processes


@model
def gp_marginal(rng):
    x = np.linspace(0, 1, 8)[:, None]
    length, eta = pm.InverseGamma("length", 3, 1), pm.HalfNormal("eta")
    gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, length))
    gp.marginal_likelihood("y", X=x, y=np.sin(5 * x[:, 0]), sigma=pm.HalfNormal("s"))


@model
def gp_latent(rng):
    x = np.linspace(0, 1, 6)[:, None]
    gp = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, pm.Gamma("length", 3, 5)))
    f = gp.prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=rng.integers(0, 2, 6))


@model
def gp_hsgp(rng):
    x = np.linspace(-1, 1, 12)[:, None]
    gp = pm.gp.HSGP(m=[6], c=1.5, cov_func=pm.gp.cov.ExpQuad(1, pm.LogNormal("length", -1, 0.5)))
    f = gp.prior("f", X=x)
    pm.Normal("y", f, pm.HalfNormal("s"), observed=np.sin(3 * x[:, 0]))


@model
def gp_periodic(rng):
    x = np.linspace(0, 2, 7)[:, None]
    cov = pm.gp.cov.Periodic(1, period=1.0, ls=pm.Gamma("length", 2, 2)) + pm.gp.cov.WhiteNoise(0.1)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=np.sin(6 * x[:, 0]), sigma=0.3)


# Time series


@model
def random_walk(rng):
    s = pm.HalfNormal("s", 0.5)
    walk = pm.GaussianRandomWalk("walk", sigma=s, init_dist=pm.Normal.dist(0, 1), shape=8)
    pm.Normal("y", walk, 1, observed=rng.normal(size=8).cumsum())


@model
def random_walk_of_known_steps(rng):
    pm.GaussianRandomWalk("walk", mu=0.2, sigma=0.5, init_dist=pm.Normal.dist(1, 2), shape=6)


law(
    "random_walk_of_known_steps",
    lambda d: d["walk"][:, 5],
    st.norm(2.0, np.sqrt(4 + 5 * 0.25)),
)


@model
def autoregression(rng):
    rho = pm.Normal("rho", 0, 0.4, shape=2)
    pm.AR("y", rho, sigma=pm.HalfNormal("s"), init_dist=pm.Normal.dist(0, 1), shape=10)


@model
def garch(rng):
    pm.GARCH11(
        "y",
        omega=pm.HalfNormal("omega"),
        alpha_1=pm.Beta("a", 2, 3),
        beta_1=pm.Beta("b", 2, 3),
        initial_vol=1.0,
        shape=8,
    )


@model
def euler_maruyama(rng):
    pm.EulerMaruyama(
        "y",
        dt=0.1,
        sde_fn=lambda x, k: (-k * x, 0.5),
        sde_pars=(pm.LogNormal("k"),),
        init_dist=pm.Normal.dist(0, 1),
        shape=8,
    )


@model
def vector_autoregression(rng):
    data = rng.normal(size=(25, 3)).cumsum(0)
    intercept = pm.Normal("intercept", shape=3)
    lags = pm.Normal("lags", 0, 0.5, shape=(2, 3, 3))
    mean = intercept + data[1:-1] @ lags[0].T + data[:-2] @ lags[1].T
    chol, _, _ = pm.LKJCholeskyCov("noise", n=3, eta=1, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvNormal("y", mu=mean, chol=chol, observed=data[2:])


@model
def local_level(rng):
    pymc_models.local_level(rng, steps=12)


# Others


@model
def survival(rng):
    alpha, scale = pm.Gamma("alpha", 3, 2), pm.Gamma("scale", 3, 1)
    y, event = rng.weibull(1.5, 15), rng.random(15) < 0.7
    pm.Weibull("y", alpha, scale, observed=y[event])
    pm.Potential("alive", -((y[~event] / scale) ** alpha).sum())


@model
def change_point(rng):
    y = np.concatenate([rng.poisson(4, 10), rng.poisson(1, 10)])
    when = pm.DiscreteUniform("when", 0, 19)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pt.switch(np.arange(20) < when, early, late), observed=y)


@model
def missing_values(rng):
    y = np.ma.masked_invalid([0.3, np.nan, 1.2, np.nan, -0.4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pm.Normal("y", pm.Normal("mu"), pm.HalfNormal("s"), observed=y)


@model
def neural_network(rng):
    x = rng.normal(size=(20, 3))
    w1, w2 = pm.Normal("w1", shape=(3, 5)), pm.Normal("w2", shape=5)
    pm.Bernoulli("y", p=pm.math.sigmoid(pt.tanh(x @ w1) @ w2), observed=rng.integers(0, 2, 20))


@model
def flat(rng):
    pm.Normal("y", pm.Flat("mu"), pm.HalfFlat("s"), observed=rng.normal(size=8))
