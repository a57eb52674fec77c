"""PyMC models: regressions, hierarchies, mixtures, censoring and counts."""

import numpy as np
import pymc as pm
import scipy.stats as st

import pytensor.tensor as pt
from tests.link.onnx.pymc_registry import law, model

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
