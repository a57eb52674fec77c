"""Names for graphs: equal for equal graphs, in this process and in the next.

A name stands for all that decides which program a graph becomes: Ops, types, constants, names of
variables, the mode, the settings of PyTensor, and the code that rewrites and converts it.  Code is
that of the package `pytensor`, and of other packages, as PyMC, that have rewrites or conversions,
or an Op of the graph.  If one comes from no package, a graph has no name, for nothing would tell
that the code behind it has been changed.
"""

import hashlib
import inspect
import io
import pickle
import sys
from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path

import numpy as np

import pytensor
from pytensor.compile.builders import OpFromGraph
from pytensor.configdefaults import config
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.rewriting.basic import Rewriter
from pytensor.graph.rewriting.db import RewriteDatabase, RewriteDatabaseQuery
from pytensor.link.jax.rewriting.updates import Update
from pytensor.scan.op import Scan
from pytensor.tensor.type import scalar

__all__ = ["NoKeyError", "graph_key"]

# Other settings change nothing in mode JAX, or are part of the mode.
SETTINGS = (
    "floatX", "cast_policy", "optdb__position_cutoff", "optdb__max_use_ratio", "cycle_detection",
    "on_opt_error", "on_shape_error", "optimizer_excluding", "optimizer_including",
    "optimizer_requiring",
)  # fmt: skip
PLAIN = OpFromGraph([x := scalar()], [x])


class NoKeyError(Exception):
    """A graph has no name; the message says why."""


def graph_key(fgraph, mode, *facts):
    """Name a graph, before any rewrite, by a digest of it, of its mode and of other facts.

    The ``repr`` of the mode's linker must tell all choices.

    Raises
    ------
    NoKeyError
        If the graph, the mode or PyTensor's registries have anything that is in no package, or if
        the graph has an Op that can't be told from others by its properties.
    """
    query = _query_facts(mode._optimizer)
    foreign = sorted(_foreign_rewrites(mode.optdb) | _foreign_conversions())
    describer = Describer()
    parts = [
        sys.version, pytensor.__version__, np.__version__, code_state(), str(mode.linker), query,
        [(name, getattr(config, name)) for name in SETTINGS], facts, foreign,
    ]  # fmt: skip
    texts = [describer(str(part)) for part in parts]
    texts += [describer.graph(fgraph), describer(fgraph.update_mapping)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


class Describer:
    """Texts for values and graphs, that differ if what they stand for does.

    It remembers objects: a network has few different Ops and types.
    """

    def __init__(self):
        self._known = {}  # by id; the object too, for else another could get its id

    def __call__(self, value):
        """Describe a value; NoKeyError if it has no description that the next process shares."""
        if id(value) not in self._known:
            self._known[id(value)] = value, self._describe(value)
        return self._known[id(value)][1]

    def _describe(self, value):
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes):
            return repr(value)
        if isinstance(value, (tuple, list)):
            return f"{kind.__name__}({','.join(map(self, value))})"
        if isinstance(value, Mapping):
            items = ",".join(f"{self(k)}:{self(v)}" for k, v in value.items())
            return f"{kind.__name__}({items})"
        if isinstance(value, Set):
            return f"{kind.__name__}({','.join(sorted(map(self, value)))})"
        if isinstance(value, np.ndarray) and value.dtype != object:
            # In C order, whatever the strides.
            digest = hashlib.sha256(np.ascontiguousarray(value)).hexdigest()
            return f"array({value.dtype.str},{value.shape},{digest})"
        if isinstance(value, Op):
            return self._op(value)
        if isinstance(value, Constant):
            return f"constant({self(value.type)},{self(value.data)})"
        if isinstance(value, (Variable, Apply, FunctionGraph)):
            raise NoKeyError(f"{value} is part of a graph, within an Op")
        return self._pickled(value)

    def _op(self, op):
        kind = type(op)
        state = package_state(kind, kind.__qualname__)
        if isinstance(op, Update):
            facts = self(op.key)
        elif kind is Scan:
            facts = self([op.info, op.truncate_gradient, op.name, op.mode, self.graph(op.fgraph)])
        elif isinstance(op, OpFromGraph) and not hasattr(kind, "__props__"):
            # Attributes besides its graph that a class of another package has added.
            added = vars(op).keys() - vars(PLAIN).keys()
            added = [(name, getattr(op, name)) for name in sorted(added) if name[0] != "_"]
            facts = f"{op.is_inline},{self(added)},{self.graph(op.fgraph)}"
        elif hasattr(kind, "__props__"):
            facts = self([getattr(op, name) for name in kind.__props__])
        elif isinstance(op, HasInnerGraph):
            raise NoKeyError(f"{op} has an inner graph and no `__props__` that identify it")
        else:
            facts = self._pickled(op)
        return f"{kind.__module__}.{kind.__qualname__}{state}({facts})"

    def _pickled(self, value):
        try:
            data = pickled(value)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
            raise NoKeyError(f"{value!r} can't be pickled: {error}") from error
        return f"pickle({hashlib.sha256(data).hexdigest()})"

    def graph(self, fgraph):
        """Describe a graph: its nodes in order, each by its Op and the numbers of its inputs."""
        numbers, lines = {}, []

        def number(variable):
            if variable not in numbers:
                if variable.owner is None and isinstance(variable, Constant):
                    return self(variable)
                numbers[variable] = len(numbers)
            return str(numbers[variable])

        def declare(variable):
            return f"{number(variable)}:{self(variable.type)}:{self(variable.name)}"

        lines.append(",".join(map(declare, fgraph.inputs)))
        for node in fgraph.toposort():
            read = ",".join(map(number, node.inputs))
            lines.append(f"{self(node.op)}({read})->{','.join(map(declare, node.outputs))}")
        lines.append(",".join(map(number, fgraph.outputs)))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class _Pickler(pickle.Pickler):
    """Pickles what is made of parts whose code is known."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.states = set()

    def reducer_override(self, value):
        if inspect.isclass(value) or inspect.isfunction(value):
            root = value.__module__.partition(".")[0]
            if root not in sys.stdlib_module_names and root != "numpy":
                self.states.add(package_state(value, value.__qualname__))
        return NotImplemented


def pickled(value):
    """Pickle a value, and the states of packages that its classes and functions are from."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue() + "".join(sorted(pickler.states)).encode()


