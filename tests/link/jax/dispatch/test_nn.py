import numpy as np
import pytest

import pytensor.tensor as pt
from tests.catalogue.operators import ACTIVATIONS, OPERATORS
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


@pytest.mark.parametrize(("dtype", "value"), [("int64", -2), ("uint8", 3), ("float32", 0.5)])
def test_activations_of_scalars(dtype, value):
    x = pt.scalar("x", dtype=dtype)
    outputs = [OPERATORS[name].build(x) for name in ACTIVATIONS]
    compare_jax_and_py([x], outputs, [np.asarray(value, dtype=dtype)])
