"""Random generators of backends that draw by keys: one stream, whichever function draws from it.

A shared generator holds a `numpy.random.Generator` in every mode.  Modes JAX and ONNX draw by a key
of 64 bits, which is made of the generator's state.  After a call the shared variable holds a
`KeyGenerator`: the next key, which may still be on a device, and a generator of NumPy's once
something else reads it.  The backend goes on with the same key until NumPy has drawn from that.
"""

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable

if TYPE_CHECKING:
    from pytensor.compile.executor import Function

__all__ = ["KeyGenerator", "key_of", "reseed"]

# In seeds made of a key, by which it is found again.
MARK = (0x4A4158,)
_lock = Lock()


class KeyGenerator(np.random.Generator):
    """A generator that a backend has drawn from by keys; NumPy seeds it when it is read.

    Copies and pickles are of class `numpy.random.Generator`.

    Parameters
    ----------
    key : array, shape (2,), uint32
        By which the backend draws next; it may be on a device.
    """

    __slots__ = ("_key",)

    def __init__(self, key: Any) -> None:
        self._key = key

    def __getattribute__(self, name: str) -> Any:
        # Methods of NumPy's read the C structure that `Generator.__init__` fills.
        if name not in ("__class__", "_key") and self._key is not None:
            with _lock:
                if self._key is not None:
                    np.random.Generator.__init__(self, _bits_of(np.asarray(self._key)))
                    self._key = None
        return super().__getattribute__(name)


def _bits_of(key: Any) -> np.random.PCG64:
    """Return NumPy's default bit generator, seeded by a key."""
    return np.random.PCG64(np.random.SeedSequence([int(k) for k in key], spawn_key=MARK))


def key_of(generator: np.random.Generator) -> Any:
    """Return the key by which a backend draws next.

    Parameters
    ----------
    generator : numpy.random.Generator
        Of any bit generator.

    Returns
    -------
    array, shape (2,), uint32
        The one that a `KeyGenerator` was made of, until NumPy has drawn from it; else words of the
        generator's state.
    """
    if isinstance(generator, KeyGenerator) and (key := generator._key) is not None:
        return key
    bits = generator.bit_generator
    state: Any = bits.state
    seeds = bits.seed_seq
    if isinstance(seeds, np.random.SeedSequence) and seeds.spawn_key == MARK:
        words = np.array(seeds.entropy, "uint32")
        if _bits_of(words).state == state:
            return words
    if "PCG64" in state["bit_generator"] and not state["has_uint32"]:
        # The key that PyTensor's `jax_typify` makes.
        return np.array([state["state"]["state"] >> k & 0xFFFFFFFF for k in (0, 32)], "uint32")
    return np.random.SeedSequence(list(_numbers(state))).generate_state(2)


def _numbers(state: Any) -> Iterator[int]:
    """Yield the integers that a state consists of."""
    if isinstance(state, dict):
        for value in state.values():
            yield from _numbers(value)
    elif not isinstance(state, str):
        yield from np.ravel(state).tolist()


def reseed(function_or_shared: "Function | SharedVariable", seed: int | Sequence[int]) -> None:
    """Give the generators that a compiled function draws from new states.

    Functions of all modes that draw from the same shared generators go on with the new states.

    Parameters
    ----------
    function_or_shared : compiled function or shared generator
        Of a function, each generator gets an independent state, in the order of its inputs; those
        that are passed in each call have none to be set.
    seed : int or sequence of int
        Not negative.  Each generator is `numpy.random.default_rng` of one of the seeds that
        `numpy.random.SeedSequence(seed).spawn` makes, as PyMC's `reseed_rngs` does it.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If the function has no generator of its own.

    Examples
    --------
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.jax import reseed
    >>> from pytensor.link.jax import jax_mode
    >>> rng = pt.random.shared_rng(seed=1)
    >>> next_rng, x = rng.normal()
    >>> f = pytensor.function([], x, updates={rng: next_rng}, mode=jax_mode())
    >>> reseed(f, 7)
    >>> first = f()
    >>> reseed(f, 7)
    >>> bool(f() == first)
    True
    """
    from pytensor.compile.executor import Function
    from pytensor.tensor.random.type import RandomType

    if isinstance(function_or_shared, Function):
        storage: list[Any] = function_or_shared.input_storage
        containers = [
            container
            for container in storage
            if isinstance(container.type, RandomType) and not container.required
        ]
        if not containers:
            raise ValueError(
                f"reseed: function {function_or_shared.name or function_or_shared} has no "
                "generator; pass a function with shared generators, or seed what you call it with"
            )
    elif isinstance(function_or_shared, SharedVariable) and isinstance(
        function_or_shared.type, RandomType
    ):
        containers = [function_or_shared.container]
    else:
        raise TypeError(
            f"reseed: got {function_or_shared!r} of class {type(function_or_shared).__name__}; "
            "expected a compiled function or a shared generator (pt.random.shared_rng)"
        )
    seeds = np.random.SeedSequence(seed).spawn(len(containers))
    for container, own in zip(containers, seeds, strict=True):
        container.value = np.random.default_rng(own)
