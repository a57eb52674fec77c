"""More of PyMC's and pymc-extras' distributions, in models of sizes that people have."""

import numpy as np
import pymc as pm

import pytensor.tensor as pt
from tests.link.pymc.common_models import MODELS, build, model

__all__ = ["MODELS", "build"]


def grid(rows, columns):
    """Return who is whose neighbour on a grid."""
    place = np.arange(rows * columns).reshape(rows, columns)
    weights = np.zeros((rows * columns,) * 2)
    for one, other in ((place[1:], place[:-1]), (place[:, 1:], place[:, :-1])):
        weights[one.ravel(), other.ravel()] = weights[other.ravel(), one.ravel()] = 1
    return weights


@model
def car(rng):
    alpha, tau = pm.Beta("alpha", 5, 2), pm.Gamma("tau", 2, 1)
    phi = pm.CAR("phi", mu=np.zeros(100), W=grid(10, 10), alpha=alpha, tau=tau)
    pm.Poisson("y", pt.exp(pm.Normal("bias") + phi), observed=rng.poisson(2, 100))


@model
def icar(rng):
    phi = pm.ICAR("phi", W=grid(10, 10))
    rate = pt.exp(pm.Normal("bias") + pm.HalfNormal("scale") * phi)
    pm.Poisson("y", rate, observed=rng.poisson(2, 100))


@model
def dirichlet_multinomial(rng):
    a = pm.Gamma("a", 2, 1, shape=6)
    y = rng.multinomial(40, np.full(6, 1 / 6), 100)
    pm.DirichletMultinomial("y", n=40, a=a, observed=y)


@model
def lkj_correlation(rng):
    chol, _, _ = pm.LKJCholeskyCov("chol", n=8, eta=1.5, sd_dist=pm.HalfNormal.dist(1.0))
    effects = pm.Normal("z", shape=(8, 120)).T @ chol.T
    group = rng.integers(0, 120, 500)
    mean = (effects[group] * rng.normal(size=(500, 8))).sum(-1)
    pm.Normal("y", mean, 1, observed=rng.normal(size=500))


@model
def stick_breaking(rng):
    weights = pm.StickBreakingWeights("weights", alpha=pm.Gamma("alpha", 2, 1), K=15)
    mu = pm.Normal("mu", 0, 3, shape=16)
    pm.NormalMixture("y", weights, mu, sigma=1.0, observed=rng.normal(size=200) * 3)


@model
def latent_matern(rng):
    x = np.linspace(0, 1, 50)[:, None]
    cov = pm.gp.cov.Matern32(1, pm.Gamma("length", 3, 5)) + pm.gp.cov.WhiteNoise(1e-3)
    f = pm.gp.Latent(cov_func=cov).prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=rng.integers(0, 2, 50))


@model
def periodic_kernels(rng):
    x = np.linspace(0, 4, 50)[:, None]
    cov = pm.gp.cov.Periodic(1, period=1.0, ls=pm.Gamma("length", 2, 2))
    cov = pm.HalfNormal("scale") ** 2 * cov * pm.gp.cov.Matern52(1, pm.Gamma("decay", 3, 1))
    cov += pm.gp.cov.RatQuad(1, alpha=pm.Gamma("alpha", 2, 1), ls=0.7)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=np.sin(6 * x[:, 0]), sigma=pm.HalfNormal("noise"))


@model
def kernels_of_several_inputs(rng):
    x = rng.normal(size=(50, 3))
    cov = pm.gp.cov.ExpQuad(3, pm.Gamma("lengths", 3, 2, shape=3))
    cov += pm.gp.cov.Linear(3, c=pm.Normal("centre", shape=3))
    cov += pm.gp.cov.Polynomial(3, 0.0, 2, 1.0)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=x.sum(1), sigma=pm.HalfNormal("noise"))


