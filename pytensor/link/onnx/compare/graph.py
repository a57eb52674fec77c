"""A model as what a search needs of it: who makes a value, what it depends on, parts of it."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from google.protobuf.message import DecodeError

import onnx
from onnx import helper, inliner, numpy_helper
from pytensor.link.onnx.importing.model import graphs

SEQUENCES = {
    "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceMap",
    "SplitToSequence", "ZipMap",
}  # fmt: skip
TRUE = "compare/true"


class ComparisonError(ValueError):
    """Says what can't be compared, and why; a ValueError."""


def bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs in a node's attributes, and those in them."""
    holder = onnx.GraphProto(node=[node])
    return [graph for graph in graphs(holder) if graph is not holder]


def names_read(node: onnx.NodeProto) -> list[str]:
    """Return a node's inputs, and the values outside of its bodies that they read; each once."""
    names = [name for name in node.input if name]
    inner = bodies(node)
    made = {v.name for body in inner for v in (*body.input, *body.initializer)}
    made |= {name for body in inner for n in body.node for name in n.output}
    read = [name for body in inner for n in body.node for name in n.input if name]
    return list(dict.fromkeys([*names, *(name for name in read if name not in made)]))


def _joined(
    nodes: Sequence[onnx.NodeProto], sequences: set[str], outputs: Sequence[str]
) -> list[onnx.NodeProto]:
    """Return nodes in topological order, one in the place of those between which sequences go."""
    groups: list[list[int]] = []
    for i, node in enumerate(nodes):
        names = sequences.intersection((*node.input, *node.output))
        if names:
            near = [g for g in groups if any(names.intersection(_names(nodes[k])) for k in g)]
            groups = [g for g in groups if g not in near]
            groups.append([*(k for g in near for k in g), i])
    for group in groups:  # what lies between its nodes belongs to it
        after, before = _reached(nodes, group), _reached(nodes[::-1], group, backwards=True)
        group[:] = sorted({*group, *(after & before)})
    inside = {k for group in groups for k in group}
    left = [node for i, node in enumerate(nodes) if i not in inside]
    left += [_branch([nodes[k] for k in group], nodes, outputs) for group in groups]
    made: set[str] = set()
    ordered, makers = [], {name for node in left for name in node.output}
    while left:
        ready = next(n for n in left if made.issuperset(makers.intersection(names_read(n))))
        left.remove(ready)
        ordered.append(ready)
        made.update(ready.output)
    return ordered


def _names(node: onnx.NodeProto) -> list[str]:
    return [*node.input, *node.output]


def _reached(
    nodes: Sequence[onnx.NodeProto], group: Sequence[int], backwards: bool = False
) -> set[int]:
    """Return the numbers of nodes that depend on a group's nodes, or on which these depend."""
    count = len(nodes) - 1
    start = {count - k if backwards else k for k in group}
    known = {n for k in start for n in (nodes[k].input if backwards else nodes[k].output)}
    found = set(start)
    for i, node in enumerate(nodes):
        reads = node.output if backwards else names_read(node)
        if known.intersection(reads):
            found.add(i)
            known.update(names_read(node) if backwards else node.output)
    return {count - i for i in found} if backwards else found


def _branch(
    group: Sequence[onnx.NodeProto], nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]
) -> onnx.NodeProto:
    """Return a node that computes what a group of nodes makes for others."""
    made = [name for node in group for name in node.output]
    read = {name for node in nodes if node not in group for name in names_read(node)}
    given = [name for name in made if name in read or name in outputs]
    inner = []
    for node in group:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        for names in (copy.input, copy.output):
            names[:] = [f"{name}_inside" if name in given else name for name in names]
        inner.append(copy)
    results = [onnx.ValueInfoProto(name=f"{name}_inside") for name in given]
    body = helper.make_graph(inner, "branch", [], results)
    name = ", ".join(node.name or node.op_type for node in group)
    return helper.make_node("If", [TRUE], given, name, then_branch=body, else_branch=body)


def _without_sequences(
    proto: onnx.ModelProto,
) -> tuple[onnx.ModelProto, list[onnx.NodeProto], list[str]]:
    """Return a model, its nodes that make tensors, and its outputs that are tensors.

    What an output that is a sequence or a map consists of becomes an output.  Nodes between which
    sequences go are one, an If both of whose branches they are: a node is judged by tensors.
    """
    nodes, outputs = list(proto.graph.node), [v.name for v in proto.graph.output]
    found: set[str] = set()
    for node in nodes:
        moves = node.op_type == "Identity" and node.input[0] in found
        if node.op_type in SEQUENCES or moves:
            found.update(node.output)
    if not found:
        return proto, nodes, outputs
    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    changed.graph.initializer.append(numpy_helper.from_array(np.array(True), TRUE))
    producer = {name: node for node in nodes for name in node.output}
    waiting, tensors = outputs, []
    while waiting:
        name = waiting.pop(0)
        if name in found:
            waiting += [n for n in names_read(producer[name]) if n in producer]
        elif name not in tensors:
            tensors.append(name)
    own = {v.name for v in proto.graph.output}
    changed.graph.output.extend(onnx.ValueInfoProto(name=n) for n in tensors if n not in own)
    needed, kept = set(tensors), []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.insert(0, node)
            needed.update(names_read(node))
    return changed, _joined(kept, found, tensors), tensors


