"""PyMC models in mode ONNX: their densities, gradients and draws.

    python -m tests.link.onnx.pymc_models [--what density,draws] [name ...]

Prints a line for each model and a count.  A density and its gradient are compared with
``FAST_COMPILE`` at the initial point, near it and far from it: values, infinities and NaN alike.
Draws are compared with the exact law where it is known, else with draws of PyMC.
"""

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import onnxruntime
import pymc as pm
import scipy.stats as st

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode, get_mode
from pytensor.link.onnx import UnsupportedOpError, export_onnx

MODELS = {}
# Laws of entries of a model's draws: (draws of all variables -> sample, distribution of scipy).
LAWS = {}
# Distances from the initial point, of every coordinate.
NEAR, FAR = (0.1, 1.0), (5.0, 30.0, 300.0, 2000.0)
TOLERANCE = 1e-9


def model(function):
    """Register a function that adds variables to the model around it."""
    MODELS[function.__name__] = function
    return function


def law(name, sample, distribution):
    LAWS.setdefault(name, []).append((sample, distribution))


def build(name):
    with pm.Model() as result:
        MODELS[name](np.random.default_rng(7))
    return result


# Regressions


@model
def linear(rng):
    x = rng.normal(size=(30, 3))
    beta = pm.Normal("beta", 0, 2, shape=3)
    sigma = pm.HalfNormal("sigma", 1)
    pm.Normal("y", x @ beta, sigma, observed=x.sum(1))


law("linear", lambda d: d["beta"][:, 1], st.norm(0, 2))
law("linear", lambda d: d["sigma"], st.halfnorm())


@model
def robust(rng):
    x = rng.normal(size=25)
    a, b = pm.Normal("a", 0, 5), pm.Normal("b", 0, 5)
    nu = pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu=nu, mu=a + b * x, sigma=pm.HalfCauchy("s", 2), observed=2 * x + 1)


law("robust", lambda d: d["nu"], st.gamma(2, scale=10))
law("robust", lambda d: d["s"], st.halfcauchy(scale=2))


@model
def logistic(rng):
    x = rng.normal(size=(40, 2))
    w = pm.Laplace("w", 0, 1, shape=2)
    pm.Bernoulli("y", logit_p=x @ w, observed=rng.integers(0, 2, 40))


law("logistic", lambda d: d["w"][:, 0], st.laplace())


@model
def probit(rng):
    x = rng.normal(size=40)
    w = pm.Cauchy("w", 0, 1)
    pm.Bernoulli("y", p=pm.math.invprobit(w * x), observed=rng.integers(0, 2, 40))


law("probit", lambda d: d["w"], st.cauchy())


@model
def poisson(rng):
    x = rng.normal(size=20)
    b = pm.Normal("b", 0, 0.5)
    pm.Poisson("y", pt.exp(0.5 + b * x), observed=rng.poisson(2, 20))


@model
def negative_binomial(rng):
    mu = pm.LogNormal("mu", 0.3, 0.5)
    alpha = pm.Exponential("alpha", 0.7)
    pm.NegativeBinomial("y", mu=mu, alpha=alpha, observed=rng.poisson(3, 20))


law("negative_binomial", lambda d: d["mu"], st.lognorm(0.5, scale=np.exp(0.3)))


@model
def gamma_regression(rng):
    mu = pm.InverseGamma("mu", 3, 2)
    pm.Gamma("y", mu=mu, sigma=pm.HalfStudentT("s", 4, 1), observed=rng.gamma(2, size=12))


law("gamma_regression", lambda d: d["mu"], st.invgamma(3, scale=2))


@model
def beta_regression(rng):
    x = rng.normal(size=15)
    w = pm.Normal("w", 0, 1)
    kappa = pm.ChiSquared("kappa", 4)
    mu = pm.math.invlogit(w * x)
    pm.Beta("y", mu * kappa, (1 - mu) * kappa, observed=rng.beta(2, 3, 15))


law("beta_regression", lambda d: d["kappa"], st.chi2(4))


@model
def binomial(rng):
    p = pm.Beta("p", 2, 3)
    pm.Binomial("y", 12, p, observed=rng.binomial(12, 0.4, 9))


