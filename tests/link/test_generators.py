"""Generators that backends draw from by keys, and their seeds."""

import copy
import pickle

import numpy as np
import pytest
from numpy.random import default_rng

import pytensor
import pytensor.tensor as pt
from pytensor.compile.io import In
from pytensor.link.generators import KeyGenerator, key_of, reseed

KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


@pytest.mark.parametrize("kind", KINDS)
def test_each_draw_of_numpys_changes_the_key(kind):
    """Also one of 32 bits, half of what the last one took."""
    generator = np.random.Generator(getattr(np.random, kind)(3))
    keys = [tuple(key_of(generator))]
    for _ in range(5):
        generator.random(dtype="float32")
        keys.append(tuple(key_of(generator)))
    assert len(set(keys)) == 6
    assert key_of(generator).dtype == "uint32"
    assert tuple(key_of(copy.deepcopy(generator))) == keys[-1]


def test_keys_are_those_of_pytensor():
    state = default_rng(7).bit_generator.state["state"]["state"]
    np.testing.assert_array_equal(key_of(default_rng(7)), [state % 2**32, (state >> 32) % 2**32])


def test_a_key_becomes_a_generator_and_comes_back():
    key = np.array([5, 2**31], "uint32")
    generator = KeyGenerator(key)
    assert key_of(generator) is key
    copies = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator)), copy.copy(generator)]
    for made in (*copies, generator):
        assert type(made) is (KeyGenerator if made is generator else np.random.Generator)
        np.testing.assert_array_equal(key_of(made), key)
    generator.integers(9)
    assert (key_of(generator) != key).all()


def test_a_key_that_cannot_be_read_is_kept():
    class Key:
        def __array__(self, *args, **kwargs):
            raise RuntimeError("the device is lost")

    generator = KeyGenerator(Key())
    for _ in range(2):
        with pytest.raises(RuntimeError, match="lost"):
            generator.random()


@pytest.mark.parametrize("mode", ["FAST_COMPILE", pytest.param("NUMBA", marks=pytest.mark.slow)])
def test_reseeded_generators_get_independent_states(mode):
    generators = [pytensor.shared(default_rng(0)) for _ in range(2)]
    updates, draws = {}, []
    for generator in generators:
        updates[generator], x = pt.random.normal(size=2, rng=generator, return_next_rng=True)
        draws.append(x)
    f = pytensor.function([], draws, updates=updates, mode=mode)
    np.testing.assert_array_equal(*f())
    reseed(f, 7)
    drawn = f()
    assert not np.isin(*drawn).any()
    for generator, seed in zip(generators, np.random.SeedSequence(7).spawn(2), strict=True):
        generator.set_value(default_rng(seed))
    np.testing.assert_array_equal(f(), drawn)


def test_a_generator_of_the_function_alone_is_reseeded():
    generator = pt.random.rng("generator")
    moved, x = generator.normal()
    given = In(generator, value=pytensor.shared(default_rng(0)), update=moved, mutable=True)
    f = pytensor.function([given], x, mode="FAST_COMPILE")
    reseed(f, 3)
    drawn = f()
    reseed(f, 3)
    assert f() == drawn


def test_what_has_no_generator_is_not_reseeded():
    generator = pt.random.rng("generator")
    f = pytensor.function([generator], generator.normal()[1], mode="FAST_COMPILE", name="noise")
    with pytest.raises(ValueError, match="function noise has no generator"):
        reseed(f, 1)
    with pytest.raises(TypeError, match=r"got .* of class .*; expected a compiled function"):
        reseed(pytensor.shared(np.zeros(2)), 1)
    with pytest.raises(TypeError, match=r"expected a compiled function or a shared generator"):
        reseed(generator, 1)
