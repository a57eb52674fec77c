"""Reading an ONNX model, and refusing what is damaged."""

import os
from pathlib import Path

import onnx_ir as ir
from google.protobuf.message import DecodeError
from onnx_ir.passes.common import InlinePass, TopologicalSortPass

import onnx
from pytensor.link.onnx.importing.errors import ImportedModelError

LOWEST_OPSET, HIGHEST_OPSET = 13, onnx.defs.onnx_opset_version()


def read_model(model: str | os.PathLike | bytes | onnx.ModelProto) -> ir.Model:
    """Read a model, with its functions inlined and its nodes in topological order.

    External data stays in its files until it is asked for; it must lie in the model's folder.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or not the one that holds external data.
    ImportedModelError
        If it is no ONNX model, or a damaged one.
    """
    if isinstance(model, onnx.ModelProto):
        proto, folder, where = model, None, "the model"
    elif isinstance(model, bytes):
        proto, folder, where = _parse(model, "the bytes given"), None, "the model"
    else:
        path = Path(model)
        proto, folder, where = _parse(path.read_bytes(), path), path.parent.resolve(), str(path)
    if not proto.HasField("graph"):
        raise ImportedModelError(f"from_onnx: {where} is damaged, or no ONNX model: no graph in it")
    _check_names(proto.graph, where, set())
    try:
        read = ir.from_proto(proto)
    except (KeyError, TypeError, ValueError) as error:
        raise ImportedModelError(f"from_onnx: {where} is damaged: {error}") from error
    _check_opsets(read, where)
    _find_external_data(read, folder, where)
    try:
        InlinePass()(read)
        TopologicalSortPass()(read)
    except (ValueError, ir.passes.PassError) as error:
        raise ImportedModelError(f"from_onnx: {where}: {error.__cause__ or error}") from error
    return read


def _parse(data, what):
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ImportedModelError(
            f"from_onnx: {what}: no ONNX model, or a file that was cut off ({len(data):,} bytes)"
        ) from error
    return proto


def _check_names(graph, where, outside):
    """Every value has one source, and every name that is read has one."""
    made = {}
    initializers = [t.name for t in graph.initializer]
    initializers += [t.values.name for t in graph.sparse_initializer]
    sources = [(v.name, "an input") for v in graph.input]
    inputs = {v.name for v in graph.input}
    sources += [(name, "an initializer") for name in initializers if name not in inputs]
    sources += [(name, _describe(node)) for node in graph.node for name in node.output if name]
    for name, source in sources:
        if name in made:
            raise ImportedModelError(
                f"from_onnx: {where}: the name {name!r} belongs to {made[name]} and to {source}; "
                f"each value needs a name of its own"
            )
        made[name] = source
    visible = outside | made.keys()
    for node in graph.node:
        for name in node.input:
            if name and name not in visible:
                raise ImportedModelError(
                    f"from_onnx: {where}: {_describe(node)} reads {name!r}, which is no input, "
                    f"no initializer and no node's output"
                )
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node or body.output:
                    _check_names(body, where, visible)
    for value in graph.output:
        if value.name not in visible:
            raise ImportedModelError(f"from_onnx: {where}: nothing makes the output {value.name!r}")


def _describe(node):
    return f"node {node.op_type} {node.name!r}" if node.name else f"a node {node.op_type}"


def _check_opsets(model, where):
    version = model.opset_imports.get("", model.opset_imports.get("ai.onnx"))
    if version is not None and not LOWEST_OPSET <= version <= HIGHEST_OPSET:
        raise ImportedModelError(
            f"from_onnx: {where} is of opset {version}; {LOWEST_OPSET} to {HIGHEST_OPSET} can be "
            f"imported. onnx.version_converter.convert_version may help"
        )


def _find_external_data(model, folder, where):
    for graph in (model.graph, *model.graph.subgraphs()):
        for value in graph.initializers.values():
            tensor = value.const_value
            if not isinstance(tensor, ir.ExternalTensor):
                continue
            if folder is None:
                raise ImportedModelError(
                    f"from_onnx: the values of {value.name!r} are in the file "
                    f"{os.fspath(tensor.location)!r} beside the model: give the model's path"
                )
            tensor.base_dir = folder
            try:
                tensor.numpy()
            except FileNotFoundError as error:
                raise FileNotFoundError(
                    f"from_onnx: {where}: the values of {value.name!r} should be in {tensor.path}, "
                    f"which isn't there; put that file beside the model"
                ) from error
            except (ValueError, OSError) as error:
                raise ImportedModelError(
                    f"from_onnx: {where}: the values of {value.name!r}: {error}"
                ) from error
