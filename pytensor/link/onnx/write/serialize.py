"""From the export's graph to protobuf and files."""

import numpy as np

import onnx
import pytensor
from onnx import helper, numpy_helper
from onnx.external_data_helper import set_external_data
from pytensor.link.onnx.ir import Graph, Value

# protobuf cannot hold 2 GiB; what is not weights needs some room too.
LIMIT = 2**31 - 2**24
SKELETON = 1024
# Where arrays begin in a file of weights, so that it can be mapped into memory.
ALIGNMENT = 64


def to_model(graph, *, opset, model_name, doc_string=None, metadata=None, initializers=None):
    """Write a `Graph` as an ``onnx.ModelProto`` whose IR version is the lowest the opset has.

    Of the initializers those given are written, by default all; the others become inputs.
    """
    initializers = graph.initializers if initializers is None else initializers
    replaceable = graph.parameters if graph.parameters_are_inputs else ()
    inputs = [n for n in graph.initializers if n in replaceable or n not in initializers]
    opsets = [helper.make_opsetid("", opset)]
    domains = dict.fromkeys(node.domain for node in graph.all_nodes() if node.domain)
    model = helper.make_model(
        _graph(graph, model_name, inputs),
        opset_imports=opsets + [helper.make_opsetid(domain, 1) for domain in domains],
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="pytensor",
        producer_version=pytensor.__version__,
    )
    # The helpers copy what they are given: these would be in memory three times.
    for name, array in initializers.items():
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    if doc_string:
        model.doc_string = doc_string
    helper.set_model_props(model, {str(k): str(v) for k, v in (metadata or {}).items()})
    return model


def infer_types(graph, opset):
    """Complete `Graph.values` with what ONNX's shape inference finds.

    Dimensions that are known already, and their names, are kept.
    """
    # Shape inference serializes its model: only shapes and the like take part with their values.
    small = {n: a for n, a in graph.initializers.items() if a.size <= SKELETON}
    skeleton = to_model(graph, opset=opset, model_name="skeleton", initializers=small)
    # Strict propagation takes short vectors for shapes, and fails where those don't broadcast;
    # the checker, which propagates no values, is strict.
    inferred = onnx.shape_inference.infer_shapes(skeleton, strict_mode=False, data_prop=True)
    _merge_all(graph, inferred.graph)
    for name in graph.outputs:
        value = graph.values[name]
        if value.shape is not None:
            value.shape = tuple(
                f"{name}_dim_{axis}" if size is None else size
                for axis, size in enumerate(value.shape)
            )


def _merge_all(graph, proto):
    for info in (*proto.value_info, *proto.output):
        _merge(graph, info)
    for node in proto.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _merge_all(graph, attribute.g)


def _merge(graph, info):
    tensor = info.type.tensor_type
    if not tensor.elem_type:
        return
    value = graph.values.setdefault(info.name, Value())
    value.dtype = value.dtype or helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
    if not tensor.HasField("shape"):
        return
    found = [_dimension(dim) for dim in tensor.shape.dim]
    known = value.shape or (None,) * len(found)
    value.shape = tuple(
        new if old is None or isinstance(new, int) else old
        for old, new in zip(known, found, strict=True)
    )


def _dimension(dim):
    if dim.HasField("dim_value"):
        return dim.dim_value
    # Inference numbers what it does not know, in names that mean nothing.
    return None if dim.dim_param.startswith("unk__") else dim.dim_param or None


def _graph(graph, name, extra_inputs=()):
    interface = {*graph.inputs, *graph.outputs, *graph.initializers}
    computed = [name for node in graph.nodes for name in node.outputs if name not in interface]
    return helper.make_graph(
        [_node(node) for node in graph.nodes],
        name,
        [_value_info(graph, name) for name in (*graph.inputs, *extra_inputs)],
        [_value_info(graph, name) for name in graph.outputs],
        value_info=[
            _value_info(graph, name)
            for name in computed
            if name in graph.values and graph.values[name].dtype
        ],
    )


def _node(node):
    proto = helper.make_node(
        node.op_type, node.inputs, node.outputs, name=node.name, domain=node.domain
    )
    for key, value in sorted(node.attributes.items()):
        if isinstance(value, Graph):
            value = _graph(value, f"{node.name}/{key}")
        proto.attribute.append(helper.make_attribute(key, _attribute(value)))
    for key, value in node.metadata.items():
        proto.metadata_props.add(key=key, value=value)
    return proto


def _attribute(value):
    if isinstance(value, np.dtype):
        return helper.np_dtype_to_tensor_dtype(value)
    if isinstance(value, np.ndarray):
        return numpy_helper.from_array(value)
    return value


def _value_info(graph, name):
    value = graph.values[name]
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype))
    return helper.make_tensor_value_info(name, dtype, value.shape)


def save(model, path, *, external_data=False):
    """Write a model to `path`, its weights into ``<path>.data`` next to it where asked."""
    if not external_data:
        onnx.save_model(model, path)
        return
    # onnx's own function refuses when a file of that name lies in the working folder.
    data = path.with_name(path.name + ".data")
    with data.open("wb") as file:
        for tensor in model.graph.initializer:
            if len(tensor.raw_data) < SKELETON:
                continue
            file.write(bytes(-file.tell() % ALIGNMENT))
            set_external_data(tensor, data.name, file.tell(), len(tensor.raw_data))
            file.write(tensor.raw_data)
            tensor.ClearField("raw_data")
    onnx.save_model(model, path)


def needs_external_data(graph, external_data, path):
    """Return whether weights go to a file of their own.

    Raises
    ------
    ValueError
        If they can't go elsewhere, and `external_data` or a path that is None keep them from it.
    """
    size = sum(array.nbytes for array in graph.initializers.values())
    if external_data is False and size > LIMIT:
        raise ValueError(
            f"the weights take {size} bytes; one ONNX file has at most {LIMIT}. Use "
            'external_data="auto" or True'
        )
    outside = external_data is True or (external_data == "auto" and size > LIMIT)
    if outside and path is None:
        raise ValueError(f"the weights take {size} bytes: give a path to write them to")
    return outside
