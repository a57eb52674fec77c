"""Reading an ONNX model, and refusing what is damaged."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx_ir as ir
from google.protobuf.message import DecodeError, EncodeError
from onnx_ir.passes.common import InlinePass, TopologicalSortPass

import onnx
from onnx import helper, inliner, numpy_helper
from pytensor.link.onnx.importing.errors import ImportedModelError
from pytensor.link.onnx.importing.registry import operator_funcify

HIGHEST_OPSET = onnx.defs.onnx_opset_version()


def read_model(model: str | os.PathLike | bytes | onnx.ModelProto) -> ir.Model:
    """Read a model, with its functions inlined and its nodes in topological order.

    External data stays in its files until it is asked for; it must lie in the model's folder.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or not the one that holds external data.
    ImportedModelError
        If it is no ONNX model, a damaged one, or of an opset that the onnx package doesn't know.
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
    _check_names(proto.graph, where)
    if proto.ir_version >= 4:
        _check_inputs_of_bodies(proto.graph, where)
    _check_opsets(proto, where)
    proto = _readable(_spelled_out(proto), where)
    try:
        read = ir.from_proto(proto)
    except (ir.serde.SerdeError, KeyError, TypeError, ValueError) as error:
        reason = error.__cause__ or error
        raise ImportedModelError(f"from_onnx: {where} is damaged: {reason}") from error
    _settle_opsets(read, where)
    try:
        InlinePass()(read)
        TopologicalSortPass()(read)
    except (ValueError, ir.passes.PassError) as error:
        raise ImportedModelError(f"from_onnx: {where}: {error.__cause__ or error}") from error
    _find_external_data(read, folder, where)
    return read


def _settle_opsets(model, where):
    """Let the nodes of functions say their opsets, which may differ from the model's."""
    opsets = {standard_domain(k): v for k, v in model.opset_imports.items()}
    for function in model.functions.values():
        own = {standard_domain(k): v for k, v in function.opset_imports.items()}
        _check_opset(own.get(""), f"{where}: the function {function.name!r}")
        for node in function.all_nodes():
            node.version = own.get(node.domain)
        for domain, version in own.items():
            opsets.setdefault(domain, version)
        function.opset_imports.clear()  # inlining refuses other opsets than the model's
    model.opset_imports.clear()
    model.opset_imports.update(opsets)


def standard_domain(domain):
    """Return a domain's name, "" for ONNX's own."""
    return "" if domain == "ai.onnx" else domain


def _parse(data, what):
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ImportedModelError(
            f"from_onnx: {what}: no ONNX model, or a file that was cut off ({len(data):,} bytes)"
        ) from error
    return proto


def _check_names(graph, where, outside=frozenset(), before=frozenset()):
    """Check that every value has one source, and every name that is read has one.

    A body may read names from `outside`, and can't make those that are known `before` it.
    """
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
        if name in before and (name in initializers or name not in inputs):
            raise ImportedModelError(
                f"from_onnx: {where}: in a body, {source} has the name {name!r} of a value outside "
                f"of it, and runtimes differ in which of the two they read: give it another name"
            )
        made[name] = source
    visible = outside | made.keys()
    before = {*before, *inputs, *initializers}
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
                    _check_names(body, where, visible, before)
        before.update(node.output)
    for value in graph.output:
        if value.name not in visible:
            raise ImportedModelError(f"from_onnx: {where}: no node makes output {value.name!r}")
        if value.name not in made:
            raise ImportedModelError(
                f"from_onnx: {where}: a body's output {value.name!r} is a value from outside; put "
                f"an Identity between"
            )


def _check_inputs_of_bodies(graph, where):
    """Check that a body's inputs have no values of their own, from version 4 of the format on."""
    for body in graphs(graph):
        both = {v.name for v in body.input} & {t.name for t in body.initializer}
        if both and body is not graph:
            raise ImportedModelError(
                f"from_onnx: {where}: {sorted(both)[0]!r} is an input and an initializer of a body"
            )


def _describe(node):
    return f"node {node.op_type} {node.name!r}" if node.name else f"a node {node.op_type}"


def _versions(proto):
    return {standard_domain(v.domain): v.version for v in proto.opset_import}


def _spelled_out(proto):
    """Return the model, with the standard's own functions in the place of unknown operators."""
    versions, unknown = _versions(proto), set()
    known = {(function.domain, function.name) for function in proto.functions}
    for domain, name in {(v.domain, v.op_type) for v in proto.graph.node} - known:
        at = (name, versions.get(domain, 1), domain)
        known_here = operator_funcify.dispatch(name, standard_domain(domain), at[1])
        if known_here is None and onnx.defs.has(*at):
            schema = onnx.defs.get_schema(*at)
            if schema.has_function or schema.has_context_dependent_function:
                unknown.add((domain, name))
    if not unknown:
        return proto
    try:
        return inliner.inline_selected_functions(proto, list(unknown), inline_schema_functions=True)
    except (RuntimeError, EncodeError):
        return proto  # in which these nodes are refused, for there is no converter of them


