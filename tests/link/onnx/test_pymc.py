"""Deployed PyMC models whose rows depend on one another, or that have no data, as bambi's."""

import warnings

import numpy as np
import onnxruntime
import pytest
from tools.build_demo import DEMO

import pytensor
from pytensor.link.onnx import MixedRowsWarning

pm = pytest.importorskip("pymc", reason="the example is about PyMC")

pytestmark = pytest.mark.usefixtures("computed_in_python")
X = np.random.default_rng(0).normal(2, 3, size=(20, 1))


@pytest.fixture(scope="module")
def computed_in_python():
    """Have PyMC compile what it computes once for Python: Numba would take seconds for each."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="module")
def export():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEMO.parent / "pymc_deploy"))
        from pytensor.link.onnx.pymc import export_posterior_predictive
    return export_posterior_predictive


def posterior_of(draws, **labels):
    """Return a posterior as PyMC samples one."""
    import arviz  # takes seconds, which each process that collects tests would wait

    return arviz.from_dict({"posterior": draws}, **labels)


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
    with pytest.raises(ValueError, match=r"the model has no pm.Data.*pm.Data\('x'.*export_bambi"):
        export(model, posterior, "no", ["x"])


def test_what_is_no_data_is_named(export, centred, posterior):
    with pytest.raises(ValueError, match=r"\['f'\] are no pm.Data .*has \['x'\]"):
        export(centred, posterior, "no", ["f"])


@pytest.fixture(scope="module")
def deployed():
    """Return the modules ``deploy`` and ``design``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEMO.parent / "pymc_deploy"))
        import design

        from pytensor.link.onnx import pymc as deploy
    return deploy, design


def drawn_posterior(model, leave_out=(), seed=2):
    """Return a posterior of 20 draws, whose dims are in another order than the model's."""
    rng, draws, dims = np.random.default_rng(seed), {}, {}
    for v in [*model.free_RVs, *model.deterministics]:
        along = model.named_vars_to_dims.get(v.name) or ()
        if v.name not in leave_out and "__obs__" not in along:
            sizes = [len(model.coords[d]) for d in along[::-1]]
            draws[v.name] = rng.uniform(0.5, 1.5, size=(1, 20, *sizes))
            dims[v.name] = [*along[::-1]]
    coords = {d: [*values] for d, values in model.coords.items() if d != "__obs__"}
    return posterior_of(draws, dims=dims, coords=coords)


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


def test_constants_become_inputs(deployed, tmp_path):
    deploy, _ = deployed
    model, eta, columns, groups = with_constants()
    posterior = drawn_posterior(model, leave_out=["effect_offset"])
    inputs = deploy.Inputs(
        {"columns": columns, "group": groups},
        {"columns": ("__obs__", "slopes"), "group": ("__obs__",)},
    )
    new = inputs.variables
    inputs.replace[eta] = (model["effect"][new["group"]] * new["columns"]).sum(axis=1)
    path = tmp_path / "model.onnx"
    deploy.export_posterior_predictive(model, posterior, path, inputs, ["mu", "y"])
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


def test_what_the_posterior_lacks_is_named(deployed, tmp_path):
    """An effect in it doesn't stand for an offset that is needed elsewhere, too."""
    deploy, _ = deployed
    model, eta, *_ = with_constants()
    posterior = drawn_posterior(model, leave_out=["effect_offset"])
    inputs = deploy.Inputs({"x": X[:, 0]}, {"x": ("__obs__",)})
    inputs.replace[eta] = model["effect_offset"].sum() * inputs.variables["x"]
    with pytest.raises(ValueError, match=r"\['effect_offset'\] aren't in the posterior, which has"):
        deploy.export_posterior_predictive(model, posterior, tmp_path / "no", inputs, ["mu"])


