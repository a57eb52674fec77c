"""Programs on disk that draw random numbers."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.mode.store.stored import MODE, empty_jax_cache, programs

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder")]


def make_draws(mode):
    """Return (function, generator): draws, which a loss and a state's update depend on."""
    rng = pytensor.shared(np.random.default_rng(3), name="rng")
    after, draws = pt.random.normal(size=(2, 3), rng=rng, return_next_rng=True)
    w = pytensor.shared(np.zeros(3), name="w")
    updates = [(rng, after), (w, w + draws.sum(0))]
    return pytensor.function([], [draws, w], updates=updates, mode=mode), rng, w


@pytest.mark.by_default("True")
@pytest.mark.parametrize("donate", [True, False])
def test_a_shared_generator(donate, folder, traced):
    expected, rng, w = make_draws(jax_mode(donate=donate))
    calls, state = [expected() for _ in range(3)], w.get_value()
    assert len({float(draws[0, 0]) for draws, _ in calls}) == 3  # the generator has advanced
    after = rng.get_value().bit_generator.state
    traced.clear()
    empty_jax_cache(folder)
    for deferred in (False, True):
        f, rng, w = make_draws(jax_mode(donate=donate, keep_programs=True))
        assert f.maker.deferred == deferred
        for call in calls:
            for one, other in zip(f(), call, strict=True):
                np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(w.get_value(), state)
        assert rng.get_value().bit_generator.state == after
        rng.set_value(np.random.default_rng(3))
        np.testing.assert_array_equal(f()[0], calls[0][0])
        assert f.maker.deferred == deferred
    assert (len(traced), len(programs(folder))) == (1, 1)


def test_functions_that_share_a_generator(folder):
    """They continue one stream, whether their programs were found or not."""
    results = []
    for _ in range(2):
        rng = pytensor.shared(np.random.default_rng(3), name="rng")
        after, draws = pt.random.uniform(size=(2,), rng=rng, return_next_rng=True)
        one, other = (
            pytensor.function([], k * draws, updates=[(rng, after)], mode=MODE) for k in (1, 2)
        )
        results.append([one(), other() / 2, one(), other() / 2])
        rng.set_value(np.random.default_rng(3))
        np.testing.assert_array_equal([one(), one(), one(), one()], results[-1])
        assert len(np.unique(results[-1])) == 8
    np.testing.assert_array_equal(*results)
    assert len(programs(folder)) == 2


def test_a_found_program_of_draws_is_converted_when_it_is_asked_for():
    calls = [f() for f in [make_draws(MODE)[0]] for _ in range(3)]
    f, *_ = make_draws(MODE)
    assert f.maker.deferred
    arguments = [container.storage[0] for container in f.input_storage]
    assert "threefry" in f.vm.jit_fn.lower(*arguments).as_text()
    assert not f.maker.deferred
    for call in calls:
        for one, other in zip(f(), call, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.by_default("True")
@pytest.mark.slow
@pytest.mark.parametrize("donate", [True, False])
def test_draws_of_arguments_of_other_shapes(donate):
    """A found program doesn't fit: the function is traced, and goes on with its generator."""
    results = []
    for _ in range(2):
        x = pt.matrix("x", dtype="float64")
        rng = pytensor.shared(np.random.default_rng(3), name="rng")
        after, draws = pt.random.normal(x, rng=rng, return_next_rng=True)
        mode = jax_mode(donate=donate, keep_programs=True)
        f = pytensor.function([x], draws, updates=[(rng, after)], mode=mode)
        results.append([f(np.zeros((rows, 2))) for rows in (3, 4, 4, 3)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len({float(draws[0, 0]) for draws in results[0]}) == 4


@pytest.mark.by_default("False")
@pytest.mark.parametrize("donate", [True, False])
def test_a_generator_as_an_argument(donate, folder):
    rng = pt.random.type.random_generator_type("rng")
    w = pytensor.shared(np.zeros(3), name="w")
    after, draws = pt.random.normal(size=(3,), rng=rng, return_next_rng=True)
    results = []
    for keep in (False, True, True):
        mode = jax_mode(donate=donate, keep_programs=keep)
        w.set_value(np.zeros(3))
        updates = [(w, w + draws)]
        f = pytensor.function([rng], [after, draws], updates=updates, mode=mode)
        state, values = np.random.default_rng(3), []
        for _ in range(3):
            state, drawn = f(state)
            values.append(drawn)
        np.testing.assert_allclose(w.get_value(), sum(values))
        results.append(values)
        assert len({float(drawn[0]) for drawn in values}) == 3
        if not keep:
            empty_jax_cache(folder)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    assert len(programs(folder)) == 1
