"""PyMC models: Gaussian processes and time series."""

import numpy as np
import pymc as pm
import scipy.stats as st

import pytensor
import pytensor.tensor as pt
from tests.catalogue.pymc_models.registry import law, model


@model(small={})
def gp_marginal_matern(rng):
    x = np.linspace(0, 1, 8)[:, None]
    length, eta = pm.InverseGamma("length", 3, 1), pm.HalfNormal("eta")
    gp = pm.gp.Marginal(cov_func=eta**2 * pm.gp.cov.Matern52(1, length))
    gp.marginal_likelihood("y", X=x, y=np.sin(5 * x[:, 0]), sigma=pm.HalfNormal("s"))


@model(large={})
def gp_marginal(rng):
    """Model a Gaussian process with a covariance of 50 x 50."""
    x = np.linspace(0, 1, 50)
    length, scale = pm.InverseGamma("length", 3, 1), pm.HalfNormal("scale")
    gp = pm.gp.Marginal(cov_func=scale**2 * pm.gp.cov.ExpQuad(1, length))
    y = np.sin(5 * x) + rng.normal(size=50) / 5
    gp.marginal_likelihood("y", X=x[:, None], y=y, sigma=pm.HalfNormal("noise"))


@model(small={})
def gp_latent(rng):
    x = np.linspace(0, 1, 6)[:, None]
    gp = pm.gp.Latent(cov_func=pm.gp.cov.ExpQuad(1, pm.Gamma("length", 3, 5)))
    f = gp.prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=rng.integers(0, 2, 6))


@model(large={})
def latent_matern(rng):
    x = np.linspace(0, 1, 50)[:, None]
    cov = pm.gp.cov.Matern32(1, pm.Gamma("length", 3, 5)) + pm.gp.cov.WhiteNoise(1e-3)
    f = pm.gp.Latent(cov_func=cov).prior("f", X=x)
    pm.Bernoulli("y", logit_p=f, observed=rng.integers(0, 2, 50))


@model(small={})
def gp_hsgp(rng):
    x = np.linspace(-1, 1, 12)[:, None]
    gp = pm.gp.HSGP(m=[6], c=1.5, cov_func=pm.gp.cov.ExpQuad(1, pm.LogNormal("length", -1, 0.5)))
    f = gp.prior("f", X=x)
    pm.Normal("y", f, pm.HalfNormal("s"), observed=np.sin(3 * x[:, 0]))


@model(large={})
def hilbert_space_gp(rng):
    x = np.linspace(-1, 1, 200)
    length, scale = pm.LogNormal("length", -1, 0.5), pm.HalfNormal("scale")
    gp = pm.gp.HSGP(m=[30], c=1.5, cov_func=scale**2 * pm.gp.cov.Matern52(1, length))
    f = gp.prior("f", X=x[:, None])
    pm.Normal("y", f, pm.HalfNormal("noise"), observed=np.sin(4 * x) + rng.normal(size=200) / 4)


@model(small={})
def gp_periodic(rng):
    x = np.linspace(0, 2, 7)[:, None]
    cov = pm.gp.cov.Periodic(1, period=1.0, ls=pm.Gamma("length", 2, 2)) + pm.gp.cov.WhiteNoise(0.1)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=np.sin(6 * x[:, 0]), sigma=0.3)


@model(large={})
def periodic_kernels(rng):
    x = np.linspace(0, 4, 50)[:, None]
    cov = pm.gp.cov.Periodic(1, period=1.0, ls=pm.Gamma("length", 2, 2))
    cov = pm.HalfNormal("scale") ** 2 * cov * pm.gp.cov.Matern52(1, pm.Gamma("decay", 3, 1))
    cov += pm.gp.cov.RatQuad(1, alpha=pm.Gamma("alpha", 2, 1), ls=0.7)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=np.sin(6 * x[:, 0]), sigma=pm.HalfNormal("noise"))