# Bambi's, of pandas 3.
ITS_WARNINGS = pytest.mark.filterwarnings("ignore:For backward compatibility, 'str' dtypes")
FORMULAS = {
    "linear": ("y ~ x1 + x2", "gaussian", ["mu"]),
    "categorical": ("y ~ x1 * c", "gaussian", ["mu"]),
    "groups": ("y ~ scale(x1) + (c|g) + (x2|h)", "gaussian", ["mu"]),
    "logistic": ("b ~ x1 + c", "bernoulli", ["p"]),
    "counts": ("n ~ poly(x1, 2) + offset(log(t)) + (1|g)", "poisson", ["mu"]),
    "spread": (("y ~ x1 + (1|g)", "sigma ~ x2"), "gaussian", ["sigma"]),
    "process": ("y ~ c + hsgp(x1, m=5, c=2)", "gaussian", ["mu"]),
}


@pytest.fixture(scope="module")
def table():
    pandas, rng = pytest.importorskip("pandas"), np.random.default_rng(3)
    return pandas.DataFrame({
        "x1": rng.normal(3, 1, 40), "x2": rng.normal(size=40), "t": rng.uniform(1, 2, 40),
        "c": rng.choice([*"uvw"], 40), "g": rng.choice([*"pqrs"], 40), "h": rng.choice([*"kl"], 40),
        "y": rng.normal(size=40), "b": rng.integers(0, 2, 40), "n": rng.poisson(3, 40),
    })  # fmt: skip


def bambi_model(formula, family, table):
    bambi = pytest.importorskip("bambi", reason="bambi isn't installed")
    formula = formula if isinstance(formula, str) else bambi.Formula(*formula)
    model = bambi.Model(formula, table, family=family)
    model.build()
    free = [v.name for v in model.backend.model.free_RVs]
    left_out = [name for name in free if name.endswith(("_offset", "_raw"))]
    return model, drawn_posterior(model.backend.model, leave_out=left_out)


@ITS_WARNINGS
@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULAS)
def test_new_rows_of_a_model_of_bambi(deployed, table, tmp_path, name):
    """The file's predictions are those of `bambi.Model.predict`."""
    _, design = deployed
    formula, family, names = FORMULAS[name]
    model, posterior = bambi_model(formula, family, table)
    path, new = tmp_path / "model.onnx", table.iloc[[3, 30, 7, 11, 1]]
    design.export_bambi(model, posterior, path, names)
    file = onnxruntime.InferenceSession(path)
    (ours,) = file.run(names, design.new_design(model, new))
    theirs = model.predict(posterior, data=new, inplace=False).posterior[names[0]]
    theirs = theirs.transpose("chain", "draw", "__obs__")
    np.testing.assert_allclose(ours, theirs.values[0], rtol=1e-9, atol=1e-9)


@ITS_WARNINGS
@pytest.mark.slow
def test_what_of_bambi_is_refused(deployed, table, tmp_path):
    _, design = deployed
    refused = {
        ("p(b, n + 1) ~ x1", "binomial", None): "'p.b, n . 1.' needs something of each row",
        ("c ~ x1", "categorical", None): "the reference level of a categorical response",
        ("y ~ 1", "gaussian", None): "no term but intercepts",
        ("y ~ hsgp(x1, m=4, c=2, by=c)", "gaussian", None): "hsgp.*by= can't be exported",
        ("c ~ 0 + x1", "cumulative", ("p",)): "ordinal response.*predict the response itself",
    }
    for (formula, family, names), message in refused.items():
        model, posterior = bambi_model(formula, family, table)
        with pytest.raises(ValueError, match=message):
            design.export_bambi(model, posterior, tmp_path / "no", names)


@ITS_WARNINGS
@pytest.mark.slow
def test_a_group_that_bambi_does_not_know(deployed, table):
    _, design = deployed
    model, _ = bambi_model("y ~ x1 + (1|g)", "gaussian", table)
    with pytest.raises(ValueError, match="new"):
        design.new_design(model, table.iloc[:2].assign(g="new"))
