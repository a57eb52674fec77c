"""PyTensor's names of XLA's operations: what the text of a compiled program tells."""

import re
from typing import NamedTuple

import jax

from pytensor.link.jax.tuned.scopes import scope_name

INSTRUCTION = re.compile(r"\s+(?P<root>ROOT )?%?(?P<name>[\w.-]+) = .*? (?P<code>[a-z][\w-]*)\(")
COMPUTATION = re.compile(r"(?:ENTRY )?%?(?P<name>[\w.-]+) \(.*\{$")
# Their own times are those of what they run, which stands in a trace as well.
CONTAINERS = ("call", "while", "conditional")


class Operation(NamedTuple):
    """An operation of XLA's as a trace names it.

    Attributes
    ----------
    scope : str or None
        Of the node that it belongs to (see `scope_name`): for a fusion, of what it results in.
    fused : frozenset of str
        All scopes that a fusion holds.
    container : bool
        Whether it only runs others.
    """

    scope: str | None
    fused: frozenset
    container: bool


class Instruction(NamedTuple):
    """A line of a program's text."""

    name: str
    code: str
    is_root: bool
    path: str  # "" where XLA gives none
    calls: str  # the computation of a fusion, or ""
    mentioned: tuple  # names: operands among them


def operations(function, arguments):
    """Look up what the operations of a compiled function belong to.

    Parameters
    ----------
    function : pytensor function
        Compiled with `pytensor.link.jax.tuned.jax_mode` and its names.
    arguments : list of arrays or jax.ShapeDtypeStruct
        Of a call that was made, or what they were like.

    Returns
    -------
    dict of str to Operation
        By XLA's names.
    """
    names = {scope_name(node.op, node) for node in function.maker.fgraph.apply_nodes}
    return read_program(program_text(function, arguments), names)


def program_text(function, arguments):
    """The text of XLA's program of a function, as it ran with such arguments."""
    values = [container.storage[0] for container in function.input_storage]
    values[: len(arguments)] = arguments
    # JAX keeps what it has compiled: this is the program that ran.
    return function.vm.jit_fn.lower(*map(describe, values)).compile().as_text()


def describe(value):
    """What of an array decides which program is compiled for it, as a jax.ShapeDtypeStruct."""
    if isinstance(value, jax.ShapeDtypeStruct):
        return value
    sharding = value.sharding if isinstance(value, jax.Array) and value.committed else None
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=sharding)


def read_program(text, names):
    """Read the text of a compiled program.

    Parameters
    ----------
    text : str
        In XLA's HLO format, with metadata.
    names : set of str
        The scopes that there are.

    Returns
    -------
    dict of str to Operation
    """
    computations, current = {}, {}
    for line in text.splitlines():
        if match := COMPUTATION.match(line):
            current = computations.setdefault(match["name"], {})
        elif match := INSTRUCTION.match(line):
            current[match["name"]] = _instruction(match, line)
    return {
        name: _operation(instruction, computations, names)
        for computation in computations.values()
        for name, instruction in computation.items()
    }


def _instruction(match, line):
    path = re.search(r'op_name="([^"]*)"', line)
    calls = re.search(r"\bcalls=%?([\w.-]+)", line)
    return Instruction(
        match["name"],
        match["code"],
        match["root"] is not None,
        path[1] if path else "",
        calls[1] if calls and match["code"] == "fusion" else "",
        tuple(re.findall(r"%?([\w.-]+)", line[match.end() :].split(", metadata=")[0])),
    )


def _operation(instruction, computations, names):
    body = computations.get(instruction.calls, {})
    inner = {_scope(i.path, names) for i in body.values()} - {None}
    scope = _root_scope(body, names) or _scope(instruction.path, names)
    if scope is None and len(inner) == 1:
        [scope] = inner
    return Operation(scope, frozenset(inner), instruction.code in CONTAINERS)


def _scope(path, names):
    """The scope in a path such as ``jit(f)/Conv[weight]/transpose``, or several after another."""
    parts = (part for single in path.split(";") for part in single.split("/")[1:])
    return next((part for part in parts if part in names), None)


def _root_scope(body, names):
    """The scope of a fusion's result, or of what is only copied into it."""
    waiting = [i.name for i in body.values() if i.is_root]
    seen = set(waiting)
    while waiting:
        instruction = body[waiting.pop(0)]
        if scope := _scope(instruction.path, names):
            return scope
        new = [name for name in instruction.mentioned if name in body and name not in seen]
        seen.update(new)
        waiting += new
    return None