class Model:
    """A model whose nodes stand in topological order.

    Attributes
    ----------
    proto : onnx.ModelProto
        Without functions of its own.
    nodes : list of onnx.NodeProto
    inputs, outputs : list of str
        Initializers aren't among the inputs.
    constants : dict of str to ndarray
        The initializers.
    producer : dict of str to int
        The number of the node that makes a value.
    """

    def __init__(self, proto: onnx.ModelProto) -> None:
        if proto.functions:
            proto = inliner.inline_local_functions(proto)
        self.proto, self.nodes, self.outputs = _without_sequences(proto)
        graph = self.proto.graph
        self.constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
        self.inputs = [v.name for v in graph.input if v.name not in self.constants]
        self.reads = [names_read(node) for node in self.nodes]
        self.producer = {n: i for i, node in enumerate(self.nodes) for n in node.output if n}
        self.opsets = {v.domain: v.version for v in proto.opset_import}

    @classmethod
    def read(cls, model: str | os.PathLike[str] | bytes | onnx.ModelProto) -> "Model":
        """Read a model, with its external data."""
        if isinstance(model, onnx.ModelProto):
            return cls(model)
        is_path = not isinstance(model, bytes)
        try:
            return cls(onnx.load(model) if is_path else onnx.load_from_string(model))
        except DecodeError as error:
            where = model if is_path else "the bytes given"
            raise ComparisonError(f"{where}: no ONNX model, or a file that was cut off") from error
        except (onnx.checker.ValidationError, ValueError) as error:  # of external data
            raise ComparisonError(f"{model}: {error}") from error

    def ancestors(self, names: Iterable[str]) -> set[int]:
        """Return the numbers of the nodes that values depend on, those that make them too."""
        found: set[int] = set()
        waiting = [self.producer[name] for name in names if name in self.producer]
        while waiting:
            if (number := waiting.pop()) not in found:
                found.add(number)
                waiting += [self.producer[n] for n in self.reads[number] if n in self.producer]
        return found

    def dependents(self, number: int) -> tuple[int, list[str]]:
        """Return how many nodes, and which outputs, depend on what a node makes."""
        reached = {name for name in self.nodes[number].output if name}
        count = 0
        for later in range(number + 1, len(self.nodes)):
            if reached.intersection(self.reads[later]):
                reached.update(self.nodes[later].output)
                count += 1
        return count, [name for name in self.outputs if name in reached]

    def label(self, number: int) -> str:
        """Return what a node is called in reports."""
        node = self.nodes[number]
        name = node.name or node.output[0]
        return f"{node.domain + '.' if node.domain else ''}{node.op_type} {name!r}"

    def with_outputs(self, names: Sequence[str]) -> onnx.ModelProto:
        """Return the model with these values among its outputs, after its own."""
        if not (more := [name for name in names if name not in self.outputs]):
            return self.proto
        extended = onnx.ModelProto()
        extended.CopyFrom(self.proto)
        # Runtimes infer what type they are of
        extended.graph.output.extend(onnx.ValueInfoProto(name=name) for name in more)
        return extended

    def part(
        self, numbers: Iterable[int], values: Mapping[str, np.ndarray], outputs: Sequence[str]
    ) -> onnx.ModelProto:
        """Return a model of some nodes, in which what they read of others is recorded.

        Recorded values are initializers that are inputs too: defaults, which no runtime takes for
        constants, so that it computes with them as it does in the whole model.
        """
        chosen = sorted(numbers)
        made = {name for i in chosen for name in self.nodes[i].output}
        read = dict.fromkeys(n for i in chosen for n in self.reads[i] if n not in made)
        constants = [t for t in self.proto.graph.initializer if t.name in read]
        recorded = [name for name in read if name not in self.constants]
        tensors = [numpy_helper.from_array(np.asarray(values[n]), n) for n in recorded]
        infos = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in tensors]
        graph = helper.make_graph(
            [self.nodes[i] for i in chosen], "part", infos,
            [
                helper.make_tensor_value_info(
                    n, helper.np_dtype_to_tensor_dtype(values[n].dtype), values[n].shape
                )
                for n in outputs
            ],
            [*constants, *tensors],
        )  # fmt: skip
        return helper.make_model(
            graph,
            opset_imports=self.proto.opset_import,
            ir_version=max(self.proto.ir_version, 4),  # from which on inputs may have defaults
        )
