"""PyMC's own random variables, known by their classes' names: this imports no PyMC."""

import numpy as np
import pytest
import scipy.stats as st

import pytensor.tensor as pt
from pytensor.link.onnx import (
    UnsupportedOpError,
    export_onnx,
)
from pytensor.tensor.random.op import RandomVariable
from tests.link.onnx.extras.random.test_random import P_VALUE, N, draw, shared_rng

pytestmark = pytest.mark.filterwarnings(
    "ignore::pytensor.link.onnx.errors.DroppedRandomStateWarning",
    "ignore:RandomVariable Ops will stop hiding:DeprecationWarning",
)


# PyMC's classes are known by their names: (name, signature, parameters as it passes them, law).
OF_PYMC = [
    ("TruncatedNormalRV", "(),(),(),()->()", (1, 2, -1, 2.5), st.truncnorm(-1, 0.75, 1, 2)),
    ("TruncatedNormalRV", "(),(),(),()->()", (0, 1, 30, np.inf), st.truncnorm(30, np.inf)),
    ("TruncatedNormalRV", "(),(),(),()->()", (0, 1, -np.inf, np.inf), st.norm()),
    ("SkewNormalRV", "(),(),()->()", (1, 2, 4), st.skewnorm(4, 1, 2)),
    ("RiceRV", "(),()->()", (1.3, 1.5), st.rice(1.3, scale=1.5)),
    ("WaldRV", "(),(),()->()", (2, 3, 0.5), st.invgauss(2 / 3, 0.5, 3)),
    ("MoyalRV", "(),()->()", (1, 2), st.moyal(1, 2)),
    ("SkewStudentTRV", "(),(),(),()->()", (2, 5, 1, 2), st.jf_skew_t(2, 5, 1, 2)),
]


def of_class(name, signature, parameters, package="pymc"):
    members = {"__module__": f"{package}.distributions", "name": name, "dtype": "float64"}
    op = type(name, (RandomVariable,), members | {"signature": signature})()
    parameters = [pt.constant(p, dtype="float64") for p in parameters]
    return op.make_node(shared_rng(), (N,), *parameters).outputs[1]


@pytest.mark.by_default(
    "SkewNormalRV-(),(),()->()-parameters3-law3",
    "RiceRV-(),()->()-parameters4-law4",
    "WaldRV-(),(),()->()-parameters5-law5",
    "MoyalRV-(),()->()-parameters6-law6",
    "SkewStudentTRV-(),(),(),()->()-parameters7-law7",
)
@pytest.mark.parametrize(("name", "signature", "parameters", "law"), OF_PYMC)
def test_classes_of_pymc(name, signature, parameters, law):
    sample = draw(of_class(name, signature, parameters))
    assert st.kstest(sample, law.cdf).pvalue > P_VALUE


def test_matrix_normal_of_pymc():
    rows, columns = np.array([[1.0, 0], [0.5, 2]]), np.array([[3.0, 0, 0], [1, 2, 0], [0, 0.5, 1]])
    mu = np.arange(6.0).reshape(2, 3)
    sample = draw(of_class("MatrixNormalRV", "(m,n),(m,m),(n,n)->(m,n)", (mu, rows, columns)))
    check_white((np.linalg.solve(rows, sample - mu) @ np.linalg.inv(columns.T)).reshape(N, 6))


def test_conditional_autoregression_of_pymc():
    """By the precision of its density: see thoughts/upstream/pymc-car-draws.md."""
    chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    signature = "(m),(m,m),(),(),()->(m)"
    sample = draw(of_class("CARRV", signature, (np.arange(4.0), chain, 0.6, 2.0, 1.0)))
    precision = 2.0 * (np.diag(chain.sum(0)) - 0.6 * chain)
    check_white((sample - np.arange(4.0)) @ np.linalg.cholesky(precision))


def check_white(white):
    for column in white.T:
        assert st.kstest(column, "norm").pvalue > P_VALUE
    count = white.shape[1]
    assert np.abs(np.corrcoef(white.T) - np.eye(count)).max() < 4 / np.sqrt(len(white))


@pytest.mark.parametrize(("name", "package"), [("RiceRV", "other"), ("PolyaGammaRV", "pymc")])
def test_other_random_variables_are_refused(name, package):
    with pytest.raises(UnsupportedOpError, match=r"no converter is registered(.|\n)*" + name):
        export_onnx([], of_class(name, "(),()->()", (1, 2), package))
