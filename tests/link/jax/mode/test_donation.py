"""Donated values of shared variables: the memory is used again, and nobody's array is deleted."""

import gc
import sys
import weakref

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402

MODE = jax_mode(donate=True)
VALUES = np.linspace(-1, 1, 5)


def variable(value=VALUES, name=None, **kwargs):
    return pytensor.shared(value, name=name, **kwargs)


def compile_step(updates, inputs=(), outputs=(), mode=MODE):
    return pytensor.function(
        list(inputs), list(outputs), updates=updates, mode=mode, trust_input=True
    )


def held(v):
    return v.get_value(borrow=True)


def adopt(v, value):
    """Give a variable a `jax.Array` as it is: set_value would make a NumPy array of it."""
    v.container.storage[0] = value


class TestMemoryIsUsedAgain:
    @pytest.mark.slow
    def test_old_value_is_deleted_and_its_place_taken(self):
        v = variable(np.arange(1000.0))
        step = compile_step([(v, v + 1)])
        step()
        storage = v.container.storage
        place, view = storage[0].unsafe_buffer_pointer(), Peek(storage[0])
        step()
        assert view.deleted
        assert storage[0].unsafe_buffer_pointer() == place
        np.testing.assert_array_equal(v.get_value(), np.arange(1000.0) + 2)

    def test_alias_of_xla_covers_all_updates(self):
        v, w = variable(np.ones(100)), variable(np.ones((7, 3)))
        x = pt.vector("x")
        step = compile_step([(v, v * x), (w, w + 1)], [x], [v.sum()])
        arguments = [jax.ShapeDtypeStruct(s, "float64") for s in [(100,), (100,), (7, 3)]]
        memory = step.vm.jit_fn.lower(*arguments).compile().memory_analysis()
        assert memory.alias_size_in_bytes == 8 * (100 + 21)

    @pytest.mark.parametrize("mode", ["JAX", jax_mode()], ids=["JAX", "jax_mode"])
    def test_other_modes_donate_nothing(self, mode):
        v = variable()
        step = compile_step([(v, v + 1)], mode=mode)
        step()
        before = Peek(held(v))
        step()
        assert not before.deleted

    def test_without_updates(self):
        x, v = pt.vector("x"), variable()
        f = pytensor.function([x], [x * v, x + v], mode=MODE)
        for _ in range(2):
            product, total = f(VALUES)
            np.testing.assert_allclose(product, VALUES**2)
            np.testing.assert_allclose(total, 2 * VALUES)


