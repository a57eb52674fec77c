"""PyMC models whose lengths are known at run time: draws, densities and their gradients."""

import numpy as np
import pytest

import pytensor

pytest.importorskip("jax")
pm = pytest.importorskip("pymc")

from pymc.pytensorf import collect_default_updates  # noqa: E402

from pytensor.link.jax import jax_mode  # noqa: E402

# PyMC's warnings, and those of skipped assertions.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def settings():
    return {"compile_kwargs": {"mode": jax_mode()}, "random_seed": 1}


def prior(draws=3):
    """Draw from the prior of the model around, into one group."""
    drawn = pm.sample_prior_predictive(draws, **settings())
    values = dict(drawn["prior"].data_vars)
    if "prior_predictive" in drawn.children:
        values |= drawn["prior_predictive"].data_vars
    return {name: value.values[0] for name, value in values.items()}


def compare_densities(model):
    """Check that both modes have the same density and gradient at the initial point."""
    point = model.initial_point(1)
    for compiled in (model.compile_logp, model.compile_dlogp):
        expected = compiled(mode="FAST_COMPILE")(point)
        np.testing.assert_allclose(compiled(mode=jax_mode())(point), expected, rtol=1e-9)


def test_dims():
    with pm.Model(coords={"group": list("abc"), "time": range(5)}) as model:
        a, s = pm.Normal("a", dims="group"), pm.HalfNormal("s")
        pm.Normal("y", a[:, None], s, dims=("group", "time"))
        assert prior()["y"].shape == (3, 3, 5)
    compare_densities(model)


def test_data_of_another_length():
    with pm.Model():
        x, b = pm.Data("x", np.arange(5.0)), pm.Normal("b")
        pm.Deterministic("mu", b * x)
        pm.Normal("y", b * x, observed=np.arange(5.0), shape=x.shape)
        assert prior()["y"].shape == (3, 5)
        pm.set_data({"x": np.arange(3.0)})
        drawn = prior()
    np.testing.assert_allclose(drawn["mu"], drawn["b"][:, None] * np.arange(3.0))
    assert drawn["y"].shape == (3, 3)


def test_posterior_predictive_of_another_length():
    with pm.Model(coords={"time": range(6)}):
        x, b = pm.Data("x", np.arange(6.0), dims="time"), pm.Normal("b")
        mu = pm.Deterministic("mu", b * x, dims="time")
        pm.Normal("y", mu, observed=np.arange(6.0), dims="time")
        posterior = pm.sample_prior_predictive(4, **settings())["prior"].to_dataset()
        pm.set_data({"x": np.arange(9.0)}, coords={"time": range(9)})
        drawn = pm.sample_posterior_predictive(
            posterior[["b"]],
            var_names=["mu", "y"],
            predictions=True,
            progressbar=False,
            **settings(),
        )["predictions"]
    expected = posterior["b"].values[..., None] * np.arange(9.0)
    np.testing.assert_allclose(drawn["mu"].values, expected)
    assert drawn["y"].shape == (1, 4, 9)


def test_resized_dims():
    with pm.Model(coords={"time": range(6)}) as model:
        x, b = pm.Data("x", np.arange(6.0), dims="time"), pm.Normal("b", dims="time")
        pm.Deterministic("mu", b * x, dims="time")
        assert prior()["mu"].shape == (3, 6)
        pm.set_data({"x": np.arange(9.0)}, coords={"time": range(9)})
        drawn = prior()
    np.testing.assert_allclose(drawn["mu"], drawn["b"] * np.arange(9.0))
    compare_densities(model)


def latent(x0, sigma, n, size):
    def step(last, sigma):
        x = pm.Normal.dist(last, sigma)
        return x, collect_default_updates([x])

    path, _ = pytensor.scan(step, outputs_info=[x0], non_sequences=[sigma], n_steps=n)
    return path


def test_latent_variables_of_steps():
    n = pytensor.shared(np.int64(6), "n")
    with pm.Model() as model:
        x0, sigma = pm.Normal("x0"), pm.HalfNormal("sigma")
        path = pm.CustomDist("path", x0, sigma, n, dist=latent)
        pm.Normal("y", path, observed=np.arange(6.0))
        assert prior()["path"].shape == (3, 6)
    compare_densities(model)


def test_as_many_groups_as_the_data_have():
    with pm.Model() as model:
        group = pm.Data("group", np.array([0, 2, 1, 2]))
        z = pm.Normal("z", shape=group.max() + 1)
        mu = pm.Deterministic("mu", z[group])
        pm.Normal("y", mu, observed=np.zeros(4))
        assert prior()["z"].shape == (3, 3)
        pm.set_data({"group": np.array([0, 4, 1, 3])})
        drawn = prior()
    np.testing.assert_array_equal(drawn["mu"], drawn["z"][:, [0, 4, 1, 3]])
    compare_densities(model)
