"""Each version of an operator means what the standard or onnxruntime says, as the table has it."""

import numpy as np
import onnx
import pytest

from docs.tools import onnx_import as table
from tests.link.onnx.importing import versions
from tests.link.onnx.importing.with_onnxruntime import compare, one_node, parsed


@pytest.mark.parametrize("op_type", versions.history())
def test_the_table_says_with_what_versions_were_compared(op_type):
    assert table.versions_row(op_type) in table.TABLE.read_text().splitlines()


def test_each_version_is_compared():
    assert "not compared" not in table.TABLE.read_text()


@pytest.mark.parametrize("opset", [1, 11])
def test_squeeze_with_an_empty_list_of_axes(opset):
    x = np.ones((1, 2, 1), "float32")
    model = one_node("Squeeze", [x], version=opset)
    empty = onnx.AttributeProto(name="axes", type=onnx.AttributeProto.INTS)
    model.graph.node[0].attribute.append(empty)
    (result,) = compare(model, [x])
    assert result.shape == (2,)


def test_open_sizes_in_old_forms():
    """Which the converter of an older form must keep, as that of the newest does."""
    text = "g (float[N, 3, M] x) => (float[N, 3, M] y) { y = Softmax <axis = 1> (x) }"
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    compare(parsed(text, 11), [x])