@model(large={})
def kernels_of_several_inputs(rng):
    x = rng.normal(size=(50, 3))
    cov = pm.gp.cov.ExpQuad(3, pm.Gamma("lengths", 3, 2, shape=3))
    cov += pm.gp.cov.Linear(3, c=pm.Normal("centre", shape=3))
    cov += pm.gp.cov.Polynomial(3, 0.0, 2, 1.0)
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=x.sum(1), sigma=pm.HalfNormal("noise"))


@model(large={})
def kronecker_gp(rng):
    x, y = np.linspace(0, 1, 12)[:, None], np.linspace(0, 1, 10)[:, None]
    kernels = [pm.gp.cov.Matern32(1, pm.Gamma(f"length{k}", 3, 3)) for k in range(2)]
    gp = pm.gp.MarginalKron(cov_funcs=kernels)
    gp.marginal_likelihood("y", Xs=[x, y], y=rng.normal(size=120), sigma=pm.HalfNormal("noise"))


@model(small={"steps": 8}, large={"steps": 200})
def random_walk(rng, steps):
    step = pm.HalfNormal("step", 0.5)
    walk = pm.GaussianRandomWalk("walk", sigma=step, init_dist=pm.Normal.dist(0, 1), shape=steps)
    pm.Normal("y", walk, 1, observed=rng.normal(size=steps).cumsum() / 10)


@model(small={})
def random_walk_of_known_steps(rng):
    pm.GaussianRandomWalk("walk", mu=0.2, sigma=0.5, init_dist=pm.Normal.dist(1, 2), shape=6)


law(
    "random_walk_of_known_steps",
    lambda d: d["walk"][:, 5],
    st.norm(2.0, np.sqrt(4 + 5 * 0.25)),
)


@model(small={"lags": 2, "steps": 10}, large={"lags": 3, "steps": 200})
def autoregression(rng, lags, steps):
    rho = pm.Normal("rho", 0, 0.3, shape=lags)
    start = pm.Normal.dist(0, 1)
    latent = pm.AR("latent", rho, sigma=pm.HalfNormal("s"), init_dist=start, shape=steps)
    pm.Normal("y", latent, 0.5, observed=rng.normal(size=steps).cumsum() / 5)


@model(small={})
def garch_of_unknown_values(rng):
    pm.GARCH11(
        "y",
        omega=pm.HalfNormal("omega"),
        alpha_1=pm.Beta("a", 2, 3),
        beta_1=pm.Beta("b", 2, 3),
        initial_vol=1.0,
        shape=8,
    )


@model(large={})
def garch(rng):
    pm.GARCH11(
        "y", omega=pm.HalfNormal("omega"), alpha_1=pm.Beta("a", 2, 3), beta_1=pm.Beta("b", 2, 3),
        initial_vol=1.0, observed=rng.normal(size=100),
    )  # fmt: skip


@model(small={})
def euler_maruyama(rng):
    pm.EulerMaruyama(
        "y",
        dt=0.1,
        sde_fn=lambda x, k: (-k * x, 0.5),
        sde_pars=(pm.LogNormal("k"),),
        init_dist=pm.Normal.dist(0, 1),
        shape=8,
    )


@model(small={"rows": 25, "series": 3}, large={"rows": 100, "series": 4})
def vector_autoregression(rng, rows, series):
    data = rng.normal(size=(rows, series)).cumsum(0) / 10
    lags = pm.Normal("lags", 0, 0.5, shape=(2, series, series))
    mean = pm.Normal("intercept", shape=series) + data[1:-1] @ lags[0].T + data[:-2] @ lags[1].T
    chol, _, _ = pm.LKJCholeskyCov("noise", n=series, eta=1, sd_dist=pm.HalfNormal.dist(1.0))
    pm.MvNormal("y", mu=mean, chol=chol, observed=data[2:])


@model(small={"steps": 12}, large={"steps": 100})
def local_level(rng, steps):
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


@model(large={})
def markov_chain(rng):
    from pymc_extras.distributions import DiscreteMarkovChain

    p = pm.Dirichlet("p", np.ones((3, 3)))
    start = pm.Categorical.dist(p=np.ones(3) / 3)
    DiscreteMarkovChain("y", P=p, init_dist=start, observed=rng.integers(0, 3, 150))


@model(large={})
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
