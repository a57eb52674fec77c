"""PyMC models: regressions, hierarchies, mixtures, censoring and counts."""

import warnings

import numpy as np
import pymc as pm
import scipy.stats as st

import pytensor.tensor as pt
from tests.catalogue.pymc_models.registry import law, model


@model(small={})
def linear(rng):
    x = rng.normal(size=(30, 3))
    beta = pm.Normal("beta", 0, 2, shape=3)
    sigma = pm.HalfNormal("sigma", 1)
    pm.Normal("y", x @ beta, sigma, observed=x.sum(1))


law("linear", lambda d: d["beta"][:, 1], st.norm(0, 2))
law("linear", lambda d: d["sigma"], st.halfnorm())


@model(small={})
def robust_line(rng):
    x = rng.normal(size=25)
    a, b = pm.Normal("a", 0, 5), pm.Normal("b", 0, 5)
    nu = pm.Gamma("nu", 2, 0.1)
    pm.StudentT("y", nu=nu, mu=a + b * x, sigma=pm.HalfCauchy("s", 2), observed=2 * x + 1)


law("robust_line", lambda d: d["nu"], st.gamma(2, scale=10))
law("robust_line", lambda d: d["s"], st.halfcauchy(scale=2))


@model(large={})
def robust(rng):
    x, nu = rng.normal(size=(300, 6)), pm.Gamma("nu", 2, 0.1)
    mean = x @ pm.Normal("weights", shape=6)
    pm.StudentT("y", nu=nu, mu=mean, sigma=pm.HalfCauchy("sigma", 2), observed=x.sum(1))
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvStudentT("z", nu=nu, mu=np.zeros(3), chol=chol, observed=rng.normal(size=(64, 3)))


@model(small={})
def logistic_of_laplace(rng):
    x = rng.normal(size=(40, 2))
    w = pm.Laplace("w", 0, 1, shape=2)
    pm.Bernoulli("y", logit_p=x @ w, observed=rng.integers(0, 2, 40))


law("logistic_of_laplace", lambda d: d["w"][:, 0], st.laplace())


@model(large={})
def logistic(rng):
    x = rng.normal(size=(500, 20))
    weights = pm.Normal("weights", 0, 1, shape=20)
    logit = pm.Normal("bias", 0, 2) + x @ weights
    pm.Bernoulli("y", logit_p=logit, observed=rng.random(500) < 1 / (1 + np.exp(-x[:, 0])))


@model(small={})
def probit(rng):
    x = rng.normal(size=40)
    w = pm.Cauchy("w", 0, 1)
    pm.Bernoulli("y", p=pm.math.invprobit(w * x), observed=rng.integers(0, 2, 40))


law("probit", lambda d: d["w"], st.cauchy())


@model(small={"rows": 20, "features": 1}, large={"rows": 500, "features": 10})
def poisson_regression(rng, rows, features):
    x, exposure = rng.normal(size=(rows, features)), rng.uniform(1, 5, rows)
    weights = pm.Normal("weights", 0, 0.5, shape=features)
    rate = pt.exp(pm.Normal("bias") + x @ weights) * exposure
    pm.Poisson("y", rate, observed=rng.poisson(exposure * np.exp(0.3 * x[:, 0])))


@model(small={})
def negative_binomial_of_one_mean(rng):
    mu = pm.LogNormal("mu", 0.3, 0.5)
    alpha = pm.Exponential("alpha", 0.7)
    pm.NegativeBinomial("y", mu=mu, alpha=alpha, observed=rng.poisson(3, 20))


law("negative_binomial_of_one_mean", lambda d: d["mu"], st.lognorm(0.5, scale=np.exp(0.3)))


@model(large={})
def negative_binomial(rng):
    """Model the counts of 100 groups."""
    group = rng.integers(0, 100, 600)
    mean, spread = pm.Normal("mean", 1, 1), pm.HalfNormal("spread", 1)
    effects = pm.Normal("effects", mean, spread, shape=100)
    alpha = pm.Exponential("alpha", 0.5)
    pm.NegativeBinomial("y", mu=pt.exp(effects)[group], alpha=alpha, observed=rng.poisson(3, 600))


@model(small={})
def gamma_regression(rng):
    mu = pm.InverseGamma("mu", 3, 2)
    pm.Gamma("y", mu=mu, sigma=pm.HalfStudentT("s", 4, 1), observed=rng.gamma(2, size=12))


law("gamma_regression", lambda d: d["mu"], st.invgamma(3, scale=2))