@model
def kronecker_gp(rng):
    x, y = np.linspace(0, 1, 12)[:, None], np.linspace(0, 1, 10)[:, None]
    kernels = [pm.gp.cov.Matern32(1, pm.Gamma(f"length{k}", 3, 3)) for k in range(2)]
    gp = pm.gp.MarginalKron(cov_funcs=kernels)
    gp.marginal_likelihood("y", Xs=[x, y], y=rng.normal(size=120), sigma=pm.HalfNormal("noise"))


@model
def autoregression(rng):
    rho = pm.Normal("rho", 0, 0.3, shape=3)
    start = pm.Normal.dist(0, 1)
    latent = pm.AR("latent", rho, sigma=pm.HalfNormal("s"), init_dist=start, shape=200)
    pm.Normal("y", latent, 0.5, observed=rng.normal(size=200).cumsum() / 5)


@model
def garch(rng):
    pm.GARCH11(
        "y", omega=pm.HalfNormal("omega"), alpha_1=pm.Beta("a", 2, 3), beta_1=pm.Beta("b", 2, 3),
        initial_vol=1.0, observed=rng.normal(size=100),
    )  # fmt: skip


@model
def random_walk(rng):
    step = pm.HalfNormal("step", 0.5)
    walk = pm.GaussianRandomWalk("walk", sigma=step, init_dist=pm.Normal.dist(0, 1), shape=200)
    pm.Normal("y", walk, 1, observed=rng.normal(size=200).cumsum() / 10)