law("binomial", lambda d: d["p"], st.beta(2, 3))
law("binomial", lambda d: d["y"][:, 0], st.betabinom(12, 2, 3))


@model
def beta_binomial(rng):
    a, b = pm.Gamma("a", 2, 1), pm.Gamma("b", 2, 1)
    pm.BetaBinomial("y", a, b, 10, observed=rng.binomial(10, 0.4, 9))


@model
def softmax_regression(rng):
    x = rng.normal(size=(20, 2))
    w = pm.Normal("w", shape=(2, 3))
    pm.Categorical("y", logit_p=x @ w, observed=rng.integers(0, 3, 20))


@model
def ordered_logistic(rng):
    # Draws must be in order too, so a transform of the values wouldn't do.
    gaps = pm.HalfNormal("gaps", shape=2)
    first = pm.Normal("first", -1, 2)
    cuts = pt.concatenate([[first], first + gaps.cumsum()])
    b = pm.Normal("b")
    pm.OrderedLogistic(
        "y", cutpoints=cuts, eta=b * rng.normal(size=20), observed=rng.integers(0, 4, 20)
    )


@model
def ordered_probit(rng):
    b = pm.Normal("b")
    pm.OrderedProbit(
        "y",
        cutpoints=np.array([-1.0, 0.3]),
        eta=b * rng.normal(size=20),
        observed=rng.integers(0, 3, 20),
    )


@model
def quantile(rng):
    b = pm.Normal("b", 0, 2)
    pm.AsymmetricLaplace("y", kappa=1.5, mu=b, b=1.2, observed=rng.normal(size=10))


@model
def horseshoe(rng):
    x = rng.normal(size=(15, 4))
    tau = pm.HalfCauchy("tau", 1)
    lam = pm.HalfCauchy("lam", 1, shape=4)
    z = pm.Normal("z", shape=4)
    pm.Normal("y", x @ (z * tau * lam), 1, observed=x[:, 0])


# Hierarchies


@model
def eight_schools(rng):
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    s = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, s, observed=y)


@model
def varying_intercepts(rng):
    group = rng.integers(0, 5, 30)
    mu, sigma = pm.Normal("mu"), pm.Exponential("sigma", 1)
    z = pm.Normal("z", shape=5)
    noise = pm.HalfNormal("noise")
    pm.Normal("y", (mu + sigma * z)[group], noise, observed=rng.normal(size=30))


@model
def lkj_cholesky(rng):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1.0))
    pm.MvNormal("y", mu=np.zeros(3), chol=chol, observed=rng.normal(size=(10, 3)))


@model
def lkj_correlation(rng):
    pm.LKJCorr("c", n=3, eta=2.0)


def correlations(draws):
    factor = draws["c"]
    return (factor @ np.swapaxes(factor, -1, -2))[:, 2, 1]


# Lewandowski, Kurowicka & Joe 2009: each is a beta number on (-1, 1).
law("lkj_correlation", correlations, st.beta(2.5, 2.5, -1, 2))


@model
def irt_2pl(rng):
    person, item = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)
    theta = pm.Normal("theta", shape=8)
    a, b = pm.LogNormal("a", 0, 0.5, shape=5), pm.Normal("b", shape=5)
    p = pm.math.sigmoid(a[item] * (theta[person] - b[item]))
    pm.Bernoulli("y", p=p, observed=rng.integers(0, 2, 40))


@model
def irt_2pl_logit(rng):
    person, item = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)
    theta = pm.Normal("theta", shape=8)
    a, b = pm.HalfNormal("a", shape=5), pm.Normal("b", shape=5)
    pm.Bernoulli("y", logit_p=a[item] * (theta[person] - b[item]), observed=rng.integers(0, 2, 40))


@model
def bradley_terry(rng):
    skill = pm.ZeroSumNormal("skill", sigma=1.5, shape=6)
    a, b = rng.integers(0, 6, 20), rng.integers(0, 6, 20)
    pm.Bernoulli("y", logit_p=skill[a] - skill[b], observed=rng.integers(0, 2, 20))


law("bradley_terry", lambda d: d["skill"][:, 2], st.norm(0, 1.5 * np.sqrt(5 / 6)))


# Mixtures, zero inflation, hurdles


