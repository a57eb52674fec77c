"""Models computed by onnxruntime and through `from_onnx`."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, parser

from pytensor import function
from pytensor.compile.mode import Mode
from pytensor.link.onnx import from_onnx
from pytensor.link.onnx.importing.registry import MICROSOFT, ML

PYTHON = Mode("py", None)  # as the graph is, without rewrites
OPSETS = {"": 21, MICROSOFT: 1, ML: 3}


def normal(*shape, seed=0):
    """Draw numbers of float32."""
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype("float32")


def ones(*shape):
    return np.ones(shape, "float32")


def parsed(text, opset=20, domains="", **initializers):
    """Return a model from ONNX's text form, without its first line and maybe without its name.

    `initializers` are arrays by name.
    """
    name = "g" if text.lstrip().startswith("(") else ""
    header = f'<ir_version: 9, opset_import: ["": {opset}{domains}]> {name}'
    model = parser.parse_model(f"{header} {text}")
    for name, value in initializers.items():
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return model


def one_node(op_type, inputs, n_outputs=1, domain="", version=None, types=None, **attributes):
    """Build a model of one node, whose inputs are those of these arrays that aren't None.

    `types` are its outputs' dtypes, where they aren't the first input's.
    """
    names = ["" if value is None else f"x{i}" for i, value in enumerate(inputs)]
    outputs = [f"y{i}" for i in range(n_outputs)]
    node = helper.make_node(op_type, names, outputs, domain=domain, **attributes)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for name, v in zip(names, inputs, strict=True)
        if v is not None
    ]
    types = types or [inputs[0].dtype] * n_outputs
    results = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(t)), None)
        for name, t in zip(outputs, types, strict=True)
    ]
    graph = helper.make_graph([node], "model", infos, results)
    opsets = {**OPSETS, **({domain: version} if version else {})}
    opsets = [helper.make_opsetid(*item) for item in opsets.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def in_onnxruntime(model, values, log_severity=2):
    """Return a model's outputs for these inputs; warnings are logged unless `log_severity` is 3."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = log_severity
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [v.name for v in session.get_inputs()]
    return session.run(None, dict(zip(names, values, strict=True)))


def in_pytensor(model, values, mode=PYTHON, **options):
    """Return a model's outputs for these inputs; `options` are passed to `from_onnx`."""
    imported = from_onnx(model, **options)
    compute = function(
        list(imported.inputs.values()),
        list(imported.outputs.values()),
        mode=mode,
        on_unused_input="ignore",
    )
    return compute(*values)


def compare(model: onnx.ModelProto, values, mode=PYTHON, rtol=1e-5, atol=1e-6, **options):
    """Compare both, which must give the same; return PyTensor's results."""
    wanted = in_onnxruntime(model, values)
    results = in_pytensor(model, values, mode, **options)
    for result, want in zip(results, wanted, strict=True):
        assert result.dtype == want.dtype
        assert result.shape == want.shape
        np.testing.assert_allclose(result, want, rtol=rtol, atol=atol)
    return results