@model
def vector_autoregression(rng):
    data = rng.normal(size=(100, 4)).cumsum(0) / 10
    lags = pm.Normal("lags", 0, 0.5, shape=(2, 4, 4))
    mean = pm.Normal("intercept", shape=4) + data[1:-1] @ lags[0].T + data[:-2] @ lags[1].T
    chol, _, _ = pm.LKJCholeskyCov("noise", n=4, eta=1, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvNormal("y", mu=mean, chol=chol, observed=data[2:])


@model
def zero_inflated(rng):
    psi, mu = pm.Beta("psi", 2, 2), pm.Gamma("mu", 2, 1, shape=50)
    group = rng.integers(0, 50, 300)
    y = rng.poisson(2, 300) * rng.integers(0, 2, 300)
    pm.ZeroInflatedPoisson("y1", psi, mu[group], observed=y)
    pm.ZeroInflatedNegativeBinomial("y2", psi, mu=mu[group], alpha=1.5, observed=y)
    pm.ZeroInflatedBinomial("y3", psi, n=20, p=pm.Beta("p", 2, 5), observed=np.minimum(y, 20))


@model
def hurdle(rng):
    psi, a = pm.Beta("psi", 2, 2), pm.Gamma("a", 3, 1)
    y = np.where(rng.random(200) < 0.4, 0, rng.gamma(2, size=200))
    pm.HurdleGamma("y1", psi, alpha=a, beta=1.3, observed=y)
    pm.HurdleLogNormal("y2", psi, mu=pm.Normal("mu"), sigma=a, observed=y)
    pm.HurdlePoisson("y3", psi, a, observed=rng.poisson(1, 200))
    pm.HurdleNegativeBinomial("y4", psi, mu=a, alpha=2.0, observed=rng.poisson(1, 200))


@model
def truncated(rng):
    mu, sigma = pm.Normal("mu", 0, 1), pm.HalfNormal("sigma", 1)
    y = rng.uniform(-1, 2, 200)
    pm.TruncatedNormal("y1", mu=mu, sigma=sigma, lower=-1, upper=2, observed=y)
    rates = pm.Exponential.dist(pm.Gamma("rate", 2, 1, shape=200))
    pm.Truncated("y2", rates, lower=0.5, upper=4.0, observed=rng.uniform(0.5, 4, 200))


@model
def censored(rng):
    x = rng.normal(size=(200, 5))
    normal = pm.Normal.dist(x @ pm.Normal("weights", shape=5), pm.HalfNormal("sigma"))
    y = np.clip(rng.normal(size=200), -0.5, 1.0)
    pm.Censored("y", normal, lower=-0.5, upper=1.0, observed=y)


@model
def mixture_of_kinds(rng):
    weights = pm.Dirichlet("weights", np.ones(3))
    kinds = [
        pm.Poisson.dist(pm.Gamma("rate", 2, 0.5)),
        pm.NegativeBinomial.dist(mu=pm.Gamma("mean", 2, 0.5), alpha=pm.Gamma("alpha", 2, 1)),
        pm.Geometric.dist(pm.Beta("p", 2, 2)),
    ]
    pm.Mixture("y", weights, kinds, observed=1 + rng.poisson(3, 200))


@model
def softmax_regression(rng):
    x = rng.normal(size=(300, 8))
    logits = x @ pm.Normal("weights", shape=(8, 6)) + pm.Normal("bias", shape=6)
    pm.Categorical("y", logit_p=logits, observed=rng.integers(0, 6, 300))
    z = rng.multinomial(30, np.ones(6) / 6, 300)
    pm.Multinomial("z", 30, pm.math.softmax(logits, axis=-1), observed=z)


@model
def ordered_probit(rng):
    weights = pm.Normal("weights", shape=3)
    pm.OrderedProbit(
        "y", cutpoints=np.array([-1.0, 0.3, 1.2]), eta=rng.normal(size=(300, 3)) @ weights,
        observed=rng.integers(0, 4, 300),
    )  # fmt: skip


@model
def wishart(rng):
    precision = pm.Wishart("precision", nu=12, V=np.eye(5) / 12, initval=np.eye(5))
    pm.MvNormal("y", pm.Normal("mu", shape=5), tau=precision, observed=rng.normal(size=(64, 5)))


@model
def kronecker_normal(rng):
    x = np.linspace(0, 1, 12)
    # Eigenvalues that lie apart, for PyTensor's gradient of eigh divides by their differences.
    cov = pt.exp(-np.abs(x[:, None] - x) / pm.Gamma("length", 3, 3))
    other = np.diag(np.arange(1.0, 11)) + 0.3
    y = rng.normal(size=120)
    mu = pm.Normal("mu", shape=120)
    pm.KroneckerNormal("y", mu=mu, covs=[cov, other], sigma=0.4, observed=y)


@model
def matrix_normal(rng):
    chol, _, _ = pm.LKJCholeskyCov("rows", n=12, eta=2, sd_dist=pm.Exponential.dist(1.0))
    mu = pm.Normal("mu", shape=(12, 30))
    columns = np.eye(30) + 0.2
    pm.MatrixNormal("y", mu=mu, rowchol=chol, colcov=columns, observed=rng.normal(size=(12, 30)))


@model
def directions(rng):
    mu, kappa = pm.VonMises("mu", 0.5, 2.0), pm.Gamma("kappa", 2, 0.2, shape=40)
    pm.VonMises("y", mu, kappa[rng.integers(0, 40, 200)], observed=rng.vonmises(0.3, 3, 200))


@model
def skewed(rng):
    mu, alpha = pm.Normal("mu"), pm.Normal("alpha", 0, 2, shape=50)
    group, y = rng.integers(0, 50, 200), rng.normal(size=200)
    pm.SkewNormal("y1", mu=mu, sigma=1.3, alpha=alpha[group], observed=y)
    pm.ExGaussian("y2", mu=mu, sigma=0.7, nu=pm.HalfNormal("nu"), observed=y)
    pm.AsymmetricLaplace("y3", kappa=1.5, mu=mu, b=1.2, observed=y)
    pm.SkewStudentT("y4", a=pm.Gamma("a", 3, 1), b=5.0, mu=mu, sigma=2.0, observed=y)


@model
def robust(rng):
    x, nu = rng.normal(size=(300, 6)), pm.Gamma("nu", 2, 0.1)
    mean = x @ pm.Normal("weights", shape=6)
    pm.StudentT("y", nu=nu, mu=mean, sigma=pm.HalfCauchy("sigma", 2), observed=x.sum(1))
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvStudentT("z", nu=nu, mu=np.zeros(3), chol=chol, observed=rng.normal(size=(64, 3)))


@model
def horseshoe(rng):
    x = rng.normal(size=(100, 60))
    tau, lam = pm.HalfCauchy("tau", 1), pm.HalfCauchy("lam", 1, shape=60)
    weights = pm.Normal("z", shape=60) * tau * lam
    pm.Normal("y", x @ weights, 1, observed=x[:, 0])


@model
def crossed_effects(rng):
    person, item = pm.ZeroSumNormal("person", shape=150), pm.ZeroSumNormal("item", shape=(40, 3))
    asked = rng.integers(0, 40, 800), rng.integers(0, 3, 800)
    logit = person[rng.integers(0, 150, 800)] + item[asked]
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, 800))