@model
def normal_mixture(rng):
    w = pm.Dirichlet("w", np.array([2.0, 1.0, 3.0]))
    mu = pm.Normal("mu", np.array([-3.0, 0.0, 3.0]), 1)
    pm.NormalMixture("y", w, mu, sigma=0.7, observed=rng.normal(size=20))


law("normal_mixture", lambda d: d["w"][:, 0], st.beta(2, 4))


@model
def poisson_mixture(rng):
    w = pm.Dirichlet("w", np.ones(2))
    rate = pm.Gamma("rate", 2, 0.5, shape=2)
    pm.Mixture("y", w, pm.Poisson.dist(rate), observed=rng.poisson(3, 15))


@model
def stick_breaking(rng):
    v = pm.Beta("v", 1, 2, shape=4)
    rest = pt.concatenate([[1.0], pt.cumprod(1 - v)[:-1]])
    w = v * rest
    mu = pm.Normal("mu", 0, 3, shape=4)
    pm.NormalMixture("y", w / w.sum(), mu, sigma=1, observed=rng.normal(size=12))


@model
def stick_breaking_weights(rng):
    w = pm.StickBreakingWeights("w", alpha=2.0, K=3)
    pm.Multinomial("y", 9, w, observed=np.array([3, 2, 2, 2]))


law("stick_breaking_weights", lambda d: d["w"][:, 0], st.beta(1, 2))
law(
    "stick_breaking_weights",
    lambda d: d["w"][:, 1] / (1 - d["w"][:, 0]),
    st.beta(1, 2),
)


@model
def zero_inflated_poisson(rng):
    pm.ZeroInflatedPoisson(
        "y", pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1), observed=rng.poisson(1, 20)
    )


@model
def zero_inflated_negative_binomial(rng):
    psi, mu = pm.Uniform("psi"), pm.Gamma("mu", 2, 1)
    pm.ZeroInflatedNegativeBinomial("y", psi, mu=mu, alpha=1.5, observed=rng.poisson(1, 20))


@model
def hurdle_gamma(rng):
    y = np.where(rng.random(15) < 0.4, 0, rng.gamma(2, size=15))
    pm.HurdleGamma("y", pm.Beta("psi", 2, 2), alpha=pm.Gamma("a", 3, 1), beta=1.3, observed=y)


@model
def hurdle_poisson(rng):
    pm.HurdlePoisson("y", pm.Beta("psi", 2, 2), pm.Gamma("mu", 3, 1), observed=rng.poisson(1, 15))


# Censored and truncated


@model
def censored(rng):
    y = np.clip(rng.normal(size=20), -0.5, 1.0)
    normal = pm.Normal.dist(pm.Normal("mu"), pm.HalfNormal("s"))
    pm.Censored("y", normal, lower=-0.5, upper=1.0, observed=y)


@model
def truncated(rng):
    mu = pm.Normal("mu", 0, 1)
    pm.Truncated("y", pm.Gamma.dist(3, 1), lower=0.5, upper=4.0)
    pm.TruncatedNormal("z", mu=mu, sigma=1, lower=-1, upper=2, observed=rng.uniform(-1, 2, 10))


@model
def truncated_normal(rng):
    pm.TruncatedNormal("both", mu=1.0, sigma=2.0, lower=-1.0, upper=2.5)
    pm.TruncatedNormal("tail", mu=0.0, sigma=1.0, lower=6.0)
    pm.TruncatedNormal("upper", mu=[0.5, -1.0], sigma=[1.0, 0.1], upper=0.0)


law("truncated_normal", lambda d: d["both"], st.truncnorm(-1, 0.75, 1, 2))
law("truncated_normal", lambda d: d["tail"], st.truncnorm(6, np.inf))
law("truncated_normal", lambda d: d["upper"][:, 0], st.truncnorm(-np.inf, -0.5, 0.5, 1))


# Counts of several kinds


@model
def dirichlet_multinomial(rng):
    a = pm.Gamma("a", 2, 1, shape=3)
    y = rng.multinomial(10, [0.2, 0.3, 0.5], 6)
    pm.DirichletMultinomial("y", n=10, a=a, observed=y)


@model
def multinomial(rng):
    p = pm.Dirichlet("p", np.ones(4))
    pm.Multinomial("y", 20, p, observed=rng.multinomial(20, np.ones(4) / 4))


