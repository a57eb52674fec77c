"""Random generators as arguments and results of programs of JAX; see `pytensor.link.generators`.

Within a program the state is a dict with the key, as PyTensor's conversions of draws have it.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

import pytensor.link.jax.linker as upstream
from pytensor.link.generators import KeyGenerator, key_of

__all__ = ["Generators", "share_generators", "state_of", "with_generators"]

KEY = "jax_state"  # as PyTensor's conversions of draws call it


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
        """Return a program's arguments, from a function's."""
        args = _replaced(args, self._inputs, state_of)
        # Another function may have drawn on other devices.
        return _replaced(args, self._inputs, lambda state: _where_others_are(state, args))

    def from_jax(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a function's results, from a program's."""
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
    return KeyGenerator(state[KEY]) if isinstance(state, dict) else state


def _replaced(
    values: tuple[Any, ...], places: Sequence[int], function: Callable[[Any], Any]
) -> tuple[Any, ...]:
    if not places:
        return values
    replaced = list(values)
    for place in places:
        replaced[place] = function(replaced[place])
    return tuple(replaced)


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
    linker: Any = upstream
    linker.SharedVariable = ()
    linker.JAXLinker.create_thunk_inputs = create_thunk_inputs_as_they_are
    linker.JAXLinker.jit_compile = jit_compile_with_generators