@model
def item_response(rng):
    ability, difficulty = pm.Normal("ability", shape=(200, 1)), pm.Normal("difficulty", shape=30)
    logit = pm.LogNormal("slope", 0, 0.5, shape=30) * (ability - difficulty)
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, (200, 30)))


@model
def factor_analysis(rng):
    loadings, factors = pm.Normal("loadings", shape=(20, 3)), pm.Normal("factors", shape=(3, 300))
    noise = pm.HalfNormal("noise", shape=(20, 1))
    pm.Normal("y", loadings @ factors, noise, observed=rng.normal(size=(20, 300)))


@model
def neural_network(rng):
    x = rng.normal(size=(200, 10))
    hidden = pt.tanh(x @ pm.Normal("w1", shape=(10, 32)))
    hidden = pt.tanh(hidden @ pm.Normal("w2", shape=(32, 32)))
    logit = hidden @ pm.Normal("w3", shape=32)
    pm.Bernoulli("y", logit_p=logit, observed=rng.integers(0, 2, 200))


@model
def sums_over_groups(rng):
    """Model shares of 80 goods in 120 shops, summed by a product with ones, like an index."""
    utility = pm.Normal("utility", shape=(120, 80)) + pm.Normal("good", shape=80)
    total = (pt.exp(utility) @ pt.ones((80, 60))).sum(-1)
    pm.Normal("y", pt.log(total), pm.HalfNormal("noise"), observed=rng.normal(size=120) + 9)


@model
def beta_binomial(rng):
    mean, size = pm.Beta("mean", 2, 2, shape=200), pm.Gamma("size", 3, 0.5)
    y = rng.binomial(25, 0.4, 200)
    pm.BetaBinomial("y", mean * size, (1 - mean) * size, 25, observed=y)
    pm.Beta("z", mu=mean, nu=size, observed=rng.beta(2, 3, 200))


@model
def positive(rng):
    a, b = pm.Gamma("a", 3, 1, shape=30), pm.LogNormal("b", 0, 0.5)
    y = rng.gamma(2, size=(64, 30)) + 0.1
    pm.Gamma("y1", a, b, observed=y)
    pm.InverseGamma("y2", a, b, observed=y)
    pm.Wald("y3", mu=a, lam=b, observed=y)
    pm.Weibull("y4", a, b, observed=y)
    pm.Rice("y5", nu=a, sigma=b, observed=y)
    pm.Moyal("y6", mu=a, sigma=b, observed=y)


@model
def markov_chain(rng):
    from pymc_extras.distributions import DiscreteMarkovChain

    p = pm.Dirichlet("p", np.ones((3, 3)))
    start = pm.Categorical.dist(p=np.ones(3) / 3)
    DiscreteMarkovChain("y", P=p, init_dist=start, observed=rng.integers(0, 3, 150))


@model
def structural_time_series(rng):
    from pymc_extras.statespace import structural

    trend = structural.LevelTrend(order=2, innovations_order=[0, 1])
    built = (trend + structural.MeasurementError(name="error")).build(verbose=False)
    model = pm.modelcontext(None)
    model.add_coords(built.coords)
    pm.Normal("initial_level_trend", dims=["state_level_trend"])
    pm.HalfNormal("sigma_level_trend", dims=["shock_level_trend"])
    pm.HalfNormal("sigma_error")
    pm.Deterministic("P0", pt.eye(2) * 10, dims=["state", "state_aux"])
    built.build_statespace_graph(rng.normal(size=(50, 1)).cumsum(0))
