"""What runtimes accept in files and onnx's own tools don't: changes before a model is read."""

from collections.abc import Iterator

import onnx


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
            if attribute.HasField("g"):
                yield from graphs(attribute.g)
            for body in attribute.graphs:
                yield from graphs(body)
