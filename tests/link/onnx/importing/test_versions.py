"""Each version of an operator means what the standard or onnxruntime says, as the table has it."""

import numpy as np
import onnx
import pytest

pytest.importorskip("onnx_ir")
pytest.importorskip("onnxruntime")
table = pytest.importorskip("docs.tools.onnx_import")
versions = pytest.importorskip("tests.link.onnx.importing.versions")
with_onnxruntime = pytest.importorskip("tests.link.onnx.importing.with_onnxruntime")


@pytest.mark.parametrize("op_type", versions.history())
def test_the_table_says_with_what_versions_were_compared(op_type):
    assert table.versions_row(op_type) in table.TABLE.read_text().splitlines()


def test_each_version_is_compared():
    assert "not compared" not in table.TABLE.read_text()


@pytest.mark.parametrize("opset", [1, 11])
def test_squeeze_with_an_empty_list_of_axes(opset):
    x = np.ones((1, 2, 1), "float32")
    model = with_onnxruntime.one_node("Squeeze", [x], version=opset)
    empty = onnx.AttributeProto(name="axes", type=onnx.AttributeProto.INTS)
    model.graph.node[0].attribute.append(empty)
    (result,) = with_onnxruntime.compare(model, [x])
    assert result.shape == (2,)


def test_an_operator_before_its_first_version_is_read_as_in_that():
    x = np.float32([[1, 2]])
    model = with_onnxruntime.one_node("LayerNormalization", [x, x[0]], version=12)
    (result,) = with_onnxruntime.in_pytensor(model, [x, x[0]])
    np.testing.assert_allclose(result, [[-1, 2]], rtol=1e-4)


def test_open_sizes_in_old_forms():
    """Which the converter of an older form must keep, as that of the newest does."""
    text = "g (float[N, 3, M] x) => (float[N, 3, M] y) { y = Softmax <axis = 1> (x) }"
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    with_onnxruntime.compare(with_onnxruntime.parsed(text, 11), [x])
