"""Numba for large graphs, which are compiled in parts: a linker and a mode of its own.

::

    step = pytensor.function([x, y], loss, updates=updates, mode=numba_mode())

In mode NUMBA, PyTensor makes one Numba function of a graph.  LLVM's time for it grows with the
square of the number of its arguments and results, and faster than the number of its nodes: a
network's training step, with hundreds of parameters and their updates, takes it hours.  Here such a
graph is cut into parts of `PART` nodes or so, each a Numba function of its own, which Python calls
one after the other.  Results are the same; each value that goes from one part to another costs a
microsecond.

Smaller graphs, and all inner ones, are compiled as in mode NUMBA.
"""

from collections import Counter
from copy import deepcopy
from hashlib import sha256

import numpy as np

from pytensor.compile.mode import Mode, get_mode
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant
from pytensor.link.numba.cache import compile_numba_function_src
from pytensor.link.numba.dispatch.basic import (
    cache_key_for_constant,
    numba_funcify_ensure_cache,
    numba_njit,
    numba_typify,
)
from pytensor.link.numba.keep import keep
from pytensor.link.numba.linker import NumbaLinker
from pytensor.link.utils import get_name_for_object
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.random.type import RandomGeneratorType
from pytensor.tensor.type import DenseTensorType

__all__ = ["FunctionInParts", "NumbaPartsLinker", "is_large", "numba_mode"]

# A graph is large with more nodes than the first and more inputs and outputs than the second, or
# with more nodes than the third.
NODES, VARIABLES, MANY_NODES = 200, 200, 1000
PART = 60

# What Numba gives back to Python as it was; a scalar comes back as a Python number.
_CROSSING = (DenseTensorType, ScalarType, RandomGeneratorType)


def is_large(fgraph):
    """Return whether a `NumbaPartsLinker` compiles `fgraph` in parts."""
    nodes, variables = len(fgraph.apply_nodes), len(fgraph.inputs) + len(fgraph.outputs)
    return nodes > MANY_NODES or (nodes > NODES and variables > VARIABLES)


# ------------------------------------------------------------------------------ where to cut


def _may_cut(nodes):
    """Count, for each place before a node, the values made before it that are needed later.

    None is where one of them can't go through Python.
    """
    last_use = {}
    for place, node in enumerate(nodes):
        for v in node.inputs:
            last_use[v] = place
    born, dead, hindered = Counter(), Counter(), Counter()
    for place, node in enumerate(nodes):
        for v in node.outputs:
            if last_use.get(v, place) > place:
                count = born if isinstance(v.type, _CROSSING) else hindered
                count[place + 1] += 1
                (dead if count is born else hindered)[last_use[v] + 1] -= 1
    alive, hindering, counts = 0, 0, []
    for place in range(len(nodes)):
        alive += born[place] + dead[place]
        hindering += hindered[place]
        counts.append(None if hindering else alive)
    return counts