@pytest.fixture(scope="module", autouse=True)
def old_objects_aside():
    """Spare `gc.collect`, which tests call, what other files left: it would take seconds a call."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def counter():
    """Return a variable, and the function that adds 1 to it."""
    v = variable()
    return v, compile_step([(v, v + 1)])


def check_alive(array, expected):
    gc.collect()
    assert not array.is_deleted()
    np.testing.assert_array_equal(array, expected)


class TestOthersKeepTheirs:
    """After each call the user's array is there, with its values, and the variable is right."""

    @pytest.mark.slow
    def test_given_array(self, counter):
        v, step = counter
        mine = jax.numpy.asarray(VALUES) + 0
        adopt(v, mine)
        step()
        check_alive(mine, VALUES)
        np.testing.assert_allclose(held(v), VALUES + 1)

    @pytest.mark.slow
    def test_given_array_that_nobody_else_refers_to(self, counter):
        """Its memory may be that of another array: it is not known where it comes from."""
        v, step = counter
        mine = jax.numpy.asarray(VALUES) + 0
        adopt(v, jax.device_put(mine, jax.devices()[0]))
        step()
        check_alive(mine, VALUES)

    @pytest.mark.slow
    @pytest.mark.parametrize("give", ["shared", "set_value"])
    def test_borrowed_from_the_user(self, give):
        mine = jax.numpy.asarray(VALUES) + 0
        v = variable(np.asarray(mine) if give == "shared" else VALUES * 2, borrow=True)
        if give == "set_value":
            v.set_value(mine, borrow=True)
        step = compile_step([(v, v + 1)])
        step()
        step()
        check_alive(mine, VALUES)
        np.testing.assert_allclose(held(v), VALUES + 2)

    def test_numpy_array_is_not_written_to(self):
        # aligned, as JAX needs it to use the memory as it is
        memory = np.zeros(8 * 1000 + 64, "uint8")
        mine = memory[-memory.ctypes.data % 64 :][: 8 * 1000].view("float64")
        v = variable(mine, borrow=True)
        step = compile_step([(v, v + 1)])
        for given in (mine, jax.numpy.asarray(mine)):
            adopt(v, given)
            step()
            step()
            assert not mine.any()
            np.testing.assert_array_equal(held(v), np.full(1000, 2.0))

    def test_borrowed_by_the_user(self, counter):
        """What was borrowed is gone, as the contract says, and what wasn't stays."""
        v, step = counter
        v.set_value(VALUES)
        step()
        borrowed, copied = held(v), v.get_value()
        step()
        with pytest.raises(RuntimeError, match="deleted"):
            np.asarray(borrowed)
        np.testing.assert_array_equal(copied, VALUES + 1)
        np.testing.assert_allclose(held(v), VALUES + 2)

    @pytest.mark.slow
    @pytest.mark.parametrize("read", [lambda v: v, lambda v: v.dimshuffle("x", 0)[0]])
    def test_result_of_a_function_without_donation(self, counter, read):
        v, step = counter
        other = variable()
        v.set_value(VALUES)
        step()
        (result,) = pytensor.function(
            [], [pytensor.Out(read(v), borrow=True)], updates=[(other, read(v))], mode="JAX"
        )()
        step()
        check_alive(result, VALUES + 1)
        check_alive(held(other), VALUES + 1)

    def test_view_of_numpy(self, counter):
        v, step = counter
        v.set_value(VALUES)
        step()
        views = np.asarray(held(v)), np.from_dlpack(held(v)), np.asarray(held(v))[1:]
        for _ in range(3):
            step()
        for view, start in zip(views, (0, 0, 1), strict=True):
            np.testing.assert_allclose(view, VALUES[start:] + 1)
        np.testing.assert_allclose(held(v), VALUES + 4)

    def test_same_array_in_two_variables(self):
        v, w = variable(), variable()
        step = compile_step([(v, v + 1), (w, w * 2)])
        step()
        adopt(w, held(v))
        for _ in range(2):
            step()
        np.testing.assert_allclose(held(v), VALUES + 3)
        np.testing.assert_allclose(held(w), (VALUES + 1) * 4)

    @pytest.mark.slow
    def test_outputs_stay(self):
        """An output that is the new value, or the old one, is no part of the variable."""
        v = variable()
        new = v + 1
        step = compile_step([(v, new)], [], [new, v, pytensor.Out(v, borrow=True)])
        results = [step() for _ in range(3)]
        for number, (after, *before) in enumerate(results):
            check_alive(after, VALUES + number + 1)
            for old in before:
                check_alive(old, VALUES + number)
        np.testing.assert_allclose(held(v), VALUES + 3)


class TestUpdates:
    @pytest.mark.parametrize(
        "new",
        [lambda v, w: (v + w, v + w), lambda v, w: (w, v), lambda v, w: (v, w + v)],
        ids=["the same expression", "swapped", "one stays"],
    )
    def test_of_two_variables(self, new):
        variables, expected = (variable(), variable(VALUES * 2)), (VALUES, VALUES * 2)
        step = compile_step(list(zip(variables, new(*variables), strict=True)))
        for _ in range(3):
            step()
            expected = new(*expected)
            for v, value in zip(variables, expected, strict=True):
                np.testing.assert_allclose(held(v), value)

    @pytest.mark.slow
    def test_value_of_a_variable_or_input_that_stays(self):
        """The new value has memory of its own, or the next call would delete the other's."""
        v, w, u, x = variable(), variable(VALUES * 2), variable(VALUES * 3), pt.vector("x")
        step = compile_step([(v, w), (u, x)], [x])
        mine, other = (jax.numpy.asarray(VALUES) * k for k in (7, 5))
        adopt(w, mine)
        for _ in range(3):
            step(other)
        check_alive(mine, VALUES * 7)
        check_alive(other, VALUES * 5)
        np.testing.assert_allclose(held(v), VALUES * 7)
        np.testing.assert_allclose(held(u), VALUES * 5)

    def test_variables_that_stay_among_those_that_change(self):
        x, y = pt.vector("x"), pt.vector("y")
        first, stays, second = (variable(np.full(5, k), name=str(k)) for k in (1.0, 20.0, 300.0))
        updates = [(first, first + stays + x), (second, second + stays - y)]
        step = compile_step(updates, [x, y], [first + second])
        for k in range(3):
            (total,) = step(VALUES, 2 * VALUES)
            np.testing.assert_allclose(total, 301 + 40 * k - k * VALUES)
        np.testing.assert_allclose(held(first), 61 + 3 * VALUES)
        np.testing.assert_allclose(held(second), 360 - 6 * VALUES)
        assert (held(stays) == 20).all()

    def test_new_shape(self):
        """Its place can't be used again, as JAX says; others can."""
        v, w = variable(), variable(VALUES * 2)
        step = compile_step([(v, pt.concatenate([v, v])), (w, w + 1)])
        for _ in range(3):
            with pytest.warns(UserWarning, match="donated buffers were not usable"):
                step()
        np.testing.assert_allclose(held(v), np.tile(VALUES, 8))
        np.testing.assert_allclose(held(w), VALUES * 2 + 3)

    @pytest.mark.by_default("input")
    @pytest.mark.slow
    @pytest.mark.parametrize("shared", [False, True], ids=["input", "variable"])
    def test_length_that_is_part_of_the_program(self, shared):
        """JAX gets it as a number, which can't be donated; nor can a random generator."""
        v, m = variable(), variable(np.int64(3))
        n = variable(np.int64(2)) if shared else pt.lscalar("n")
        rng = pt.random.shared_rng(seed=1)
        next_rng, draw = rng.normal(size=(n,))
        updates = [(v, v + 1), (rng, next_rng), *([(n, m)] if shared else [])]
        step = compile_step(updates, [] if shared else [n], [draw])
        (first,), (second,) = (step(*([] if shared else [k])) for k in (2, 3))
        assert (len(first), len(second)) == (2, 3)
        assert not np.isin(first, second).any()
        assert step.vm.sizes
        before = Peek(held(v))
        step(*([] if shared else [3]))
        assert before.deleted
        np.testing.assert_allclose(held(v), VALUES + 3)


