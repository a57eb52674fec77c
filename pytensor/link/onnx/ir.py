"""A small mutable graph between the converters and protobuf.

Values are strings; what is known of a value lies in `Graph.values`.  Passes work on this graph
alone, so they need neither PyTensor nor protobuf.  Why it isn't onnx_ir's graph:
``thoughts/shared/research/onnx_ir.md``.
"""

from collections import Counter
from copy import copy
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Value:
    """Type of a value; a dimension is an int, the name of a symbolic dimension, or None."""

    dtype: str | None = None
    shape: tuple[int | str | None, ...] | None = None


@dataclass(eq=False)
class Node:
    op_type: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict = field(default_factory=dict)
    domain: str = ""
    name: str = ""
    metadata: dict[str, str] = field(default_factory=dict)

    @property
    def subgraphs(self):
        """The bodies of an If, a Loop or a Scan."""
        return [value for value in self.attributes.values() if isinstance(value, Graph)]

    def reads(self):
        """Return what the node needs: its inputs, and what its subgraphs capture."""
        return [*self.inputs, *(name for graph in self.subgraphs for name in graph.captured())]

    def rename(self, mapping):
        """Replace the names of values, in subgraphs too."""
        if not mapping:
            return
        self.inputs = [mapping.get(name, name) for name in self.inputs]
        self.outputs = [mapping.get(name, name) for name in self.outputs]
        for graph in self.subgraphs:
            graph.rename(mapping)


class Graph:
    """Nodes in topological order, initializers, and the types of values.

    `parameters` are the initializers that hold the user's shared variables.  Where a caller of the
    model may replace them, no pass may use their values.  `parent` is the graph around the body of
    an If, a Loop or a Scan: both share one set of names, and all initializers belong to the
    outermost graph.
    """

    def __init__(self, *, parameters_are_inputs=False):
        self.parent = None
        self.inputs = []
        self.outputs = []
        self.nodes = []
        self.initializers = {}
        self.parameters = set()
        self.parameters_are_inputs = parameters_are_inputs
        self.values = {}
        self.origin = {}  # folded initializer -> the parameter it was computed from
        self._taken = set()
        self._numbers = Counter()  # how many names were made from each base

    def child(self):
        """Return an empty graph that sees the values of this one, for the body of a node."""
        graph = copy(self)
        graph.parent = self
        graph.inputs, graph.outputs, graph.nodes = [], [], []
        return graph

    def add_input(self, base, dtype, shape):
        """Declare an input; returns its name, made from `base`."""
        name = self.fresh_name(base)
        self.inputs.append(name)
        self.values[name] = Value(dtype, shape)
        return name

    def all_nodes(self):
        """Yield the nodes of this graph and of all graphs in it."""
        for node in self.nodes:
            yield node
            for graph in node.subgraphs:
                yield from graph.all_nodes()

    def captured(self):
        """Return values from outside that the graph reads, initializers included."""
        own = {*self.inputs, *(name for node in self.nodes for name in node.outputs)}
        read = (name for node in self.nodes for name in node.reads())
        return [name for name in dict.fromkeys((*read, *self.outputs)) if name and name not in own]

    def rename(self, mapping):
        """Replace the names of values everywhere in the graph."""
        if not mapping:
            return
        self.inputs = [mapping.get(name, name) for name in self.inputs]
        self.outputs = [mapping.get(name, name) for name in self.outputs]
        for node in self.nodes:
            node.rename(mapping)

    def fresh_name(self, base):
        """Reserve and return `base`, or `base` with a number where that is taken."""
        name = base
        while name in self._taken:
            self._numbers[base] += 1
            name = f"{base}_{self._numbers[base]}"
        self._taken.add(name)
        return name

    def add_initializer(self, name, array):
        """Store a constant under a fresh name derived from `name`."""
        name = self.fresh_name(name)
        self.initializers[name] = array
        self.values[name] = Value(array.dtype.name, array.shape)
        return name

    def constant(self, name):
        """Return the value of an initializer that nothing can change at run time, else None."""
        if self.parameters_are_inputs and name in self.parameters:
            return None
        return self.initializers.get(name)

    def parameter_of(self, name):
        """Return the parameter that an initializer is or was computed from, else None."""
        return name if name in self.parameters else self.origin.get(name)

    def shape(self, name):
        return self.values.get(name, Value()).shape

    def dtype(self, name):
        return self.values.get(name, Value()).dtype

    def producers(self):
        """Map each value to the node that computes it."""
        return {output: node for node in self.nodes for output in node.outputs}

    def consumers(self):
        """Map each value to the nodes that read it, once per reading."""
        consumers = {}
        for node in self.nodes:
            for name in node.reads():
                consumers.setdefault(name, []).append(node)
        return consumers

    def bypass(self, bypassed):
        """Remove nodes whose one output equals the value that is given; returns if there are any.

        One that computes a graph output from a graph input, an initializer or another output stays,
        because the output needs its name.
        """
        if not bypassed:
            return False
        mapping = {node.outputs[0]: value for node, value in bypassed.items()}

        def resolve(name):
            while name in mapping:
                name = mapping[name]
            return name

        producers = self.producers()
        renamed = {}
        removed = set()
        for node in bypassed:
            output = node.outputs[0]
            if output in self.outputs:
                source = resolve(output)
                fixed = source not in producers or source in self.outputs or source in renamed
                if fixed:
                    del mapping[output]
                    continue
                renamed[source] = output
            removed.add(node)
        self.nodes = [node for node in self.nodes if node not in removed]
        names = {name: resolve(name) for name in mapping}
        names = {name: renamed.get(source, source) for name, source in names.items()}
        names = renamed | names
        for node in self.nodes:
            node.rename(names)
        return bool(removed)


def attributes_key(node):
    """Return a hashable rendering of a node's attributes."""
    return tuple(
        (key, (value.dtype.str, value.shape, value.tobytes()))
        if isinstance(value, np.ndarray)
        else (key, tuple(value) if isinstance(value, list) else value)  # graphs by identity
        for key, value in sorted(node.attributes.items())
    )