@model(small={})
def beta_regression(rng):
    x = rng.normal(size=15)
    w = pm.Normal("w", 0, 1)
    kappa = pm.ChiSquared("kappa", 4)
    mu = pm.math.invlogit(w * x)
    pm.Beta("y", mu * kappa, (1 - mu) * kappa, observed=rng.beta(2, 3, 15))


law("beta_regression", lambda d: d["kappa"], st.chi2(4))


@model(small={})
def binomial(rng):
    p = pm.Beta("p", 2, 3)
    pm.Binomial("y", 12, p, observed=rng.binomial(12, 0.4, 9))


law("binomial", lambda d: d["p"], st.beta(2, 3))
law("binomial", lambda d: d["y"][:, 0], st.betabinom(12, 2, 3))


@model(small={})
def beta_binomial_of_gammas(rng):
    a, b = pm.Gamma("a", 2, 1), pm.Gamma("b", 2, 1)
    pm.BetaBinomial("y", a, b, 10, observed=rng.binomial(10, 0.4, 9))


@model(large={})
def beta_binomial(rng):
    mean, size = pm.Beta("mean", 2, 2, shape=200), pm.Gamma("size", 3, 0.5)
    y = rng.binomial(25, 0.4, 200)
    pm.BetaBinomial("y", mean * size, (1 - mean) * size, 25, observed=y)
    pm.Beta("z", mu=mean, nu=size, observed=rng.beta(2, 3, 200))


@model(
    small={"rows": 20, "features": 2, "classes": 3},
    large={"rows": 300, "features": 8, "classes": 6},
)
def softmax_regression(rng, rows, features, classes):
    x = rng.normal(size=(rows, features))
    logits = x @ pm.Normal("weights", shape=(features, classes)) + pm.Normal("bias", shape=classes)
    pm.Categorical("y", logit_p=logits, observed=rng.integers(0, classes, rows))
    z = rng.multinomial(30, np.ones(classes) / classes, rows)
    pm.Multinomial("z", 30, pm.math.softmax(logits, axis=-1), observed=z)


@model(small={})
def ordered_logistic(rng):
    # Draws must be in order too, so a transform of the values wouldn't do.
    gaps = pm.HalfNormal("gaps", shape=2)
    first = pm.Normal("first", -1, 2)
    cuts = pt.concatenate([[first], first + gaps.cumsum()])
    b = pm.Normal("b")
    pm.OrderedLogistic(
        "y", cutpoints=cuts, eta=b * rng.normal(size=20), observed=rng.integers(0, 4, 20)
    )


@model(large={})
def ordinal(rng):
    x = rng.normal(size=(300, 3))
    cuts = pm.Normal(
        "cuts", 0, 2, shape=4, transform=pm.distributions.transforms.ordered,
        initval=np.linspace(-1, 1, 4),
    )  # fmt: skip
    weights = pm.Normal("weights", shape=3)
    pm.OrderedLogistic("y", cutpoints=cuts, eta=x @ weights, observed=rng.integers(0, 5, 300))


@model(small={"rows": 20}, large={"rows": 300})
def ordered_probit(rng, rows):
    weights = pm.Normal("weights", shape=3)
    pm.OrderedProbit(
        "y", cutpoints=np.array([-1.0, 0.3, 1.2]), eta=rng.normal(size=(rows, 3)) @ weights,
        observed=rng.integers(0, 4, rows),
    )  # fmt: skip


@model(small={})
def quantile(rng):
    b = pm.Normal("b", 0, 2)
    pm.AsymmetricLaplace("y", kappa=1.5, mu=b, b=1.2, observed=rng.normal(size=10))


@model(small={"rows": 15, "features": 4}, large={"rows": 100, "features": 60})
def horseshoe(rng, rows, features):
    x = rng.normal(size=(rows, features))
    tau, lam = pm.HalfCauchy("tau", 1), pm.HalfCauchy("lam", 1, shape=features)
    weights = pm.Normal("z", shape=features) * tau * lam
    pm.Normal("y", x @ weights, 1, observed=x[:, 0])


@model(
    small={"rows": 20, "features": 3, "hidden": 5},
    large={"rows": 200, "features": 10, "hidden": 32},
)
def neural_network(rng, rows, features, hidden):
    x = rng.normal(size=(rows, features))
    h = pt.tanh(x @ pm.Normal("w1", shape=(features, hidden)))
    h = pt.tanh(h @ pm.Normal("w2", shape=(hidden, hidden)))
    logit = h @ pm.Normal("w3", shape=hidden)
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, rows))


