"""What mode "ONNX" runs is what `export_onnx` writes, but for names."""

import onnx
import onnxruntime
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.link.onnx import ONNXLinker, export_onnx
from pytensor.raise_op import Assert


def form(graph, names):
    """Return a graph's nodes with numbers for the names of values, and arrays for constants."""
    names.update({t.name: (t.data_type, tuple(t.dims), t.raw_data) for t in graph.initializer})

    def number(value):
        return names.setdefault(value, len(names))

    inputs = [(number(v.name), str(v.type.tensor_type.elem_type)) for v in graph.input]
    nodes = [
        (
            node.op_type,
            [number(name) for name in node.input],
            [form(a.g, names) if a.HasField("g") else a for a in node.attribute],
            [number(name) for name in node.output],
        )
        for node in graph.node
    ]
    return inputs, nodes, [number(v.name) for v in graph.output]


@pytest.fixture
def models_run(monkeypatch):
    """Collect the models that sessions are made of."""
    models, session = [], onnxruntime.InferenceSession

    def record(data, *options):
        models.append(onnx.load_from_string(data))
        return session(data, *options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", record)
    return models


@pytest.mark.parametrize("opset", [20, 24])
def test_mode_runs_what_export_writes(models_run, opset):
    x = pt.vector("x", dtype="float32")
    checked = Assert("numbers must be positive")(x, (x > 0).all())
    outputs = [checked.sum(), x[::-1], pt.silu(x), pt.exp(x + 0)]
    pytensor.function([x], outputs, mode=Mode(ONNXLinker(opset_version=opset)))
    written = export_onnx([x], outputs, opset_version=opset, exact=True, checks="outputs")
    assert models_run[0].opset_import == written.opset_import
    assert models_run[0].ir_version == written.ir_version
    assert form(models_run[0].graph, {}) == form(written.graph, {})
    assert len(written.graph.node) > 1