class TestSeveralFunctions:
    def test_variable_of_two_functions(self):
        """Either may donate what the other made: gradients are accumulated that way."""
        total, v, x = variable(VALUES * 0), variable(), pt.vector("x")
        add = compile_step([(total, total + x)], [x])
        apply = compile_step([(v, v - total), (total, total * 0)])
        for _ in range(2):
            for _ in range(2):
                add(VALUES)
            apply()
        before = Peek(held(total))
        add(VALUES)
        assert before.deleted
        before = Peek(held(total)), Peek(held(v))
        apply()
        assert all(peek.deleted for peek in before)
        np.testing.assert_allclose(held(v), VALUES * (1 - 5))
        np.testing.assert_allclose(held(total), VALUES * 0)

    @pytest.mark.by_default("False")
    @pytest.mark.slow
    @pytest.mark.parametrize("share_memory", [False, True])
    def test_copies(self, share_memory):
        v, w = variable(), variable(VALUES * 3)
        step = compile_step([(v, v + 1)], [], [v * 2])
        step()
        twin, other = step.copy(share_memory), step.copy(share_memory, swap={v: w})
        still = step.copy(delete_updates=True)
        for f in (twin, other, still, step):
            f()
        before = Peek(held(v))
        twin()
        assert before.deleted
        np.testing.assert_allclose(held(v), VALUES + 4)
        np.testing.assert_allclose(held(w), VALUES * 3 + 1)
        np.testing.assert_allclose(still()[0], (VALUES + 4) * 2)


class TestCalls:
    @pytest.mark.slow
    def test_call_does_not_wait(self):
        a = variable(np.random.default_rng(0).uniform(0, 1e-3, (400, 400)))
        product = a
        for _ in range(12):
            product = product @ a
        step = compile_step([(a, product)], [], [product.sum()])
        step()

        def waits():
            jax.block_until_ready(held(a))
            (result,) = step()
            return result.is_ready() and held(a).is_ready()

        assert not all(waits() for _ in range(5))  # this process may have to wait for the processor
        jax.block_until_ready(held(a))

    def test_one_program(self, counter):
        """Neither another host array nor one of JAX's needs another program."""
        v, step = counter
        for _ in range(2):
            v.set_value(VALUES)
            step()
            adopt(v, v.get_value())
            step()
        assert step.vm.jit_fn._cache_size() <= 2
        tracings = step.vm.jit_fn._cache_size()
        v.set_value(VALUES)
        step()
        assert step.vm.jit_fn._cache_size() == tracings

    def test_nothing_is_kept(self):
        """The function holds its last results, which the variables hold, and no input or output."""
        v, x = variable(), pt.vector("x")
        step = compile_step([(v, v + x)], [x], [x * 2])
        mine = jax.numpy.asarray(VALUES)
        (result,) = step(mine)
        alone = object()
        assert sys.getrefcount(mine) == sys.getrefcount(result) == sys.getrefcount(alone)


@pytest.mark.slow
def test_functions_are_freed():
    """With all that they hold, though thunks know of one another."""
    v = variable()
    step = compile_step([(v, v + 1)])
    step()
    thunk = weakref.ref(step.vm)
    del step
    gc.collect()
    assert thunk() is None
    assert sys.getrefcount(held(v)) == sys.getrefcount(object()) + 1


class Peek:
    """Tell whether an array was deleted, without holding it.

    Another array on the same memory is what donation can't see.
    """

    def __init__(self, array):
        self._twin = array.addressable_data(0)
        assert self._twin is not array

    @property
    def deleted(self):
        return self._twin.is_deleted()