@model(small={})
def eight_schools_centred(rng):
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    s = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    theta = pm.Normal("theta", mu, tau, shape=8)
    pm.Normal("y", theta, s, observed=y)


@model(large={})
def eight_schools(rng):
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    error = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    z = pm.Normal("z", shape=8)
    pm.Normal("y", pm.Deterministic("theta", mu + tau * z), error, observed=y)


@model(small={"rows": 30, "groups": 5}, large={"rows": 1000, "groups": 200})
def hierarchical_regression(rng, rows, groups):
    """Model the intercepts and slopes of groups."""
    group, x = rng.integers(0, groups, rows), rng.normal(size=rows)
    mean, spread = pm.Normal("mean", 0, 2, shape=2), pm.HalfNormal("spread", 1, shape=2)
    z = pm.Normal("z", shape=(groups, 2))
    effects = pm.Deterministic("effects", mean + spread * z)
    mu = effects[group, 0] + effects[group, 1] * x
    y = 1 + 0.5 * x + rng.normal(size=groups)[group] + rng.normal(size=rows)
    pm.Normal("y", mu, pm.HalfNormal("noise", 1), observed=y)


@model(small={"rows": 10, "columns": 3}, large={"rows": 100, "columns": 4})
def correlated_normal(rng, rows, columns):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=columns, eta=2, sd_dist=pm.Exponential.dist(1.0))
    pm.MvNormal(
        "y", pm.Normal("mu", shape=columns), chol=chol, observed=rng.normal(size=(rows, columns))
    )


@model(small={})
def lkj_correlation_itself(rng):
    pm.LKJCorr("c", n=3, eta=2.0)


def correlations(draws):
    factor = draws["c"]
    return (factor @ np.swapaxes(factor, -1, -2))[:, 2, 1]


# Lewandowski, Kurowicka & Joe 2009: each is a beta number on (-1, 1).
law("lkj_correlation_itself", correlations, st.beta(2.5, 2.5, -1, 2))


@model(large={})
def lkj_correlation(rng):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=8, eta=1.5, sd_dist=pm.HalfNormal.dist(1.0))
    effects = pm.Normal("z", shape=(8, 120)).T @ chol.T
    group = rng.integers(0, 120, 500)
    mean = (effects[group] * rng.normal(size=(500, 8))).sum(-1)
    pm.Normal("y", mean, 1, observed=rng.normal(size=500))


@model(small={})
def irt_2pl(rng):
    person, item = np.repeat(np.arange(8), 5), np.tile(np.arange(5), 8)
    theta = pm.Normal("theta", shape=8)
    a, b = pm.LogNormal("a", 0, 0.5, shape=5), pm.Normal("b", shape=5)
    p = pm.math.sigmoid(a[item] * (theta[person] - b[item]))
    pm.Bernoulli("y", p=p, observed=rng.integers(0, 2, 40))


@model(small={"persons": 8, "items": 5}, large={"persons": 200, "items": 30})
def item_response(rng, persons, items):
    ability, difficulty = (
        pm.Normal("ability", shape=(persons, 1)),
        pm.Normal("difficulty", shape=items),
    )
    logit = pm.LogNormal("slope", 0, 0.5, shape=items) * (ability - difficulty)
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, (persons, items)))


@model(small={})
def bradley_terry(rng):
    skill = pm.ZeroSumNormal("skill", sigma=1.5, shape=6)
    a, b = rng.integers(0, 6, 20), rng.integers(0, 6, 20)
    pm.Bernoulli("y", logit_p=skill[a] - skill[b], observed=rng.integers(0, 2, 20))


law("bradley_terry", lambda d: d["skill"][:, 2], st.norm(0, 1.5 * np.sqrt(5 / 6)))


@model(large={})
def crossed_effects(rng):
    person, item = pm.ZeroSumNormal("person", shape=150), pm.ZeroSumNormal("item", shape=(40, 3))
    asked = rng.integers(0, 40, 800), rng.integers(0, 3, 800)
    logit = person[rng.integers(0, 150, 800)] + item[asked]
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, 800))


@model(large={})
def factor_analysis(rng):
    loadings, factors = pm.Normal("loadings", shape=(20, 3)), pm.Normal("factors", shape=(3, 300))
    noise = pm.HalfNormal("noise", shape=(20, 1))
    pm.Normal("y", loadings @ factors, noise, observed=rng.normal(size=(20, 300)))


