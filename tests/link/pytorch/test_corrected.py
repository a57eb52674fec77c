"""What `pytorch_mode` converts and mode PYTORCH doesn't, or gets wrong."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_mode_and_py

torch = pytest.importorskip("torch", reason="torch isn't installed")

from pytensor.link.pytorch.corrected import pytorch_mode  # noqa: E402

X, INDEX = pt.matrix("x"), pt.lvector("i")
VALUES = [np.abs(np.random.default_rng(0).normal(size=(4, 4))), np.array([2, 2])]
GRAPHS = {
    "equal": pt.eq(X, X.T),
    "remainder": pt.mod(X, 3),
    "power": pt.power(X, X.T),
    "constant power": X**5.0,
    "position of the maximum": pt.argmax(X, axis=1),
    "position among all": pt.argmax(X),
    "sum into repeated columns": pt.inc_subtensor(X[:, INDEX], X[:, :2]),
    "activation": pt.nn.gelu(X),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_conversions(name):
    with torch.compiler.set_stance("force_eager"):
        compare_mode_and_py(pytorch_mode(), [X, INDEX], GRAPHS[name], VALUES)


def test_compiled():
    out = pt.inc_subtensor(X[:, INDEX], pt.eq(X, X.T)[:, :2] + pt.argmax(X**5.0, axis=1)[:, None])
    compare_mode_and_py(pytorch_mode(), [X, INDEX], out, VALUES)


def test_the_upstream_mode_is_as_it_was():
    f = pytensor.function([X], pt.eq(X, X.T), mode="PYTORCH")
    with (
        torch.compiler.set_stance("force_eager"),
        pytest.raises(AttributeError, match="'bool' object has no attribute"),
    ):
        f(VALUES[0])


def test_integers_and_float32_meet_in_float64():
    i, x = pt.ivector("i"), pt.fvector("x")
    values = [np.array([2**24 + 1, 3], "int32"), np.array([2**24, 0.5], "float32")]
    outputs = [pt.eq(i, x), pt.mod(i, x), pt.power(i[1:], x[1:])]
    with torch.compiler.set_stance("force_eager"):
        compare_mode_and_py(pytorch_mode(), [i, x], outputs, values)


@pytest.mark.parametrize("value", [np.array([[False, True, True]]), np.zeros((0, 3), bool)])
def test_position_among_booleans_or_in_no_rows(value):
    x = pt.tensor("x", dtype="bool", shape=(None, 3))
    with torch.compiler.set_stance("force_eager"):
        compare_mode_and_py(pytorch_mode(), [x], [pt.argmax(x, axis=1)], [value])
