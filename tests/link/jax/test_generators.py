"""Generators of functions compiled by JAX: one stream, whichever function draws from it."""

import copy
import pickle
from functools import cache

import numpy as np
import pytest
from numpy.random import default_rng

import pytensor
import pytensor.tensor as pt
from pytensor.compile.io import In
from pytensor.compile.mode import Mode
from pytensor.conditional.op import ifelse
from pytensor.link.generators import key_of
from pytensor.link.jax import reseed
from tests.utils import assert_all_differ

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402

MODES = {"jax_mode": jax_mode(), "donate": jax_mode(donate=True), "JAX": "JAX"}
OTHERS = {"NUMBA": "NUMBA", "FAST_COMPILE": "FAST_COMPILE", "py": Mode("py", "fast_compile")}
slow = pytest.mark.slow


def drawing(generator, mode, updated=True):
    """Return a function that draws two normal numbers from a shared generator."""
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    return pytensor.function([], x, updates={generator: moved} if updated else None, mode=mode)


@cache
def compiled(name):
    """Return a shared generator and two functions of it."""
    generator = pytensor.shared(default_rng(0), name="rng")
    return generator, drawing(generator, MODES[name]), drawing(generator, MODES[name])


@cache
def stream(seed=0, count=6):
    """Return what one function of mode JAX draws from a new generator."""
    f = drawing(pytensor.shared(default_rng(seed)), "JAX")
    return np.array([f() for _ in range(count)])


@pytest.fixture(params=MODES)
def functions(request):
    """Return (generator, f, g), the generator with the seed 0."""
    generator, f, g = compiled(request.param)
    generator.set_value(default_rng(0))
    return generator, f, g


@pytest.fixture
def function():
    """Return (generator, f) of `jax_mode`, the generator with the seed 0."""
    generator, f, _ = compiled("jax_mode")
    generator.set_value(default_rng(0))
    return generator, f


def assert_drawn(draws, expected):
    """Assert equality but for rounding: the modes' programs differ."""
    np.testing.assert_allclose(draws, expected, rtol=1e-13)


@slow
def test_functions_continue_one_stream(functions):
    generator, f, g = functions
    draws = [f(), g(), g(), f(), g(), f()]
    assert_drawn(draws, stream())
    assert_all_differ(draws)
    for seed in (0, 1, 0):
        generator.set_value(default_rng(seed), borrow=bool(seed))
        assert_drawn([g(), f()], stream(seed)[:2])
    generator.set_value(seed=1)
    assert_drawn([f(), f()], stream(1)[:2])


@slow
@pytest.mark.parametrize("name", MODES)
def test_a_copy_with_another_generator(name):
    first, f, _ = compiled(name)
    first.set_value(default_rng(0))
    second = pytensor.shared(default_rng(1))
    draws, g = [f()], copy.copy(f).copy(swap={first: second})
    assert_drawn([g(), g()], stream(1)[:2])
    draws += [f(), f.copy()()]
    assert_drawn(draws, stream()[:3])
    assert_drawn(g(), stream(1)[2])
    back = g.copy(swap={second: first})
    draws += [back(), f()]
    assert_drawn(draws, stream()[:5])
    reseed(second, 5)
    draws.append(back())
    assert_drawn(draws, stream())


@slow
def test_a_copy_without_updates(function):
    _, f = function
    f()
    g = f.copy(delete_updates=True)
    assert_drawn([g(), g(), f()], stream()[[1, 1, 1]])
    assert_drawn(g(), stream()[2])


@slow
def test_a_function_without_updates_leaves_the_generator():
    generator = pytensor.shared(default_rng(0))
    f = drawing(generator, jax_mode(), updated=False)
    value = generator.get_value(borrow=True)
    assert_drawn([f(), f()], stream()[[0, 0]])
    assert generator.get_value(borrow=True) is value
    assert value.random() == default_rng(0).random()
    assert (f() != stream()[0]).all()


@pytest.mark.parametrize("kept", ["value", "pickle", "borrowed"])
def test_a_state_can_be_kept(function, kept):
    generator, f = function
    f()
    value = generator.get_value(borrow=kept == "borrowed")
    if kept == "pickle":
        value = pickle.loads(pickle.dumps(value))
    assert_drawn([f(), f()], stream()[1:3])
    for _ in range(2):
        generator.set_value(value)
        assert_drawn([f(), f()], stream()[1:3])


def test_a_generator_of_numpys_is_read(function):
    generator, f = function
    f()
    first, second = generator.get_value(), generator.get_value()
    assert type(first) is np.random.Generator
    assert first.bit_generator.state != default_rng(0).bit_generator.state
    assert first.normal() == second.normal() != default_rng(0).normal()
    assert b"pytensor" not in pickle.dumps(generator.get_value(borrow=True))
    assert_drawn([f(), f()], stream()[1:3])
    assert generator.get_value().normal() != first.normal()


def test_what_numpy_draws_from_the_borrowed_value_counts(function):
    generator, f = function
    f()
    generator.get_value(borrow=True).random()
    after = f()
    assert (after != stream()[1]).all()
    generator.set_value(default_rng(0))
    f()
    value = generator.get_value()
    value.random()
    generator.set_value(value)
    assert_drawn(f(), after)


@slow
@pytest.mark.parametrize("other", OTHERS)
def test_other_backends_continue(functions, other):
    generator, f, _ = functions
    g = drawing(generator, OTHERS[other])
    order = (f, f, g, g, f, f, g, f)
    draws = [h() for h in order]
    assert_all_differ(draws)
    assert_drawn(draws[:2], stream()[:2])
    generator.set_value(default_rng(0))
    assert_drawn([h() for h in order], draws)


