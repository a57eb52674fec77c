"""The default mode, NUMBA, runs every operator and its gradient without a warning.

Pooling and second derivatives are beside the dispatch.
"""

import numpy as np
import pytest

import pytensor
from tests.catalogue.operators import OPERATORS
from tests.utils import REFERENCE_MODE

pytest.importorskip("numba")

# One for each Op that Numba has a conversion of; tests/tensor/test_backends.py has conv2d, silu and
# topk, with second derivatives, too, and dispatch/test_resize.py two of those of resize.
NAMES = ("batch_norm", "batch_norm, training")
LONG = ("resize, nearest", "resize, antialias")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(n, marks=pytest.mark.long) for n in LONG)])
def test_default_mode(name):
    inputs, outputs, values = OPERATORS[name].graph(order=1)
    results = pytensor.function(inputs, outputs, mode="NUMBA")(*values)
    expected = pytensor.function(inputs, outputs, mode=REFERENCE_MODE)(*values)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
