"""Random generators of functions compiled by JAX: one stream, whichever function draws from it.

A shared generator holds a `numpy.random.Generator` in every mode.  JAX draws by a key of 64 bits,
which is made of the generator's state.  After a call the shared variable holds a `JAXGenerator`:
the next key, still on the device, and a generator of NumPy's once something else reads it.  JAX
goes on with the same key until NumPy has drawn from that.

Within a program the state is a dict with the key, as PyTensor's conversions of draws have it.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

import pytensor.link.jax.linker as upstream
from pytensor.compile.sharedvalue import SharedVariable

if TYPE_CHECKING:
    from pytensor.compile.executor import Function

__all__ = [
    "GeneratorCall", "Generators", "JAXGenerator", "key_of", "reseed", "share_generators",
    "state_of", "with_generators",
]  # fmt: skip

KEY = "jax_state"  # as PyTensor's conversions of draws call it
# In seeds made of a key, by which it is found again.
MARK = (0x4A4158,)
_lock = Lock()


class JAXGenerator(np.random.Generator):
    """A generator that JAX has drawn from; NumPy seeds it when anything is read of it.

    Copies and pickles are of class `numpy.random.Generator`.

    Parameters
    ----------
    key : array, shape (2,), uint32
        By which JAX draws next.
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
    """Return the key by which JAX draws next: two words, uint32, of JAX's or NumPy's.

    Parameters
    ----------
    generator : numpy.random.Generator
        Of any bit generator.
    """
    if isinstance(generator, JAXGenerator) and (key := generator._key) is not None:
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


def state_of(value: Any, **kwargs: Any) -> Any:
    """Return a generator's state as JAX's programs take it; all else as it is."""
    return {KEY: key_of(value)} if isinstance(value, np.random.Generator) else value


class Generators:
    """The generators among the inputs and outputs of a graph, which programs have as states."""

    def __init__(self, fgraph: Any) -> None:
        from pytensor.tensor.random.type import RandomType

        self._inputs, self._outputs = (
            [k for k, v in enumerate(variables) if isinstance(v.type, RandomType)]
            for variables in (fgraph.inputs, fgraph.outputs)
        )

    def __bool__(self) -> bool:
        return bool(self._inputs or self._outputs)

    def to_jax(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of a program for those of a function."""
        args = _replaced(args, self._inputs, state_of)
        # Another function may have drawn on other devices.
        return _replaced(args, self._inputs, lambda state: _where_others_are(state, args))

    def from_jax(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the results of a function for those of a program."""
        return _replaced(results, self._outputs, _generator_of)


def _where_others_are(state: Any, args: tuple[Any, ...]) -> Any:
    """Return a state that JAX can take with these arguments, though it is on other devices."""
    key = state[KEY]
    if getattr(key, "committed", False):
        for value in args:
            value = value[KEY] if isinstance(value, dict) else value
            if value is not key and getattr(value, "committed", False):
                if value.sharding.device_set == key.sharding.device_set:
                    break
                return {KEY: np.asarray(key)}
    return state


def _generator_of(state: Any) -> Any:
    return JAXGenerator(state[KEY]) if isinstance(state, dict) else state


def _replaced(
    values: tuple[Any, ...], places: Sequence[int], function: Callable[[Any], Any]
) -> tuple[Any, ...]:
    if not places:
        return values
    values = list(values)
    for place in places:
        values[place] = function(values[place])
    return tuple(values)


class GeneratorCall:
    """A jitted function that takes and returns generators; its other attributes are the same."""

    def __init__(self, function: Any, generators: Generators) -> None:
        self._function, self._generators = function, generators

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        results = self._function(*self._generators.to_jax(args))
        return self._generators.from_jax(results)

    def lower(self, *args: Any) -> Any:
        """Lower as `jax.jit`."""
        return self._function.lower(*self._generators.to_jax(args))

    def trace(self, *args: Any) -> Any:
        """Trace as `jax.jit`."""
        return self._function.trace(*self._generators.to_jax(args))


def with_generators(jitted: Any, fgraph: Any) -> Any:
    """Return a jitted function, or what calls it if the graph takes or returns generators."""
    generators = Generators(fgraph)
    return GeneratorCall(jitted, generators) if generators else jitted


_jit_compile = upstream.JAXLinker.jit_compile


@wraps(_jit_compile)
def jit_compile_with_generators(self: Any, fn: Any) -> Any:
    return with_generators(_jit_compile(self, fn), self.fgraph)


@wraps(upstream.JAXLinker.create_thunk_inputs)
def create_thunk_inputs_as_they_are(self: Any, storage_map: Any) -> list[Any]:
    return [storage_map[variable] for variable in self.fgraph.inputs]


def share_generators() -> None:
    """Have functions of mode JAX draw from shared generators, not from copies.

    See ``thoughts/upstream/jax-shared-generators.md``.
    """
    # The linker copies generators that are instances of it, and fails where nothing uses one:
    # thoughts/upstream/jax-unused-generators.md.
    upstream.SharedVariable = ()
    upstream.JAXLinker.create_thunk_inputs = create_thunk_inputs_as_they_are
    upstream.JAXLinker.jit_compile = jit_compile_with_generators


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
    >>> from pytensor.link.jax.tuned import jax_mode
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
        containers = [
            container
            for container in function_or_shared.input_storage
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
