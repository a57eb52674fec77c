"""Windows of pytensor-ml in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.link.jax import jax_mode

pytest.importorskip("pytensor_ml", reason="pytensor-ml isn't installed")

from pytensor_ml.layers.conv import Im2Col


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 6, 7, 4), (None, None, 7, None)])
def test_windows_and_their_gradient(shape):
    x = pt.tensor("x", shape=shape, dtype="float32")
    y = Im2Col((2, 3), (2, 1), (1, 2))(x)
    outputs = [y, pt.grad((y**2).sum(), x)]
    numbers = np.random.default_rng(0).normal(size=(2, 6, 7, 4)).astype("float32")
    found = pytensor.function([x], outputs, mode=jax_mode())(numbers)
    expected = pytensor.function([x], outputs, mode=Mode("py", None))(numbers)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
