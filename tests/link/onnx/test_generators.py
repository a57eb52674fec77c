"""Generators of functions of mode ONNX: one stream, whichever function draws from it."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.conditional.op import ifelse
from pytensor.link.generators import key_of
from pytensor.link.jax import reseed
from pytensor.link.onnx.errors import ConversionError
from tests.utils import assert_all_differ

pytest.importorskip("onnxruntime")


def shared(seed=0):
    return pytensor.shared(np.random.default_rng(seed), name="rng")


def drawing(generator, size=2, mode="ONNX"):
    """Return a function that draws normal numbers from a shared generator."""
    moved, x = pt.random.normal(size=size, rng=generator, return_next_rng=True)
    return pytensor.function([], x, updates={generator: moved}, mode=mode)


def stream(count=6, seed=0):
    """Return what one function draws in several calls."""
    f = drawing(shared(seed))
    return np.array([f() for _ in range(count)])


def test_functions_and_copies_continue_one_stream():
    generator = shared()
    f, g = drawing(generator), drawing(generator)
    draws = [f(), g(), f.copy()(), g(), g.copy()(), f()]
    np.testing.assert_array_equal(draws, stream())
    assert_all_differ([*draws, *stream(2, seed=1)])
    other = shared(1)
    np.testing.assert_array_equal(f.copy(swap={generator: other})(), stream(1, seed=1)[0])
    still = f.copy(delete_updates=True)
    np.testing.assert_array_equal(still(), still())


def test_new_values_are_new_seeds():
    generator = shared()
    f = drawing(generator)
    f()
    kept = generator.get_value()
    after = [f(), f()]
    np.testing.assert_array_equal(after, stream()[1:3])
    for value, draws in ((kept, after), (np.random.default_rng(1), stream(2, 1)), (kept, after)):
        generator.set_value(value)
        np.testing.assert_array_equal([f(), f()], draws)
    for _ in range(2):
        reseed(f, 3)
        after.append(f())
    np.testing.assert_array_equal(*after[2:])
    generator.get_value(borrow=True).normal()
    assert_all_differ([f(), after[2], generator.get_value().normal(size=2)])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "JAX"])
def test_other_backends_continue(mode):
    generator = shared()
    f, g = drawing(generator), drawing(generator, mode=mode)
    order = (f, f, g, g, f, f, g, f)
    draws = [h() for h in order]
    assert_all_differ(draws)
    np.testing.assert_array_equal(draws[:2], stream(2))
    generator.set_value(np.random.default_rng(0))
    np.testing.assert_array_equal([h() for h in order], draws)


def test_generators_as_inputs_and_results():
    first, second = pt.random.rng("first"), pt.random.rng("second")
    moved, x = first.normal(size=2)
    last, y = moved.normal(size=2)
    other, z = second.normal(size=2)
    f = pytensor.function([first, second], [last, other, moved, x, y, z], mode="ONNX")
    states, draws = [np.random.default_rng(k) for k in (0, 1)], []
    for _ in range(3):
        *states, between, x, y, z = f(*states)
        draws += [x, y, z]
    assert_all_differ(draws)
    assert all(isinstance(state, np.random.Generator) for state in (*states, between))
    assert len({tuple(key_of(state)) for state in (*states, between)}) == 3
    given = [np.random.default_rng(k) for k in (0, 1)]
    np.testing.assert_array_equal(f(*given)[3:], draws[:3])
    assert given[0].random() == np.random.default_rng(0).random()
    # Draws depend on the states of their generator only.
    x, y, z = f(np.random.default_rng(0), np.random.default_rng(2))[3:]
    np.testing.assert_array_equal([x, y], draws[:2])
    assert_all_differ([z, *draws])


def test_results_beside_an_update():
    """Each is a state by itself; one that no draw has changed stays as it is."""
    first, second = shared(0), shared(1)
    moved, x = pt.random.normal(size=2, rng=first, return_next_rng=True)
    f = pytensor.function([], [x, moved], updates={first: moved, second: second}, mode="ONNX")
    x, state = f()
    state.normal()
    np.testing.assert_array_equal([x, f()[0]], stream(2))
    np.testing.assert_array_equal(key_of(second.get_value()), key_of(np.random.default_rng(1)))
    g = pytensor.function([], [], updates={first: moved, second: first}, mode="ONNX")
    first.set_value(np.random.default_rng(0))
    g()
    np.testing.assert_array_equal(drawing(first)(), stream(2)[1])
    np.testing.assert_array_equal(drawing(second)(), stream(1)[0])


def test_draws_from_one_state_are_equal():
    generator = shared()
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    _, y = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    _, z = pt.random.normal(size=2, rng=moved, return_next_rng=True)
    f = pytensor.function([], [x, y, z], updates={generator: moved}, mode="ONNX")
    draws = [f(), f()]
    for x, y, _ in draws:
        np.testing.assert_array_equal(x, y)
    assert_all_differ([(x, z) for x, _, z in draws])


@pytest.mark.slow
def test_loops_continue_the_stream():
    def step(total, generator):
        moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
        return total + x, moved

    first, second = shared(0), shared(1)
    totals, moved = pytensor.scan(
        step, outputs_info=[pt.zeros(2), first], n_steps=3, return_updates=False
    )
    others, last = pytensor.scan(
        step, outputs_info=[pt.zeros(2), second], n_steps=3, return_updates=False
    )
    updates = {first: moved, second: last}
    f = pytensor.function([], [totals, others], updates=updates, mode="ONNX")
    draws = np.diff([f(), f()], axis=2, prepend=0)
    assert_all_differ(draws)
    for generator, seed in ((first, 0), (second, 1)):
        assert (key_of(generator.get_value()) != key_of(np.random.default_rng(seed))).any()


def test_a_state_that_a_condition_chooses():
    generator, flag = shared(), pt.bscalar("flag")
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    chosen, y = ifelse(flag, [moved, x], [generator, x * 0])
    f = pytensor.function([flag], y, updates={generator: chosen}, mode="ONNX")
    draws = [f(1), f(0), f(1)]
    assert_all_differ([draws[0], draws[2]])
    np.testing.assert_array_equal(draws[1], [0, 0])


def test_a_state_that_is_made_within_the_function_is_refused():
    made = pt.random.op.default_rng(3)
    moved, x = pt.random.normal(size=2, rng=made, return_next_rng=True)
    with pytest.raises(ConversionError, match="is made within the function"):
        pytensor.function([], [x, moved], mode="ONNX")