@slow
def test_the_state_stays_on_the_device(functions):
    generator, f, g = functions
    f()
    assert isinstance(key_of(generator.get_value(borrow=True)), jax.Array)
    with jax.transfer_guard_device_to_host("disallow"):
        f()
        g()
    assert isinstance(key_of(generator.get_value(borrow=True)), jax.Array)
    assert repr(generator.get_value(borrow=True)).startswith("KeyGenerator(PCG64)")


@slow
@pytest.mark.parametrize("name", MODES)
def test_generators_as_inputs(name):
    first, second = pt.random.rng("first"), pt.random.rng("second")
    moved, x = first.normal(size=2)
    last, y = second.normal(size=2)
    inputs = [In(first), In(second, mutable=True)]
    f = pytensor.function(inputs, [moved, last, x, y], mode=MODES[name])
    states, draws = [default_rng(0), default_rng(1)], []
    for _ in range(3):
        *states, x, y = f(*states)
        assert all(isinstance(state, np.random.Generator) for state in states)
        draws.append((x, y))
    assert_drawn(draws, np.stack([stream(0)[:3], stream(1)[:3]], 1))
    given = default_rng(0), default_rng(0)
    assert_drawn(f(*given)[2:], stream()[[0, 0]])
    assert given[0].random() == default_rng(0).random()
    # NumPy goes on with what a function returned, and what comes back is another state.
    again = copy.deepcopy(states[0])
    assert states[0].random() == again.random()
    assert not np.isin(f(*states)[2], stream()).any()
    generator, g, _ = compiled(name)
    generator.set_value(f(*given)[1])
    assert_drawn(g(), stream()[1])


@slow
def test_two_inputs_that_are_one_object():
    first, second = pt.random.rng("first"), pt.random.rng("second")
    inputs = [In(v, mutable=True) for v in (first, second)]
    f = pytensor.function(inputs, [v.normal(size=2)[1] for v in (first, second)], mode=jax_mode())
    state = default_rng(0)
    assert_drawn(f(state, state), stream()[[0, 0]])
    state = compiled("jax_mode")[0].get_value(borrow=True)
    np.testing.assert_array_equal(*f(state, state))


@slow
def test_loops_continue_the_stream():
    def step(total, generator):
        moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
        return total + x, moved

    generator = pytensor.shared(default_rng(0))
    totals, moved = pytensor.scan(
        step, outputs_info=[pt.zeros(2), generator], n_steps=3, return_updates=False
    )
    f = pytensor.function([], totals[-1], updates={generator: moved}, mode=jax_mode())
    assert_drawn([f(), f()], stream().reshape(2, 3, 2).sum(1))


def test_a_condition_chooses_the_next_state():
    generator, draws = pytensor.shared(default_rng(0)), pt.bscalar("draws")
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    updates = {generator: ifelse(draws, moved, generator)}
    f = pytensor.function([draws], ifelse(draws, x, x * 0), updates=updates, mode=jax_mode())
    first, nothing, second = f(1), f(0), f(1)
    assert_drawn([first, second], stream()[:2])
    assert not nothing.any()


@slow
@pytest.mark.parametrize("mode", ["jax_mode", "JAX"])
def test_a_draw_changes_no_state_but_the_next(mode):
    """Draws from one state are equal, and the update is that after one of them."""
    generator = pytensor.shared(default_rng(0))
    moved, x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
    _, y = pt.random.normal(3, 2, size=2, rng=generator, return_next_rng=True)
    _, z = pt.random.normal(size=2, rng=moved, return_next_rng=True)
    f = pytensor.function([], [x, y, z], updates={generator: moved}, mode=MODES[mode])
    first, second = np.array(f()), np.array(f())
    for x, y, _ in (first, second):
        np.testing.assert_allclose(x * 2 + 3, y)
    np.testing.assert_allclose(first[2], second[0])
    assert (first[0] != second[0]).all()


@slow
@pytest.mark.parametrize("mode", ["jax_mode", "JAX"])
def test_another_generator_for_an_update(mode):
    """One that no draw has changed: each variable has a state of its own."""
    first, second = (pytensor.shared(default_rng(k)) for k in (1, 2))
    _, x = pt.random.normal(size=3, rng=first, return_next_rng=True)
    f = pytensor.function([], [x, second], updates={first: second}, mode=MODES[mode])
    draws, (state, *_) = zip(*(f() for _ in range(3)), strict=True)
    assert (draws[0] != draws[1]).all()
    np.testing.assert_array_equal(draws[1], draws[2])
    second.set_value(state)
    first.get_value(borrow=True).normal()
    np.testing.assert_array_equal(f()[0] == draws[1], False)
    np.testing.assert_array_equal(f()[0], draws[1])


@slow
def test_unused_generators_and_graphs_without_draws():
    """The draw goes while PyTensor rewrites the graph, for its length alone is asked for."""
    x = pt.random.normal(size=3, rng=pytensor.shared(default_rng(0)), return_next_rng=True)[1]
    for mode in MODES.values():
        assert pytensor.function([], x.shape[0], mode=mode)() == 3


@slow
def test_reseeded_functions_draw_the_same(functions):
    generator, f, g = functions
    reseed(generator, 3)
    draws = [f(), g()]
    assert_all_differ([*draws, *stream()])
    for what, function in ((generator, g), (f, f), (f, g), (g, f)):
        reseed(what, 3)
        assert_drawn([function(), function()], draws)
    reseed(f, [3, 1])
    assert_all_differ([f(), *draws])
