"""What runtimes accept in files and onnx's own tools don't: changes before a model is read."""

from collections.abc import Iterator

import onnx

# The domain of operators that onnx's converter is not to see
KEPT = "pytensor.kept"


def prepared(proto: onnx.ModelProto, version: int) -> onnx.ModelProto:
    """Return a copy that onnx's converter takes where the file is of an older form.

    Operators that `version` of the standard lacks are moved to the domain `KEPT`.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    # Before IR 4, initializers had to be inputs, which runtimes never checked
    copy.ir_version = max(copy.ir_version, 4)
    imported = {v.domain for v in copy.opset_import}
    for node in nodes(copy.graph):
        if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type, version, ""):
            node.domain = KEPT
        if node.domain not in imported:
            copy.opset_import.add(domain=node.domain, version=1)
            imported.add(node.domain)
    return copy


def restored(converted: onnx.ModelProto, proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a converted model with the operators and the shapes that the file declares.

    The converter adds what it infers itself, which isn't what runtimes compute.
    """
    for node in nodes(converted.graph):
        if node.domain == KEPT:
            node.domain = ""
    declared = {}
    for graph in graphs(proto.graph):
        declared.update((v.name, v.type) for v in (*graph.value_info, *graph.output))
    for graph in graphs(converted.graph):
        kept = [v for v in graph.value_info if declared.get(v.name) == v.type]
        del graph.value_info[:]
        graph.value_info.extend(kept)
        for value in graph.output:
            if value.name in declared:
                value.type.CopyFrom(declared[value.name])
    return converted


def without_maps(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model, a copy if need be, that doesn't say which values are dictionaries."""
    if not any(map(_is_map, _values(proto))):
        return proto
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    for value in filter(_is_map, _values(copy)):
        value.ClearField("type")
    return copy


def _values(proto):
    for graph in graphs(proto.graph):
        yield from (*graph.input, *graph.output, *graph.value_info)


def _is_map(value):
    kind = value.type
    while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    return kind.HasField("map_type")


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and the graphs in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                yield from graphs(body)


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph and of the graphs in it."""
    for each in graphs(graph):
        yield from each.node
