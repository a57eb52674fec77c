"""Models of bambi as one ONNX file."""

import numpy as np
import onnxruntime
import pytest
from tools.build_demo import DEMO

import pytensor
from tests.link.onnx.posteriors import drawn_posterior

pytest.importorskip("pymc", reason="the example is about PyMC")

pytestmark = pytest.mark.usefixtures("computed_in_python")


@pytest.fixture(scope="module")
def computed_in_python():
    """Have PyMC compile what it computes once for Python: Numba would take seconds for each."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="module")
def design():
    """Return the example's module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEMO.parent / "pymc_deploy"))
        import design
    return design


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
def test_new_rows_of_a_model_of_bambi(design, table, tmp_path, name):
    """The file's predictions are those of `bambi.Model.predict`."""
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
def test_what_of_bambi_is_refused(design, table, tmp_path):
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
def test_a_group_that_bambi_does_not_know(design, table):
    model, _ = bambi_model("y ~ x1 + (1|g)", "gaussian", table)
    with pytest.raises(ValueError, match="new"):
        design.new_design(model, table.iloc[:2].assign(g="new"))