@model(large={})
def sums_over_groups(rng):
    """Model shares of 80 goods in 120 shops, summed by a product with ones, like an index."""
    utility = pm.Normal("utility", shape=(120, 80)) + pm.Normal("good", shape=80)
    total = (pt.exp(utility) @ pt.ones((80, 60))).sum(-1)
    pm.Normal("y", pt.log(total), pm.HalfNormal("noise"), observed=rng.normal(size=120) + 9)


@model(small={"rows": 20}, large={"rows": 300})
def mixture(rng, rows):
    weights = pm.Dirichlet("weights", np.ones(3))
    mu = pm.Normal("mu", np.array([-3.0, 0.0, 3.0]), 1)
    sigma = pm.HalfNormal("sigma", 1, shape=3)
    y = rng.normal(size=rows) + 3 * rng.integers(-1, 2, rows)
    pm.NormalMixture("y", weights, mu, sigma=sigma, observed=y)


law("mixture", lambda d: d["weights"][:, 0], st.beta(1, 2))


@model(large={})
def mixture_of_kinds(rng):
    weights = pm.Dirichlet("weights", np.ones(3))
    kinds = [
        pm.Poisson.dist(pm.Gamma("rate", 2, 0.5)),
        pm.NegativeBinomial.dist(mu=pm.Gamma("mean", 2, 0.5), alpha=pm.Gamma("alpha", 2, 1)),
        pm.Geometric.dist(pm.Beta("p", 2, 2)),
    ]
    pm.Mixture("y", weights, kinds, observed=1 + rng.poisson(3, 200))


@model(small={})
def poisson_mixture(rng):
    w = pm.Dirichlet("w", np.ones(2))
    rate = pm.Gamma("rate", 2, 0.5, shape=2)
    pm.Mixture("y", w, pm.Poisson.dist(rate), observed=rng.poisson(3, 15))


@model(small={})
def stick_breaking_by_hand(rng):
    v = pm.Beta("v", 1, 2, shape=4)
    rest = pt.concatenate([[1.0], pt.cumprod(1 - v)[:-1]])
    w = v * rest
    mu = pm.Normal("mu", 0, 3, shape=4)
    pm.NormalMixture("y", w / w.sum(), mu, sigma=1, observed=rng.normal(size=12))


@model(small={})
def stick_breaking_weights(rng):
    w = pm.StickBreakingWeights("w", alpha=2.0, K=3)
    pm.Multinomial("y", 9, w, observed=np.array([3, 2, 2, 2]))


law("stick_breaking_weights", lambda d: d["w"][:, 0], st.beta(1, 2))
law(
    "stick_breaking_weights",
    lambda d: d["w"][:, 1] / (1 - d["w"][:, 0]),
    st.beta(1, 2),
)


@model(large={})
def stick_breaking(rng):
    weights = pm.StickBreakingWeights("weights", alpha=pm.Gamma("alpha", 2, 1), K=15)
    mu = pm.Normal("mu", 0, 3, shape=16)
    pm.NormalMixture("y", weights, mu, sigma=1.0, observed=rng.normal(size=200) * 3)


@model(small={"rows": 20, "groups": 5}, large={"rows": 300, "groups": 50})
def zero_inflated(rng, rows, groups):
    psi, mu = pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1, shape=groups)
    group = rng.integers(0, groups, rows)
    y = rng.poisson(2, rows) * rng.integers(0, 2, rows)
    pm.ZeroInflatedPoisson("y1", psi, mu[group], observed=y)
    pm.ZeroInflatedNegativeBinomial("y2", psi, mu=mu[group], alpha=1.5, observed=y)
    pm.ZeroInflatedBinomial("y3", psi, n=20, p=pm.Beta("p", 2, 5), observed=np.minimum(y, 20))


@model(small={"rows": 15}, large={"rows": 200})
def hurdle(rng, rows):
    psi, a = pm.Beta("psi", 2, 2), pm.Gamma("a", 3, 1)
    y = np.where(rng.random(rows) < 0.4, 0, rng.gamma(2, size=rows))
    pm.HurdleGamma("y1", psi, alpha=a, beta=1.3, observed=y)
    pm.HurdleLogNormal("y2", psi, mu=pm.Normal("mu"), sigma=a, observed=y)
    pm.HurdlePoisson("y3", psi, a, observed=rng.poisson(1, rows))
    pm.HurdleNegativeBinomial("y4", psi, mu=a, alpha=2.0, observed=rng.poisson(1, rows))


