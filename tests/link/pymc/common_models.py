"""Twelve models as PyMC's users write them, of sizes that they have."""

import numpy as np
import pymc as pm

import pytensor
import pytensor.tensor as pt

__all__ = ["MODELS", "build", "model"]

MODELS = {}


def model(function):
    """Register a function that adds variables to the model around it, and takes a generator."""
    MODELS[function.__name__] = function
    return function


def build(name):
    """Return the model of a name; the data are drawn from the same seed each time."""
    with pm.Model() as built:
        MODELS[name](np.random.default_rng(7))
    return built


@model
def hierarchical_regression(rng):
    """Model the intercepts and slopes of 200 groups."""
    group, x = rng.integers(0, 200, 1000), rng.normal(size=1000)
    mean, spread = pm.Normal("mean", 0, 2, shape=2), pm.HalfNormal("spread", 1, shape=2)
    z = pm.Normal("z", shape=(200, 2))
    effects = pm.Deterministic("effects", mean + spread * z)
    mu = effects[group, 0] + effects[group, 1] * x
    y = 1 + 0.5 * x + rng.normal(size=200)[group] + rng.normal(size=1000)
    pm.Normal("y", mu, pm.HalfNormal("noise", 1), observed=y)


@model
def eight_schools(rng):
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    error = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = pm.Normal("mu", 0, 5), pm.HalfCauchy("tau", 5)
    z = pm.Normal("z", shape=8)
    pm.Normal("y", pm.Deterministic("theta", mu + tau * z), error, observed=y)


@model
def logistic(rng):
    x = rng.normal(size=(500, 20))
    weights = pm.Normal("weights", 0, 1, shape=20)
    logit = pm.Normal("bias", 0, 2) + x @ weights
    pm.Bernoulli("y", logit_p=logit, observed=rng.random(500) < 1 / (1 + np.exp(-x[:, 0])))


@model
def poisson_regression(rng):
    x, exposure = rng.normal(size=(500, 10)), rng.uniform(1, 5, 500)
    weights = pm.Normal("weights", 0, 0.5, shape=10)
    rate = pt.exp(pm.Normal("bias") + x @ weights) * exposure
    pm.Poisson("y", rate, observed=rng.poisson(exposure * np.exp(0.3 * x[:, 0])))


@model
def ordinal(rng):
    x = rng.normal(size=(300, 3))
    cuts = pm.Normal(
        "cuts", 0, 2, shape=4, transform=pm.distributions.transforms.ordered,
        initval=np.linspace(-1, 1, 4),
    )  # fmt: skip
    weights = pm.Normal("weights", shape=3)
    pm.OrderedLogistic("y", cutpoints=cuts, eta=x @ weights, observed=rng.integers(0, 5, 300))


@model
def hilbert_space_gp(rng):
    x = np.linspace(-1, 1, 200)
    length, scale = pm.LogNormal("length", -1, 0.5), pm.HalfNormal("scale")
    gp = pm.gp.HSGP(m=[30], c=1.5, cov_func=scale**2 * pm.gp.cov.Matern52(1, length))
    f = gp.prior("f", X=x[:, None])
    pm.Normal("y", f, pm.HalfNormal("noise"), observed=np.sin(4 * x) + rng.normal(size=200) / 4)


@model
def gp_marginal(rng):
    """Model a Gaussian process with a covariance of 50 x 50."""
    x = np.linspace(0, 1, 50)
    length, scale = pm.InverseGamma("length", 3, 1), pm.HalfNormal("scale")
    gp = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
    y = np.sin(5 * x) + rng.normal(size=50) / 5
    gp.marginal_likelihood("y", X=x[:, None], y=y, sigma=pm.HalfNormal("noise"))


@model
def local_level(rng, steps=100):
    """Model a local level by a Kalman filter, by scan."""
    y = rng.normal(size=steps).cumsum()
    level, noise = pm.HalfNormal("level"), pm.HalfNormal("noise")

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


@model
def mixture(rng):
    weights = pm.Dirichlet("weights", np.ones(3))
    mu = pm.Normal("mu", np.array([-3.0, 0.0, 3.0]), 1)
    sigma = pm.HalfNormal("sigma", 1, shape=3)
    y = rng.normal(size=300) + 3 * rng.integers(-1, 2, 300)
    pm.NormalMixture("y", weights, mu, sigma=sigma, observed=y)


@model
def correlated_normal(rng):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=4, eta=2, sd_dist=pm.Exponential.dist(1.0))
    pm.MvNormal("y", pm.Normal("mu", shape=4), chol=chol, observed=rng.normal(size=(100, 4)))


@model
def negative_binomial(rng):
    """Model the counts of 100 groups."""
    group = rng.integers(0, 100, 600)
    mean, spread = pm.Normal("mean", 1, 1), pm.HalfNormal("spread", 1)
    effects = pm.Normal("effects", mean, spread, shape=100)
    alpha = pm.Exponential("alpha", 0.5)
    pm.NegativeBinomial("y", mu=pt.exp(effects)[group], alpha=alpha, observed=rng.poisson(3, 600))


@model
def censored_survival(rng):
    x, time = rng.normal(size=(200, 2)), rng.weibull(1.5, 200)
    scale = pt.exp(pm.Normal("bias") + x @ pm.Normal("weights", shape=2))
    lifetime = pm.Weibull.dist(alpha=pm.Gamma("shape", 3, 2), beta=scale)
    pm.Censored("y", lifetime, lower=None, upper=1.0, observed=np.minimum(time, 1.0))
