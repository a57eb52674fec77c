"""Fitted PyMC models as one file: rows that depend on one another, and what is refused."""

import warnings

import numpy as np
import onnxruntime
import pytest

import pytensor
from pytensor.link.onnx import MixedRowsWarning

pytest.importorskip("pymc", reason="PyMC isn't installed")

import pymc as pm
import pymc.dims as pmd

from pytensor.link.onnx.pymc import Inputs, export_posterior_predictive
from tests.link.onnx.posteriors import drawn_posterior, posterior_of

pytestmark = pytest.mark.usefixtures("computed_in_python")
X = np.random.default_rng(0).normal(2, 3, size=(20, 1))


@pytest.fixture(scope="module")
def computed_in_python():
    """Have PyMC compile what it computes once for Python: Numba would take seconds for each."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="module")
def posterior():
    return posterior_of({"weights": np.random.default_rng(1).normal(size=(1, 30, 4))})


@pytest.fixture(scope="module")
def centred():
    """Return a Hilbert space Gaussian process of data that are centred by their own mean."""
    with pm.Model() as model:
        x = pm.Data("x", X, dims=("row", "feature"))
        gp = pm.gp.HSGP(m=[4], L=[20.0], cov_func=pm.gp.cov.Matern52(1, ls=2.0))
        phi, root = gp.prior_linearized(x - x.mean(axis=0))
        f = pm.Deterministic("f", phi @ (pm.Normal("weights", size=4) * root), dims="row")
        pm.Normal("y", f, 1.0, observed=np.zeros(20), dims="row")
    return model


def predict(path, x):
    return onnxruntime.InferenceSession(path).run(["f"], {"x": x})[0]


@pytest.mark.slow
def test_data_centred_by_themselves(centred, posterior, tmp_path):
    """A row alone is like the same row among others only with the training data's mean."""
    path = tmp_path / "model.onnx"
    with pytest.warns(MixedRowsWarning, match="over the rows of 'x'.*across_rows='training'"):
        export_posterior_predictive(centred, posterior, path, ["x"], ["f"])
    alone, among = np.array([[-5.0]]), np.array([[-5.0], [1.0], [7.0]])
    assert np.abs(predict(path, alone)[:, 0] - predict(path, among)[:, 0]).max() > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error", MixedRowsWarning)
        for choice in ("request", "training"):
            export_posterior_predictive(centred, posterior, path, ["x"], ["f"], across_rows=choice)
    np.testing.assert_allclose(predict(path, alone)[:, 0], predict(path, among)[:, 0], rtol=1e-12)
    with centred:
        old = pm.compute_deterministics(
            posterior.posterior.to_dataset(), var_names=["f"], progressbar=False
        )
    np.testing.assert_allclose(predict(path, X), old["f"].values[0], rtol=1e-6)


def test_across_rows_is_one_of_two(centred, posterior):
    with pytest.raises(ValueError, match="across_rows must be 'request' or 'training', got 'old'"):
        export_posterior_predictive(centred, posterior, "no", ["x"], ["f"], across_rows="old")


def test_a_model_without_data_says_so(posterior):
    """As bambi makes them: its design matrix is a constant, and "x" is a coefficient."""
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("x") * X[:, 0], observed=np.zeros(20))
    with pytest.raises(ValueError, match=r"the model has no pm.Data.*pm.Data\('x'.*export_bambi"):
        export_posterior_predictive(model, posterior, "no", ["x"])


def test_what_is_no_data_is_named(centred, posterior):
    with pytest.raises(ValueError, match=r"\['f'\] are no pm.Data .*has \['x'\]"):
        export_posterior_predictive(centred, posterior, "no", ["f"])


def with_constants():
    """Build a model with its data as constants and effects that are offsets times their spread."""
    coords = {"__obs__": range(20), "groups": ["a", "b", "c"], "slopes": ["one", "two"]}
    columns, groups = np.hstack([X, X**2]), np.arange(20) % 3
    with pm.Model(coords=coords) as model:
        offset = pm.Normal("effect_offset", dims=("groups", "slopes"))
        effect = pm.Deterministic(
            "effect", offset * pm.HalfNormal("spread"), dims=("groups", "slopes")
        )
        eta = (effect[groups] * columns).sum(axis=1)
        pm.Deterministic("mu", eta, dims="__obs__")
        pm.Normal("y", model["mu"], 1.0, observed=np.zeros(20), dims="__obs__")
    return model, eta, columns, groups.astype("int32")


def test_constants_become_inputs(tmp_path):
    model, eta, columns, groups = with_constants()
    posterior = drawn_posterior(model, leave_out=["effect_offset"])
    inputs = Inputs(
        {"columns": columns, "group": groups},
        {"columns": ("__obs__", "slopes"), "group": ("__obs__",)},
    )
    new = inputs.variables
    inputs.replace[eta] = (model["effect"][new["group"]] * new["columns"]).sum(axis=1)
    path = tmp_path / "model.onnx"
    export_posterior_predictive(model, posterior, path, inputs, ["mu", "y"])
    session = onnxruntime.InferenceSession(path)
    assert {i.name: i.shape for i in session.get_inputs()} == {
        "columns": ["__obs__", 2], "group": ["__obs__"]
    }  # fmt: skip
    new = {"columns": np.array([[1.0, 5.0], [2.0, -1.0], [0.5, 0.25]]), "group": [2, 0, 2]}
    new["group"] = np.array(new["group"], "int32")
    mu, y = session.run(["mu", "y"], new)
    effect = posterior.posterior["effect"].transpose(..., "groups", "slopes").values[0]
    expected = (effect[:, new["group"]] * new["columns"]).sum(axis=2)
    np.testing.assert_allclose(mu, expected, rtol=1e-12)
    assert y.shape == (20, 3)
    assert 0.5 < (y - mu).std() < 2