def _check_opsets(proto, where):
    version = _versions(proto).get("")
    # Before version 3 of the format, models had no opsets, and what they have is opset 1's
    needed = proto.ir_version >= 3 and any(n.domain in ("", "ai.onnx") for n in proto.graph.node)
    if version is None and needed:
        raise ImportedModelError(f"from_onnx: {where} doesn't say of which opset it is")
    _check_opset(version, where)


def _check_opset(version, where):
    if version is not None and not 1 <= version <= HIGHEST_OPSET:
        raise ImportedModelError(
            f"from_onnx: {where} is of opset {version}; 1 to {HIGHEST_OPSET} can be imported: "
            f"a newer onnx package may know it"
        )


def _readable(proto, where):
    """Return the model, a copy if need be, without what onnx-ir doesn't read.

    Sparse initializers and constants become arrays, and no value is said to be a dictionary.
    """
    if not any(
        g.sparse_initializer or _sparse_constants(g) or any(map(_is_map, _values(g)))
        for g in graphs(proto.graph)
    ):
        return proto
    readable = onnx.ModelProto()
    readable.CopyFrom(proto)
    for graph in graphs(readable.graph):
        for value in filter(_is_map, _values(graph)):
            value.ClearField("type")
        for sparse in graph.sparse_initializer:
            graph.initializer.append(_dense(sparse, f"{where}: the sparse initializer"))
        del graph.sparse_initializer[:]
        for constant in _sparse_constants(graph):
            value = _dense(constant.sparse_tensor, f"{where}: the sparse constant")
            constant.CopyFrom(helper.make_attribute("value", value))
    return readable


def _dense(sparse, what):
    name = sparse.values.name
    try:
        return numpy_helper.from_array(dense_array(sparse), name)
    except (IndexError, TypeError, ValueError) as error:
        raise ImportedModelError(f"from_onnx: {what} {name!r}: {error}") from error


def _sparse_constants(graph):
    constants = (node for node in graph.node if node.op_type == "Constant")
    return [a for node in constants for a in node.attribute if a.HasField("sparse_tensor")]


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and the graphs in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)
            for body in attribute.graphs:
                yield from graphs(body)


def _values(graph):
    return (*graph.input, *graph.output, *graph.value_info)


def _is_map(value):
    kind = value.type
    while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    return kind.HasField("map_type")


def dense_array(sparse):
    """Return the array of a SparseTensorProto.

    Raises
    ------
    ValueError
        If its values or indices are in another file, or don't fit its shape.
    """
    if any(v.data_location == v.EXTERNAL for v in (sparse.values, sparse.indices)):
        raise ValueError("its values are in another file; only dense ones are read from there")
    values, places = map(numpy_helper.to_array, (sparse.values, sparse.indices))
    shape = tuple(sparse.dims)
    if places.ndim == 2:
        places = np.ravel_multi_index(tuple(places.T), shape)
    if values.shape != places.shape:
        raise ValueError(f"it has {values.size} values and {places.size} places")
    dense = np.zeros(shape, values.dtype)
    if (places < 0).any():
        raise ValueError("an index is negative")
    dense.reshape(-1)[places] = values
    return dense


def _tensors(model):
    """Yield all tensors of a model without functions, with what errors call them."""
    for graph in (model.graph, *model.graph.subgraphs()):
        for value in graph.initializers.values():
            yield repr(value.name), value.const_value
    for node in model.graph.all_nodes():
        for attribute in node.attributes.values():
            if attribute.type in (ir.AttributeType.TENSOR, ir.AttributeType.TENSORS):
                many = attribute.type == ir.AttributeType.TENSORS
                for tensor in attribute.value if many else [attribute.value]:
                    names = ", ".join(repr(v.name) for v in node.outputs)
                    yield f"{attribute.name!r} of the node of {names}", tensor


def _find_external_data(model, folder, where):
    for name, tensor in _tensors(model):
        if not isinstance(tensor, ir.ExternalTensor):
            continue
        if folder is None:
            raise ImportedModelError(
                f"from_onnx: the values of {name} are in the file "
                f"{os.fspath(tensor.location)!r} next to the model: give the model's path"
            )
        tensor.base_dir = folder
        try:
            tensor.numpy()
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"from_onnx: {where}: the values of {name} should be in {tensor.path}, "
                f"which isn't there; put that file next to the model"
            ) from error
        except (ValueError, OSError) as error:
            text = f"from_onnx: {where}: the values of {name}: {error}"
            raise ImportedModelError(text) from error