@model
def counts(rng):
    pm.Geometric("geometric", 0.3)
    pm.HyperGeometric("hypergeometric", 20, 8, 6)
    pm.DiscreteUniform("uniform", 2, 9)
    pm.DiscreteWeibull("weibull", 0.6, 1.4)


law("counts", lambda d: d["geometric"], st.geom(0.3))
law("counts", lambda d: d["hypergeometric"], st.hypergeom(20, 8, 6))
law("counts", lambda d: d["uniform"], st.randint(2, 10))


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
    level, noise = pm.HalfNormal("level"), pm.HalfNormal("noise")
    y = rng.normal(size=12).cumsum()

    def step(y, mean, variance, level, noise):
        predicted = variance + level**2
        total = predicted + noise**2
        gain = predicted / total
        score = -0.5 * (pt.log(2 * np.pi * total) + (y - mean) ** 2 / total)
        return mean + gain * (y - mean), (1 - gain) * predicted, score

    _, _, scores = pytensor.scan(
        step,
        sequences=[pt.as_tensor(y)],
        outputs_info=[*pt.constant([0.0, 10.0], dtype="float64"), None],
        non_sequences=[level, noise],
        return_updates=False,
    )
    pm.Potential("score", scores.sum())


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


def points(build_model):
    """(name, point) of values of the free variables, all in the space without bounds."""
    initial = build_model.initial_point(random_seed=1)
    yield "initial", initial
    for distance in (*NEAR, *FAR):
        for number in range(3 if distance in FAR else 2):
            rng = np.random.default_rng([int(10 * distance), number])

            def moved(value, rng=rng, distance=distance):
                step = distance * rng.standard_normal(value.shape)
                if value.dtype.kind == "f":
                    return value + step
                return value + np.clip(np.rint(step), -3, 3).astype(value.dtype)

            yield f"{distance}:{number}", {k: moved(np.asarray(v)) for k, v in initial.items()}


# The graph as built, and the graph that mode ONNX converts, both run by PyTensor Op by Op.
BUILT = "FAST_COMPILE"
# Python's results of fused loops with several outputs can be wrong.
REWRITTEN = Mode("py", get_mode("ONNX").provided_optimizer.excluding("fusion"))
# A difference of no more than so many times what a rounding of the point does is rounding.
ROUNDINGS = 100


def density_differences(name):
    """Where the log-density or its gradient in mode ONNX isn't what PyTensor computes.

    Yields a `Difference` for each such point.
    """
    built = build(name)
    outputs = [built.logp(), built.dlogp()]
    settings = {"on_unused_input": "ignore", "point_fn": True}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        functions = [
            built.compile_fn(outputs, mode=m, **settings) for m in (BUILT, REWRITTEN, "ONNX")
        ]
        for where, point in points(built):
            as_built, as_rewritten, actual = (outcome(f, point) for f in functions)
            errors = difference(as_built, actual), difference(as_rewritten, actual)
            if max(errors) > TOLERANCE:
                loses = has_more_infinities(as_built, actual)
                noise = max(
                    difference(outcome(functions[1], rounded(point, seed)), as_rewritten)
                    for seed in range(5)
                )
                yield Difference(where, *errors, loses, noise)


@dataclass
class Difference:
    """Of one point: from the graph as built, from the same graph, and what rounding does."""

    where: str
    from_built: float
    from_rewritten: float
    loses: bool
    noise: float

    @property
    def is_wrong(self):
        return self.loses or self.from_rewritten > max(TOLERANCE, ROUNDINGS * self.noise)


def rounded(point, seed):
    """The point with every coordinate one rounding off."""
    rng = np.random.default_rng(seed)

    def moved(value):
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return value
        return np.nextafter(value, rng.choice([-np.inf, np.inf], value.shape))

    return {name: moved(value) for name, value in point.items()}


def has_more_infinities(expected, actual):
    """Whether something that was finite in the graph as built is so no longer."""
    if isinstance(expected, str) or isinstance(actual, str):
        return isinstance(actual, str) and not isinstance(expected, str)
    return any(
        (np.isfinite(e) & ~np.isfinite(a)).any() for e, a in zip(expected, actual, strict=True)
    )


