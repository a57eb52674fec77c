"""`mlx_mode` where values are special, shapes are bad, in double precision, and what is compiled.

`tests.test_operators` has the operators.  Only what is said to be is compiled, which takes seconds
each.
"""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.catalogue.operators import OPERATORS
from tests.utils import compare_mode_and_py

pytest.importorskip("mlx.core", reason="mlx isn't installed")

from pytensor.link.mlx.corrected import mlx_mode

NOT_COMPILED = mlx_mode(use_compile=False)


IN_DOUBLE = (
    "conv2d, pairs",
    "conv2d, groups",
    "conv1d",
    "conv_transpose2d",
    "pool_2d, max, ceil",
    "pool_2d, average_exc_pad",
    "resize, scale",
    "topk, 1",
    "layer_norm, two axes",
)


@pytest.mark.parametrize("name", IN_DOUBLE)
def test_double_precision(name):
    compare_mode_and_py(NOT_COMPILED, *OPERATORS[name].graph(order=2), rtol=1e-9, atol=1e-9)


def test_indices_and_unpooling():
    x = pt.tensor4("x")
    value = np.random.default_rng(0).integers(0, 4, (2, 2, 6, 4)).astype("float64")
    values, indices = pt.nn.max_pool2d(x, (3, 2), return_indices=True)
    out = pt.nn.max_unpool2d(values, indices, (3, 2))
    outputs = [values, indices, out, pytensor.grad((out**3).sum(), x), *pt.topk(x, 3, 2)]
    compare_mode_and_py(NOT_COMPILED, [x], outputs, [value])


@pytest.mark.parametrize("mode", [NOT_COMPILED, mlx_mode()], ids=["not compiled", "compiled"])
def test_bad_shapes_at_run_time(mode):
    x, w, v = pt.tensor4("x"), pt.tensor4("w"), pt.vector("v")
    f = pytensor.function([x, w], pt.conv2d(x, w), mode=mode)
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    f = pytensor.function([x], pt.pool_2d(x, (3, 2), True), mode=mode)
    with pytest.raises(AssertionError, match="larger than the padded image"):
        f(np.ones((1, 1, 2, 5)))
    f = pytensor.function([v], pt.topk(v, 4), mode=mode)
    with pytest.raises(ValueError, match="k=4"):
        f([1.0, 2.0, 3.0])


def test_not_finite():
    x = pt.fvector("x")
    value = np.array([1, np.nan, np.inf, np.nan, -np.inf, 0], "float32")
    outputs = [*pt.topk(x, 4), pt.nn.relu(x), pt.nn.max_pool1d(x, 2, 1)]
    compare_mode_and_py(NOT_COMPILED, [x], outputs, [value])


def test_checks():
    x = pt.vector("x")
    checked = pytensor.raise_op.Assert("no positive first entry")(x, x[0] > 0)
    f = pytensor.function([x], checked, mode=NOT_COMPILED)
    f([1.0])
    with pytest.raises(AssertionError, match="no positive first entry"):
        f([-1.0])
    f = pytensor.function([x], checked, mode=mlx_mode())
    with pytest.warns(UserWarning, match="can't check while it traces: no positive"):
        f([-1.0])


def test_compiled():
    x, w = pt.ftensor4("x"), pt.ftensor4("w")
    out = pt.nn.relu(pt.conv2d(x, w, ((1, 0), (0, 2)), (2, 1)))
    inputs = [x, w]
    outputs = [out, *pytensor.grad((out**2).sum(dtype="float32"), inputs)]
    mode, rng = mlx_mode(), np.random.default_rng(0)
    for shape in [(2, 4, 9, 8), (3, 4, 11, 7)]:
        values = [rng.normal(size=s).astype("float32") for s in (shape, (3, 4, 2, 3))]
        compare_mode_and_py(mode, inputs, outputs, values, rtol=1e-3, atol=1e-4)
