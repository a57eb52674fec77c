"""States of generators in programs of JAX."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode

pytest.importorskip("jax")

from pytensor.link.jax.dispatch.basic import jax_typify

pytestmark = pytest.mark.slow
MODES = {"jax_mode": jax_mode(), "JAX": "JAX"}


@pytest.mark.parametrize("mode", MODES)
def test_a_draw_changes_no_state_but_the_next(mode):
    """Draws from one state are equal, and the update is that after one of them."""
    generator = pytensor.shared(np.random.default_rng(0))
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    _, y = pt.random.normal(3, 2, size=2, rng=generator, return_next_rng=True)
    _, z = pt.random.normal(size=2, rng=moved, return_next_rng=True)
    f = pytensor.function([], [x, y, z], updates={generator: moved}, mode=MODES[mode])
    first, second = np.array(f()), np.array(f())
    for x, y, _ in (first, second):
        np.testing.assert_allclose(x * 2 + 3, y)
    np.testing.assert_allclose(first[2], second[0])
    assert (first[0] != second[0]).all()


@pytest.mark.parametrize("mode", MODES)
def test_another_generator_for_an_update(mode):
    """One that no draw has changed: each variable has a state of its own."""
    first, second = (pytensor.shared(np.random.default_rng(k)) for k in (1, 2))
    _, x = pt.random.normal(size=3, rng=first, return_next_rng=True)
    f = pytensor.function([], [x, second], updates={first: second}, mode=MODES[mode])
    draws, (state, *_) = zip(*(f() for _ in range(3)), strict=True)
    assert (draws[0] != draws[1]).all()
    np.testing.assert_array_equal(draws[1], draws[2])
    second.set_value(state)
    first.get_value(borrow=True).normal()
    np.testing.assert_array_equal(f()[0] == draws[1], False)
    np.testing.assert_array_equal(f()[0], draws[1])


@pytest.mark.parametrize("kind", ["PCG64", "SFC64"])
def test_converted_states_are_keys(kind):
    (key,) = jax_typify(np.random.Generator(getattr(np.random, kind)(1))).values()
    assert (key.shape, key.dtype) == ((2,), "uint32")
