"""Deployed PyMC models whose rows depend on one another, or that have no data."""

import warnings

import numpy as np
import onnxruntime
import pytest
from tools.build_demo import DEMO

from pytensor.link.onnx import MixedRowsWarning

pm = pytest.importorskip("pymc", reason="the example is about PyMC")
arviz = pytest.importorskip("arviz", reason="PyMC needs it")

X = np.random.default_rng(0).normal(2, 3, size=(20, 1))


@pytest.fixture(scope="module")
def export():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEMO.parent / "pymc_deploy"))
        from deploy import export_posterior_predictive
    return export_posterior_predictive


@pytest.fixture(scope="module")
def posterior():
    draws = np.random.default_rng(1).normal(size=(1, 30, 4))
    return arviz.from_dict({"posterior": {"weights": draws}})


@pytest.fixture(scope="module")
def centred():
    """A Hilbert space Gaussian process of data that are centred by their own mean."""
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
def test_data_centred_by_themselves(export, centred, posterior, tmp_path):
    """A row alone is like the same row among others only with the training data's mean."""
    path = tmp_path / "model.onnx"
    with pytest.warns(MixedRowsWarning, match="over the rows of 'x'.*across_rows='training'"):
        export(centred, posterior, path, ["x"], ["f"])
    alone, among = np.array([[-5.0]]), np.array([[-5.0], [1.0], [7.0]])
    assert np.abs(predict(path, alone)[:, 0] - predict(path, among)[:, 0]).max() > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error", MixedRowsWarning)
        for choice in ("request", "training"):
            export(centred, posterior, path, ["x"], ["f"], across_rows=choice)
    np.testing.assert_allclose(predict(path, alone)[:, 0], predict(path, among)[:, 0], rtol=1e-12)
    with centred:
        old = pm.compute_deterministics(
            posterior.posterior.to_dataset(), var_names=["f"], progressbar=False
        )
    np.testing.assert_allclose(predict(path, X), old["f"].values[0], rtol=1e-6)


def test_across_rows_is_one_of_two(export, centred, posterior):
    with pytest.raises(ValueError, match="across_rows must be 'request' or 'training', got 'old'"):
        export(centred, posterior, "no", ["x"], ["f"], across_rows="old")


def test_a_model_without_data_says_so(export, posterior):
    """As bambi makes them: its design matrix is a constant, and "x" is a coefficient."""
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("x") * X[:, 0], observed=np.zeros(20))
    with pytest.raises(ValueError, match=r"the model has no pm.Data.*bambi.*pm.Data\('x'"):
        export(model, posterior, "no", ["x"])


def test_what_is_no_data_is_named(export, centred, posterior):
    with pytest.raises(ValueError, match=r"\['f'\] are no pm.Data .*has \['x'\]"):
        export(centred, posterior, "no", ["f"])
