"""Assertions, which PyTensor's conversion to JAX leaves out."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.raise_op import Assert

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode


def test_checks_of_shapes_are_made_while_jax_traces():
    """PyTensor's conversion leaves them out, and warns."""
    x = pt.vector("x", dtype="float64")
    checked = Assert("an odd length")(x, pt.eq(x.shape[0] % 2, 0))
    f = pytensor.function([x], checked * 2, mode=jax_mode())
    np.testing.assert_array_equal(f(np.ones(2)), [2, 2])
    with pytest.raises(AssertionError, match="an odd length"):
        f(np.ones(3))


def test_an_assertion_on_a_number_of_the_call_is_warned_about():
    x, n = pt.vector("x"), pt.lscalar("n")
    f = pytensor.function([x, n], Assert("too many")(x * n, n < 3), mode=jax_mode())
    with pytest.warns(UserWarning, match="Skipping Assert.*too many"):
        f(np.ones(4), 3)