@model(small={"rows": 20, "features": 1}, large={"rows": 200, "features": 5})
def censored(rng, rows, features):
    x = rng.normal(size=(rows, features))
    normal = pm.Normal.dist(x @ pm.Normal("weights", shape=features), pm.HalfNormal("sigma"))
    y = np.clip(rng.normal(size=rows), -0.5, 1.0)
    pm.Censored("y", normal, lower=-0.5, upper=1.0, observed=y)


@model(large={})
def censored_survival(rng):
    x, time = rng.normal(size=(200, 2)), rng.weibull(1.5, 200)
    scale = pt.exp(pm.Normal("bias") + x @ pm.Normal("weights", shape=2))
    lifetime = pm.Weibull.dist(alpha=pm.Gamma("shape", 3, 2), beta=scale)
    pm.Censored("y", lifetime, lower=None, upper=1.0, observed=np.minimum(time, 1.0))


@model(small={})
def survival(rng):
    alpha, scale = pm.Gamma("alpha", 3, 2), pm.Gamma("scale", 3, 1)
    y, event = rng.weibull(1.5, 15), rng.random(15) < 0.7
    pm.Weibull("y", alpha, scale, observed=y[event])
    pm.Potential("alive", -((y[~event] / scale) ** alpha).sum())


@model(small={})
def truncated_gamma(rng):
    mu = pm.Normal("mu", 0, 1)
    pm.Truncated("y", pm.Gamma.dist(3, 1), lower=0.5, upper=4.0)
    pm.TruncatedNormal("z", mu=mu, sigma=1, lower=-1, upper=2, observed=rng.uniform(-1, 2, 10))


@model(small={})
def truncated_normal(rng):
    pm.TruncatedNormal("both", mu=1.0, sigma=2.0, lower=-1.0, upper=2.5)
    pm.TruncatedNormal("tail", mu=0.0, sigma=1.0, lower=6.0)
    pm.TruncatedNormal("upper", mu=[0.5, -1.0], sigma=[1.0, 0.1], upper=0.0)


law("truncated_normal", lambda d: d["both"], st.truncnorm(-1, 0.75, 1, 2))
law("truncated_normal", lambda d: d["tail"], st.truncnorm(6, np.inf))
law("truncated_normal", lambda d: d["upper"][:, 0], st.truncnorm(-np.inf, -0.5, 0.5, 1))


@model(large={})
def truncated(rng):
    mu, sigma = pm.Normal("mu", 0, 1), pm.HalfNormal("sigma", 1)
    y = rng.uniform(-1, 2, 200)
    pm.TruncatedNormal("y1", mu=mu, sigma=sigma, lower=-1, upper=2, observed=y)
    rates = pm.Exponential.dist(pm.Gamma("rate", 2, 1, shape=200))
    pm.Truncated("y2", rates, lower=0.5, upper=4.0, observed=rng.uniform(0.5, 4, 200))


@model(small={"rows": 6, "kinds": 3, "count": 10}, large={"rows": 100, "kinds": 6, "count": 40})
def dirichlet_multinomial(rng, rows, kinds, count):
    a = pm.Gamma("a", 2, 1, shape=kinds)
    y = rng.multinomial(count, np.full(kinds, 1 / kinds), rows)
    pm.DirichletMultinomial("y", n=count, a=a, observed=y)


@model(small={})
def multinomial(rng):
    p = pm.Dirichlet("p", np.ones(4))
    pm.Multinomial("y", 20, p, observed=rng.multinomial(20, np.ones(4) / 4))


@model(small={})
def counts(rng):
    pm.Geometric("geometric", 0.3)
    pm.HyperGeometric("hypergeometric", 20, 8, 6)
    pm.DiscreteUniform("uniform", 2, 9)
    pm.DiscreteWeibull("weibull", 0.6, 1.4)


law("counts", lambda d: d["geometric"], st.geom(0.3))
law("counts", lambda d: d["hypergeometric"], st.hypergeom(20, 8, 6))
law("counts", lambda d: d["uniform"], st.randint(2, 10))


@model(small={})
def change_point(rng):
    y = np.concatenate([rng.poisson(4, 10), rng.poisson(1, 10)])
    when = pm.DiscreteUniform("when", 0, 19)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("y", pt.switch(np.arange(20) < when, early, late), observed=y)


@model(small={})
def missing_values(rng):
    y = np.ma.masked_invalid([0.3, np.nan, 1.2, np.nan, -0.4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pm.Normal("y", pm.Normal("mu"), pm.HalfNormal("s"), observed=y)


@model(small={})
def flat(rng):
    pm.Normal("y", pm.Flat("mu"), pm.HalfFlat("s"), observed=rng.normal(size=8))