def outcome(function, point):
    """Results, or the class of the error of a check."""
    try:
        return [np.atleast_1d(r) for r in function(point)]
    except (pm.distributions.dist_math.ParameterValueError, AssertionError) as error:
        return type(error).__name__


def difference(expected, actual):
    """The largest relative difference; infinite where infinities or NaN lie elsewhere."""
    if isinstance(expected, str) or isinstance(actual, str):
        return 0.0 if expected == actual else np.inf
    worst = 0.0
    for e, a in zip(expected, actual, strict=True):
        finite = np.isfinite(e)
        if not np.array_equal(
            np.where(finite, 0, e), np.where(np.isfinite(a), 0, a), equal_nan=True
        ):
            return np.inf
        if finite.any():
            # The gradient as a whole: an entry may be a difference of others.
            scale = max(1.0, np.abs(e[finite]).max())
            worst = max(worst, (np.abs(e - a)[finite] / scale).max())
    return worst


def draws_of(name, count):
    """Draws of all variables of a model by its exported graph, the parameters drawn anew each."""
    built = build(name)
    variables = built.basic_RVs
    rngs = pm.pytensorf.find_rng_nodes(variables)
    pm.pytensorf.reseed_rngs(rngs, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = export_onnx([], variables)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    runs = [session.run(None, {}) for _ in range(count)]
    names = [variable.name for variable in variables]
    return dict(zip(names, (np.stack(v) for v in zip(*runs, strict=True)), strict=True))


def law_pvalues(name, draws):
    """p-values of the entries whose law is known exactly."""
    for sample, distribution in LAWS.get(name, ()):
        values = sample(draws)
        if hasattr(distribution.dist, "pdf"):
            yield st.kstest(values, distribution.cdf).pvalue
        else:
            mean, variance = distribution.stats("mv")
            z = (values.mean() - mean) / np.sqrt(variance / len(values))
            yield 2 * st.norm.sf(abs(z))


def pymc_pvalues(name, draws):
    """p-values of each entry's draws against PyMC's own, from other states of its generators."""
    built = build(name)
    wanted = pm.draw(built.basic_RVs, draws=len(next(iter(draws.values()))), random_seed=6)
    for variable, theirs in zip(built.basic_RVs, wanted, strict=True):
        ours = draws[variable.name]
        size = min(20, int(np.prod(ours.shape[1:])))
        for x, y in zip(first_entries(ours, size), first_entries(theirs, size), strict=True):
            yield st.ks_2samp(x, y).pvalue


def first_entries(draws, size):
    return draws.reshape(len(draws), -1)[:, :size].T


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all by default: " + ", ".join(MODELS))
    parser.add_argument("--what", default="density,draws")
    parser.add_argument("--count", type=int, default=2000, help="draws of each model")
    arguments = parser.parse_args()
    names = arguments.names or list(MODELS)
    if "density" in arguments.what:
        right = 0
        for name in names:
            try:
                found = list(density_differences(name))
            except UnsupportedOpError as error:
                print(f"density {name}: refused: {str(error).splitlines()[1].strip()}", flush=True)
                continue
            wrong = [d for d in found if d.is_wrong]
            right += not wrong
            others = f", {len(found)} points where FAST_COMPILE differs or rounding decides"
            print(f"density {name}: {wrong or 'right'}{others if found else ''}", flush=True)
        print(f"densities and gradients: {right} of {len(names)} right")
    if "draws" in arguments.what:
        # One false alarm in a hundred runs of everything.
        right, limit = 0, 0.01 / (len(names) * 20)
        for name in names:
            try:
                draws = draws_of(name, arguments.count)
            except UnsupportedOpError as error:
                print(f"draws {name}: refused: {str(error).splitlines()[1].strip()}", flush=True)
                continue
            exact, theirs = list(law_pvalues(name, draws)), list(pymc_pvalues(name, draws))
            is_right = min(exact, default=1.0) > limit and (exact or min(theirs) > limit)
            right += bool(is_right)
            print(
                f"draws {name}: {'right' if is_right else 'WRONG'}; smallest p-value of "
                f"{len(exact)} exact laws {min(exact, default=1):.2g}, of {len(theirs)} entries "
                f"against PyMC's {min(theirs):.2g}",
                flush=True,
            )
        print(f"draws: {right} of {len(names)} right")


if __name__ == "__main__":
    main()
