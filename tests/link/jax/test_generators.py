"""Generators of functions compiled by JAX: one stream, whichever function draws from it."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import jax

import pytensor
import pytensor.tensor as pt
from pytensor.compile.io import In
from pytensor.compile.mode import Mode
from pytensor.link.jax import reseed
from pytensor.link.jax.generators import JAXGenerator, key_of, state_of
from pytensor.link.jax.tuned import jax_mode

MODES = {"jax_mode": jax_mode(), "donate": jax_mode(donate=True), "JAX": "JAX"}
OTHERS = {"NUMBA": "NUMBA", "FAST_COMPILE": "FAST_COMPILE", "py": Mode("py", "fast_compile")}
KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


def shared(seed=0, kind="PCG64"):
    return pytensor.shared(np.random.Generator(getattr(np.random, kind)(seed)), name="rng")


def drawing(generator, mode, size=2, updated=True):
    """Return a function that draws normal numbers from a shared generator."""
    moved, x = pt.random.normal(size=size, rng=generator, return_next_rng=True)
    return pytensor.function([], x, updates={generator: moved} if updated else None, mode=mode)


def stream(mode, count=6, seed=0):
    """Return what one function draws in several calls."""
    f = drawing(shared(seed), mode)
    return np.array([f() for _ in range(count)])


def assert_all_differ(draws):
    assert len(np.unique(np.concatenate(list(map(np.ravel, draws))))) == sum(map(np.size, draws))


def test_functions_of_a_generator_continue_one_stream(mode):
    generator = shared()
    f, g = drawing(generator, mode), drawing(generator, mode)
    draws = [f(), g(), g(), f(), g(), f()]
    np.testing.assert_array_equal(draws, stream(mode))
    assert_all_differ(draws)


def test_a_copy_continues(mode):
    f = drawing(shared(), mode)
    draws = [f(), f()]
    g = f.copy()
    draws += [g(), f(), copy.copy(g)(), f()]
    np.testing.assert_array_equal(draws, stream(mode))


def test_a_copy_of_another_generator(mode):
    first, second = shared(0), shared(1)
    f = drawing(first, mode)
    draws = [f()]
    g = f.copy(swap={first: second})
    np.testing.assert_array_equal([g(), g()], stream(mode, 2, seed=1))
    draws += [f()]
    np.testing.assert_array_equal(draws, stream(mode, 2))
    second.set_value(np.random.default_rng(1))
    np.testing.assert_array_equal([g(), g.copy()()], stream(mode, 2, seed=1))
    first.set_value(np.random.default_rng(5))
    np.testing.assert_array_equal(g.copy(swap={second: first})(), stream(mode, 1, seed=5)[0])


def test_a_copy_without_updates(mode):
    f = drawing(shared(), mode)
    draws, g = [f()], f.copy(delete_updates=True)
    assert (g() == g()).all()
    draws += [g()]
    np.testing.assert_array_equal(draws, stream(mode, 2))
    assert (f() == draws[1]).all()
    assert (f() != draws[1]).all()


def test_a_function_without_updates_leaves_the_generator(mode):
    generator = shared()
    f = drawing(generator, mode, updated=False)
    value = generator.get_value(borrow=True)
    np.testing.assert_array_equal([f(), f()], stream(mode, 1)[[0, 0]])
    assert generator.get_value(borrow=True) is value
    assert value.random() == np.random.default_rng(0).random()
    assert (f() != stream(mode, 1)[0]).all()


def test_a_new_value_is_a_new_seed(mode):
    generator = shared()
    f = drawing(generator, mode)
    for seed in (0, 1, 0, 0):
        generator.set_value(np.random.default_rng(seed), borrow=bool(seed))
        np.testing.assert_array_equal([f(), f()], stream(mode, 2, seed))
    generator.set_value(seed=1)
    np.testing.assert_array_equal([f(), f()], stream(mode, 2, 1))


@pytest.mark.parametrize("kept", ["value", "pickle", "borrowed"])
def test_a_state_can_be_kept(mode, kept):
    generator = shared()
    f = drawing(generator, mode)
    first = f()
    value = generator.get_value(borrow=kept == "borrowed")
    if kept == "pickle":
        value = pickle.loads(pickle.dumps(value))
    draws = [first, f(), f()]
    np.testing.assert_array_equal(draws, stream(mode, 3))
    for _ in range(2):
        generator.set_value(value)
        np.testing.assert_array_equal([f(), f()], draws[1:])


def test_what_is_read_is_a_generator_of_numpys(mode):
    generator = shared()
    f = drawing(generator, mode)
    draws = [f()]
    first, second = generator.get_value(), generator.get_value()
    assert type(first) is np.random.Generator
    assert first.bit_generator.state != np.random.default_rng(0).bit_generator.state
    assert first.normal() == second.normal() != np.random.default_rng(0).normal()
    assert b"pytensor" not in pickle.dumps(first)
    draws += [f(), f()]
    np.testing.assert_array_equal(draws, stream(mode, 3))
    assert generator.get_value().normal() != first.normal()


@pytest.mark.parametrize("other", OTHERS)
def test_backends_take_turns(mode, other):
    generator = shared()
    f, g = drawing(generator, mode), drawing(generator, OTHERS[other])
    draws = [f(), f(), g(), g(), f(), f(), g(), f()]
    assert_all_differ(draws)
    np.testing.assert_array_equal(draws[:2], stream(mode, 2))
    generator.set_value(np.random.default_rng(0))
    np.testing.assert_array_equal([h() for h in (f, f, g, g, f, f, g, f)], draws)


def test_modes_of_jax_take_turns():
    generator = shared()
    functions = [drawing(generator, mode) for mode in MODES.values()]
    draws = [f() for f in functions * 2]
    np.testing.assert_allclose(draws, stream("JAX"), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_generators(kind, mode):
    draws = []
    for _ in range(2):
        generator = shared(3, kind)
        f = drawing(generator, mode)
        draws.append([f(), f()])
    np.testing.assert_array_equal(*draws)
    assert_all_differ(draws[0])


@pytest.mark.parametrize("kind", KINDS)
def test_each_draw_of_numpys_changes_the_key(kind):
    """Also one of 32 bits, for which the last draw left them."""
    generator = np.random.Generator(getattr(np.random, kind)(3))
    keys = [tuple(key_of(generator))]
    for _ in range(5):
        generator.random(dtype="float32")
        keys.append(tuple(key_of(generator)))
    assert len(set(keys)) == 6
    assert key_of(generator).dtype == "uint32"
    other = copy.deepcopy(generator)
    assert tuple(key_of(other)) == keys[-1]


def test_keys_are_those_of_pytensor():
    state = np.random.default_rng(7).bit_generator.state["state"]["state"]
    key = key_of(np.random.default_rng(7))
    np.testing.assert_array_equal(key, [state % 2**32, state // 2**32 % 2**32])


def test_a_key_becomes_a_generator_and_comes_back():
    key = jax.numpy.array([5, 2**31], "uint32")
    generator = JAXGenerator(key)
    assert key_of(generator) is key
    for made in (copy.deepcopy(generator), copy.copy(generator), generator):
        np.testing.assert_array_equal(key_of(made), key)
    assert state_of(generator)["jax_state"].tolist() == [5, 2**31]
    generator.integers(9)
    assert (key_of(generator) != key).all()


def test_the_state_stays_on_the_device(mode):
    generator = shared()
    x = pt.vector("x")
    moved, noise = pt.random.normal(x, rng=generator, return_next_rng=True)
    f = pytensor.function([x], noise, updates={generator: moved}, mode=mode)
    f(np.zeros(3))
    assert isinstance(key_of(generator.get_value(borrow=True)), jax.Array)
    with jax.transfer_guard_device_to_host("disallow"):
        f(np.zeros(3))
    assert isinstance(key_of(generator.get_value(borrow=True)), jax.Array)


@pytest.mark.parametrize("mutable", [False, True])
def test_a_generator_as_an_input(mode, mutable):
    generator = pt.random.rng("generator")
    moved, x = generator.normal(size=2)
    f = pytensor.function([In(generator, mutable=mutable)], [moved, x], mode=mode)
    given = np.random.default_rng(0)
    state, draws = given, []
    for _ in range(3):
        state, drawn = f(state)
        assert isinstance(state, np.random.Generator)
        draws.append(drawn)
    np.testing.assert_array_equal(draws, stream(mode, 3))
    assert (f(np.random.default_rng(0))[1] == draws[0]).all()
    # It goes on in NumPy and comes back.
    again = copy.deepcopy(state)
    assert state.random() == again.random()
    assert (f(state)[1] != drawn).all()
    other = shared(9)
    other.set_value(f(np.random.default_rng(0))[0])
    np.testing.assert_array_equal(drawing(other, mode)(), draws[1])


def test_an_input_with_a_generator_as_its_value(mode):
    generator = pt.random.rng("generator")
    moved, x = generator.normal(size=2)
    given = In(generator, value=shared(), update=moved, mutable=True)
    f = pytensor.function([given], x, mode=mode)
    np.testing.assert_array_equal([f(), f()], stream(mode, 2))
    reseed(f, 3)
    draws = [f(), f()]
    reseed(f, 3)
    np.testing.assert_array_equal([f(), f()], draws)


def test_two_generators_as_inputs(mode):
    first, second = pt.random.rng("first"), pt.random.rng("second")
    moved, x = first.normal(size=2)
    last, y = second.normal(size=2)
    inputs = [In(v, mutable=True) for v in (first, second)]
    f = pytensor.function(inputs, [moved, last, x, y], mode=mode)
    states, draws = [np.random.default_rng(k) for k in (0, 1)], []
    for _ in range(2):
        *states, x, y = f(*states)
        draws.append((x, y))
    expected = zip(stream(mode, 2, 0), stream(mode, 2, 1), strict=True)
    np.testing.assert_array_equal(draws, list(expected))


def test_draws_from_one_state_are_equal(mode):
    """As in Python: a draw changes no state but that which it returns."""
    generator = shared()
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    _, y = pt.random.normal(3, 2, size=2, rng=generator, return_next_rng=True)
    f = pytensor.function([], [x, y], updates={generator: moved}, mode=mode)
    draws = np.array([f(), f()])
    np.testing.assert_allclose(draws[:, 0] * 2 + 3, draws[:, 1])
    np.testing.assert_array_equal(draws[:, 0], stream(mode, 2))


def test_another_generator_for_an_update(mode):
    """One that no draw has changed: its state is copied."""
    if mode == "JAX":
        pytest.skip("mode JAX copies no generator")
    first, second = shared(1), shared(2)
    _, x = pt.random.normal(size=2, rng=first, return_next_rng=True)
    f = pytensor.function([], x, updates={first: second}, mode=mode)
    np.testing.assert_array_equal([f(), f(), f()], [*stream(mode, 1, 1), *stream(mode, 1, 2)[[0, 0]]])
    first.get_value(borrow=True).normal()
    assert second.get_value().normal() == np.random.default_rng(2).normal()


def test_loops_continue_the_stream(mode):
    def step(total, generator):
        moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
        return total + x, moved

    generator = shared()
    totals, moved = pytensor.scan(
        step, outputs_info=[pt.zeros(2), generator], n_steps=3, return_updates=False
    )
    f = pytensor.function([], totals, updates={generator: moved}, mode=mode)
    draws = np.concatenate([f(), f()[:]])
    draws[1:3] -= draws[:2].copy()
    draws[4:] -= draws[3:5].copy()
    np.testing.assert_allclose(draws, stream(mode))


def test_a_deep_copy_has_a_stream_of_its_own(mode):
    f = drawing(shared(), mode)
    first = f()
    other = copy.deepcopy(f)
    np.testing.assert_array_equal([first, other(), other()], stream(mode, 3))
    np.testing.assert_array_equal([first, f(), f()], stream(mode, 3))


def test_a_found_function_is_compiled_without_a_warning(recwarn, mode):
    drawing(shared(), mode)()
    assert not recwarn


class TestReseed:
    def test_a_shared_generator(self, mode):
        generator = shared()
        f = drawing(generator, mode)
        reseed(generator, 3)
        draws = [f(), f()]
        assert_all_differ([*draws, *stream(mode, 2, 3)])
        reseed(generator, 3)
        np.testing.assert_array_equal([f(), f()], draws)
        reseed(f, 3)
        np.testing.assert_array_equal([f(), f()], draws)
        reseed(f, [3, 1])
        assert_all_differ([f(), *draws])

    @pytest.mark.parametrize("mode", [*MODES.values(), "FAST_COMPILE"])
    def test_generators_get_independent_states(self, mode):
        first, second = shared(), shared()
        updates, draws = {}, []
        for generator in (first, second):
            updates[generator], x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
            draws.append(x)
        f = pytensor.function([], draws, updates=updates, mode=mode)
        x, y = f()
        assert (x == y).all()
        reseed(f, 7)
        drawn = f()
        assert_all_differ(drawn)
        seeds = np.random.SeedSequence(7).spawn(2)
        for generator, seed in zip((first, second), seeds, strict=True):
            generator.set_value(np.random.default_rng(seed))
        np.testing.assert_array_equal(f(), drawn)

    def test_what_has_no_generator(self):
        x = pt.vector("x")
        with pytest.raises(ValueError, match="no generator"):
            reseed(pytensor.function([x], x * 2, mode="FAST_COMPILE"), 1)
        with pytest.raises(TypeError, match="a float64 vector|Vector"):
            reseed(pytensor.shared(np.zeros(2)), 1)
        with pytest.raises(TypeError, match="int"):
            reseed(3, 1)
