import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.tensor.test_resize import CROP
from tests.utils import REFERENCE_MODE

pytest.importorskip("numba")


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({"size": (3, 7), "mode": "cubic", "antialias": True}, (None,) * 4),
        ({"scale": (0.45, 1.7), "mode": "linear", **CROP}, (None, 1, 5, 6)),
    ],
    ids=str,
)
def test_resize(options, shape):
    x = pt.tensor("x", shape=shape)
    value = np.random.default_rng(0).normal(size=(2, 1, 5, 6))
    out = pt.resize(x, **options)
    gradient = pytensor.grad((out**2).sum(), x)
    second = pytensor.grad((gradient**2).sum(), x)
    outputs = [out, gradient, second]
    results = pytensor.function([x], outputs, mode="NUMBA")(value)
    expected = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
