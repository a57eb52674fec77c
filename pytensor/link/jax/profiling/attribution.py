"""Find the node that each operation of a compiled program belongs to, in XLA's text.

`pytensor.link.jax.profiling.node_names` makes the names.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from pytensor.link.jax.profiling.node_names import scope_name

INSTRUCTION = re.compile(r"\s+(?:ROOT )?%?(?P<name>[\w.-]+) = .*? (?P<code>[a-z][\w-]*)\(")
COMPUTATION = re.compile(r"(?:ENTRY )?%?(?P<name>[\w.-]+) \(.*\{$")
# Their times include the operations that they run, which the trace lists as well.
CONTAINERS = ("call", "while", "conditional")


class Operation(NamedTuple):
    """An operation of XLA's as a trace names it.

    Attributes
    ----------
    scope : str or None
        Of the node that it belongs to (see `scope_name`): for a fusion, of what it results in.
    shared : bool
        Whether it is a fusion of several nodes.
    container : bool
        Whether it only runs others.
    """

    scope: str | None
    shared: bool
    container: bool


def operations(function: Any, arguments: Sequence[Any]) -> dict[str, Operation]:
    """Look up what the operations of a compiled function belong to: a dict of Operation by name.

    The arguments are a call's, or describe them (jax.ShapeDtypeStruct).
    """
    names = {scope_name(node.op, node) for node in function.maker.fgraph.apply_nodes}
    values = [container.storage[0] for container in function.input_storage]
    values[: len(arguments)] = [
        value if hasattr(value, "dtype") else np.asarray(value, variable.type.dtype)
        for variable, value in zip(function.maker.fgraph.inputs, arguments, strict=False)
    ]
    # JAX keeps what it has compiled: this is the program that ran.  A generator's state is a dict.
    program = function.vm.jit_fn.lower(*jax.tree.map(describe, values)).compile()
    return read_program(program.as_text(), names)


def describe(value: Any) -> Any:
    """Return what decides which program is compiled for an array, as a jax.ShapeDtypeStruct."""
    if isinstance(value, jax.ShapeDtypeStruct) or not hasattr(value, "dtype"):
        return value
    sharding = value.sharding if isinstance(value, jax.Array) and value.committed else None
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=sharding)


def read_program(text: str, names: Collection[str]) -> dict[str, Operation]:
    """Read the text of a compiled program, XLA's HLO with metadata: a dict of Operation by name.

    The scopes that there are have these names.
    """
    found: dict[str, Operation] = {}
    scopes: dict[str, list[str]] = {}  # by computation, in the order of its instructions
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            current = scopes.setdefault(match["name"], [])
        elif match := INSTRUCTION.match(line):
            own = _scope(line, names)
            current += [own] if own else []
            calls = re.search(r"\bcalls=%?([\w.-]+)", line)
            # A computation stands before what calls it.  What comes last in it is its result.
            inner = scopes[calls[1]] if calls and match["code"] == "fusion" else []
            scope = inner[-1] if inner else own
            found[match["name"]] = Operation(
                scope, len(set(inner)) > 1, match["code"] in CONTAINERS
            )
    return found


def _scope(line: str, names: Collection[str]) -> str | None:
    """Return the scope in a path such as ``jit(f)/Conv[weight]/transpose``, or several."""
    path = re.search(r'op_name="([^"]*)"', line)
    if path is None:
        return None
    parts = (part for single in path[1].split(";") for part in single.split("/")[1:])
    return next((part for part in parts if part in names), None)