@pytest.mark.parametrize("draw", ["effect", "robust", "counts"])
def test_draws_whose_first_parameter_is_a_number(draw, tmp_path):
    """Vectorizing such a draw over the posterior of another parameter was an error."""
    with pm.Model(coords={"row": range(3), "pair": range(2)}) as model:
        x, spread = pm.Data("x", np.zeros(3), dims="row"), pm.HalfNormal("spread")
        if draw == "effect":
            effect = pm.Normal("effect", 0.0, spread, dims="row")
            pm.Normal("y", x + effect, 1e-6, observed=np.zeros(3), dims="row")
        elif draw == "robust":
            pm.StudentT("y", 1000.0, mu=x, sigma=spread, observed=np.zeros(3), dims="row")
        else:
            p = pm.math.stack([1 / spread, 1 - 1 / spread])
            pm.Multinomial("y", 1000, p, observed=[[1000, 0]] * 3, dims=("row", "pair"))
    drawn = {"spread": np.array([[2.0, 100.0]])}
    if draw == "effect":
        drawn["effect"] = np.zeros((1, 2, 3))
    path = tmp_path / "model.onnx"
    export_posterior_predictive(model, posterior_of(drawn), path, ["x"])
    (y,) = onnxruntime.InferenceSession(path).run(["y"], {"x": np.zeros(2000)})
    spreads = 1000 / y[:, :, 0].mean(axis=1) if draw == "counts" else y.std(axis=1)
    np.testing.assert_allclose(spreads, [2.0, 100.0], rtol=0.1)


def test_what_the_posterior_lacks_is_named(tmp_path):
    """An effect in it doesn't stand for an offset that is needed elsewhere, too."""
    model, eta, *_ = with_constants()
    posterior = drawn_posterior(model, leave_out=["effect_offset"])
    inputs = Inputs({"x": X[:, 0]}, {"x": ("__obs__",)})
    inputs.replace[eta] = model["effect_offset"].sum() * inputs.variables["x"]
    with pytest.raises(ValueError, match=r"\['effect_offset'\] aren't in the posterior, which has"):
        export_posterior_predictive(model, posterior, tmp_path / "no", inputs, ["mu"])


def test_draws_whose_first_parameter_is_constant(tmp_path):
    """A binomial of a known n, and an unknown group's effect around 0."""
    with pm.Model(coords={"groups": ["a", "b"]}) as model:
        group = pm.Data("group", np.array([0, 1]), dims="row")
        effect = pm.Normal("effect", 0, pm.HalfNormal("spread"), dims="groups")[group]
        mu = pm.Deterministic("mu", effect, dims="row")
        pm.Binomial("y", 10, pm.math.sigmoid(mu), observed=np.zeros(2, int), dims="row")
    effects = np.random.default_rng(1).normal(size=(1, 20, 2))
    drawn = posterior_of({"spread": np.ones((1, 20)), "effect": effects})
    path = tmp_path / "model.onnx"
    export_posterior_predictive(model, drawn, path, ["group"], ["mu", "y"], unknown=["groups"])
    new = {"group": np.array([0, 2, 2], "int32")}
    mu, y = onnxruntime.InferenceSession(path).run(["mu", "y"], new)
    np.testing.assert_array_equal(mu[:, 0], effects[0, :, 0])
    np.testing.assert_array_equal(mu[:, 1], mu[:, 2])
    assert len(np.unique(mu[:, 1])) == 20
    assert y.shape == (20, 3)
    assert len(np.unique(y[:, 1])) > 2


@pytest.fixture
def export():
    """Return a function of a model whose groups have own priors; a posterior of another's."""
    with pm.Model(coords={"groups": ["a", "b"]}) as model:
        pm.Data("group", np.array([0, 1]), dims="row")
        pm.Data("loose", np.zeros(2))
        pm.Normal("start", [0.0, 5.0], 1.0, dims="groups")
        start = model["start"][model["group"]]
        pm.Normal("y", start, 1.0, observed=np.zeros(2), dims="row")

    def export(data, drawn=("other", (1, 4)), **settings):
        name, shape = drawn
        posterior = posterior_of({name: np.zeros(shape)})
        return export_posterior_predictive(model, posterior, "never.onnx", data, **settings)

    return export


def test_what_is_refused(export):
    with pytest.raises(ValueError, match=r"'loose'\] have no dims"):
        export(["loose"])
    with pytest.raises(ValueError, match=r"\['z'\] are no variables of the model"):
        export(["group"], names=["z"])
    with pytest.raises(ValueError, match=r"unknown: \['sites'\] are no dims .*has \['groups'"):
        export(["group"], unknown=["sites"])
    with pytest.raises(ValueError, match=r"indexes: \['group'\] aren't among the data, or"):
        export(["group"], indexes={"group": "row"})
    with pytest.raises(ValueError, match="start has no prior that is the same all along groups"):
        export(["group"], ("start", (1, 4, 2)), unknown=["groups"])
    with pytest.raises(ValueError, match=r"'start'\] aren't in the posterior"):
        export(["group"])


def test_variables_of_pymc_dims_are_named(posterior, tmp_path):
    with pm.Model(coords={"row": range(3)}) as model:
        x = pmd.Data("x", np.ones(3), dims="row")
        pmd.Normal("y", x, dims="row")
    with pytest.raises(TypeError, match=r"\['x', 'y'\] are of pymc.dims; write pm.Normal"):
        export_posterior_predictive(model, posterior, tmp_path / "m.onnx", ["x"])