def package_state(value, what):
    """Name the package of a class or function, and its code; NoKeyError if it is from none."""
    module = value.__module__
    package = module.partition(".")[0]
    if not hasattr(sys.modules.get(package), "__path__"):
        raise NoKeyError(
            f"{what} is from {module}, which is not part of a package, so its code has no lasting "
            "name; put it into one, or don't load it in this process"
        )
    return "" if package == "pytensor" else f" of {package} {code_state(package)}"


def _query_facts(query):
    """Return what a mode asks of the database of rewrites."""
    if not isinstance(query, RewriteDatabaseQuery) or query.extra_rewrites or query.subquery:
        raise NoKeyError("the mode has rewrites of its own")
    tags = [sorted(map(str, t)) for t in (query.include, query.require, query.exclude)]
    return tags, query.position_cutoff


def _foreign_rewrites(database):
    """Name the rewrites from outside of PyTensor, in a database or what is within it."""
    todo, seen, foreign = [database], set(), set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, RewriteDatabase):
            todo += [part for tagged in one.__db__.values() for part in tagged]
        elif inspect.isfunction(one):
            foreign |= _foreign_code(one, f"the rewrite {one.__qualname__}")
        elif isinstance(one, Rewriter):
            foreign |= _foreign_code(type(one), f"the rewrite {type(one).__qualname__}")
            for value in vars(one).values():
                todo += value if isinstance(value, (list, tuple)) else [value]
    return foreign


def _foreign_conversions():
    """Name the conversions that are from elsewhere; of Ops from no package no graph has any."""
    from pytensor.link.jax.dispatch.basic import jax_funcify

    return set().union(
        *(
            _foreign_code(function, f"the conversion of {kind.__qualname__}")
            for kind, function in jax_funcify.registry.items()
            if hasattr(sys.modules.get(kind.__module__.partition(".")[0]), "__path__")
        )
    )


def _foreign_code(value, what):
    """Name a class or function from another package; the empty set if it is PyTensor's."""
    state = package_state(value, what)
    return {f"{what}: {value.__module__}.{value.__qualname__}{state}"} if state else set()


@cache
def code_state(package="pytensor"):
    """Return a digest of a package's code."""
    digest = hashlib.sha256()
    for root in sys.modules[package].__path__:
        for path in sorted(Path(root).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