def cut(nodes, size):
    """Cut nodes, as they are computed, into lists of about `size`, where few values go across.

    Parts have three quarters to five quarters of it, but for the last one and where values of other
    types than tensors, scalars and random generators forbid to cut.
    """
    counts = _may_cut(nodes)
    parts, start = [], 0
    while len(nodes) - start > size * 5 // 4:
        window = range(start + size * 3 // 4, start + size * 5 // 4 + 1)
        places = [k for k in window if counts[k] is not None]
        if not places:
            later = range(window.stop, len(nodes))
            places = [k for k in later if counts[k] is not None][:1] or [len(nodes)]
        end = min(places, key=lambda k: (counts[k] if k < len(nodes) else 0, -k))
        parts.append(nodes[start:end])
        start = end
    return [*parts, nodes[start:]] if start < len(nodes) else parts


# ------------------------------------------------------------------------------ a part


class _Source:
    """Python source of the nodes of one part, for Numba, and the key of its code on disk."""

    def __init__(self, nodes, inputs, outputs, convert):
        self.globals, self.key_of_nodes = {"keep": keep}, []
        self.names = {v: f"i{k}" for k, v in enumerate(inputs)}
        self.keys = {v: (0, k) for k, v in enumerate(inputs)}
        self.lines = []
        places = {v: k for k, v in enumerate(outputs)}
        for number, node in enumerate(nodes):
            self._add(number, node, *convert(node))
            for v in node.outputs:
                if v in places:
                    self.lines.append(f"keep(kept, {places[v]}, {self.names[v]})")
        self.outputs = [self.keys[v] for v in outputs]

    def _add(self, number, node, function, key):
        for v in node.inputs:
            if isinstance(v, Constant) and v not in self.names:
                self._add_constant(v)
        for k, v in enumerate(node.outputs):
            self.names[v], self.keys[v] = f"v{number}_{k}", (number + 1, k)
        name = f"{get_name_for_object(function)}_{number}"
        self.globals[name] = function
        arguments = ", ".join(self.names[v] for v in node.inputs)
        results = "".join(f"{self.names[v]}, " for v in node.outputs)
        # one result isn't in a tuple
        results = results.removesuffix(", ")
        self.lines.append(f"{results} = {name}({arguments})")
        self.key_of_nodes.append(key and (tuple(self.keys[v] for v in node.inputs), key))

    def _add_constant(self, constant):
        name = self.names[constant] = f"c{len(self.names)}"
        self.globals[name] = numba_typify(constant.data, variable=constant)
        self.keys[constant] = (-1, cache_key_for_constant(constant.data))

    def function(self, number_of_inputs):
        key = None
        if config.numba__cache and None not in self.key_of_nodes:
            parts = ("part", 1, self.key_of_nodes, number_of_inputs, self.outputs)
            key = f"{sha256(str(parts).encode()).hexdigest()}_fastmath{int(config.numba__fastmath)}"
        # PyTensor silences Numba's warning about large constants for functions of this name
        name = "numba_funcified_fgraph_part"
        arguments = "".join(f", i{k}" for k in range(number_of_inputs))
        lines = "".join(f"    {line}\n" for line in self.lines)
        function = compile_numba_function_src(
            f"def {name}(kept{arguments}):\n{lines}",
            name,
            {**globals(), **self.globals},
            write_to_disk=True,
            cache_key=key,
        )
        return numba_njit(
            function, final_function=True, no_cfunc_wrapper=True, cache=key is not None
        )


class _Part:
    """One part: what it takes from the list of all values, and where it puts what others need."""

    def __init__(self, nodes, inputs, outputs, dead, places, convert):
        self.function = _Source(nodes, inputs, outputs, convert).function(len(inputs))
        self.inputs = [places[v] for v in inputs]
        self.outputs = [places[v] for v in outputs]
        self.dead = [places[v] for v in dead]
        # another part's scalars have become Python's numbers, which are of other types
        self.scalars = [
            (k, np.dtype(v.type.dtype).type)
            for k, v in enumerate(inputs)
            if v.owner is not None and isinstance(v.type, ScalarType)
        ]

    def __call__(self, values):
        inputs, kept = [values[place] for place in self.inputs], [None] * len(self.outputs)
        for k, scalar in self.scalars:
            inputs[k] = scalar(inputs[k])
        self.function(id(kept), *inputs)
        for place, value in zip(self.outputs, kept, strict=True):
            values[place] = value
        for place in self.dead:
            values[place] = None


def _numba_type(variable):
    type_ = variable.type
    return (type_.dtype, type_.ndim) if isinstance(type_, DenseTensorType) else type_


def _shared_functions():
    """Convert nodes; those which on disk would have the same code share a function."""
    functions, inner_graphs = {}, {}

    def convert(node):
        function, key = numba_funcify_ensure_cache(node.op, node=node, ofg_memo=inner_graphs)
        if key is not None:
            # Numba's files of code have both in their names
            types = tuple(map(_numba_type, node.inputs))
            function = functions.setdefault((key, types), function)
        return function, key

    return convert


class FunctionInParts:
    """A graph's function, compiled in parts when it is first called."""

    def __init__(self, fgraph):
        nodes = fgraph.toposort()
        self.size, self.outputs = len(nodes), list(fgraph.outputs)
        made = [*fgraph.inputs, *(v for node in nodes for v in node.outputs)]
        self.places = {v: k for k, v in enumerate(made)}
        self.parts = self._make_parts(cut(nodes, PART), set(fgraph.inputs))

    def _make_parts(self, groups, inputs):
        """Make the parts; values live until the last of them that takes them."""
        convert = _shared_functions()
        used = [dict.fromkeys(v for node in nodes for v in node.inputs) for nodes in groups]
        last = {v: k for k, variables in enumerate(used) for v in variables}
        results = set(self.outputs)
        parts = []
        for k, nodes in enumerate(groups):
            made = dict.fromkeys(v for node in nodes for v in node.outputs)
            takes = [v for v in used[k] if v not in made and not isinstance(v, Constant)]
            gives = [v for v in made if v in results or last.get(v, k) > k]
            dead = [v for v in takes if last[v] == k and v not in results and v not in inputs]
            parts.append(_Part(nodes, takes, gives, dead, self.places, convert))
        return parts

    def __call__(self, *inputs):
        values = [*inputs, *[None] * (len(self.places) - len(inputs))]
        for part in self.parts:
            part(values)
        if not self.outputs:
            return None
        return tuple(
            deepcopy(v.data) if isinstance(v, Constant) else values[self.places[v]]
            for v in self.outputs
        )


class NumbaPartsLinker(NumbaLinker):
    """Numba linker that compiles large graphs in parts; see the module's docstring."""

    def fgraph_convert(self, fgraph, **kwargs):
        if is_large(fgraph):
            return FunctionInParts(fgraph)
        return super().fgraph_convert(fgraph, **kwargs)

    def jit_compile(self, converted):
        if isinstance(converted, FunctionInParts):
            return converted
        return super().jit_compile(converted)


def numba_mode():
    """Return mode NUMBA with a `NumbaPartsLinker`.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    return Mode(NumbaPartsLinker(), get_mode("NUMBA").provided_optimizer)
