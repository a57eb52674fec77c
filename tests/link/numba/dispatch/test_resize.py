import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.tensor.nn.test_interpolation import SCALED, compare_scaled
from tests.tensor.resize.test_resize import CROP
from tests.utils import compare_mode_and_py

pytest.importorskip("numba")


def test_crop():
    x = pt.tensor("x", shape=(None, 1, 5, 6), dtype="float64")
    value = np.random.default_rng(0).normal(size=(2, 1, 5, 6))
    out = pt.resize(x, scale=(0.45, 1.7), mode="linear", **CROP)
    gradient = pytensor.grad((out**2).sum(), x)
    second = pytensor.grad((gradient**2).sum(), x)
    nan = value.copy()
    nan[0, 0, 2, 3] = np.nan
    outputs = [out, gradient, second]
    for image in (value, nan, value[:0]):
        compare_mode_and_py("NUMBA", [x], outputs, [image], rtol=1e-9, atol=1e-15)


@pytest.mark.slow
def test_no_cells_at_run_time():
    x = pt.vector("x")
    f = pytensor.function([x], pt.resize(x, scale=(0.5,)), mode="NUMBA")
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [1.0])
    with pytest.raises(ValueError, match="leaves no cell of length 1"):
        f(np.array([1.0]))
    with pytest.raises(ValueError, match="axis 0 has length 0"):
        f(np.empty(0))


@pytest.mark.slow
@pytest.mark.parametrize("how", SCALED[:2], ids=str)
def test_factors_of_open_lengths(how):
    compare_scaled(how, "NUMBA")
