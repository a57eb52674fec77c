import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.arange(5 * 6 * 7, dtype="float32").reshape(5, 6, 7)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    "index",
    [
        np.s_[1:4],
        np.s_[:, 2:],
        np.s_[:, -2:],
        np.s_[:, :-2, 1:],
        np.s_[::2, ::3, ::-1],
        np.s_[4:1:-1],
        np.s_[-2::-2],
        np.s_[:-10:-1],
        np.s_[3:100],
        np.s_[5:2],
        np.s_[2],
        np.s_[:, -1],
        np.s_[1, 2:4, 3],
        np.s_[..., 3],
        np.s_[-1, :, -2],
    ],
)
def test_constant_index(index, static):
    x = pt.tensor("x", shape=(5, 6, 7) if static else (None, None, None), dtype="float32")
    model = compare_onnx_and_py([x], x[index], [X])
    assert set(op_types(model)) <= {"Slice", "Gather", "Identity"}


def test_index_at_run_time():
    x, i, j = pt.tensor3("x", dtype="float32"), pt.lscalar("i"), pt.iscalar("j")
    outputs = [x[i], x[i:], x[:j, i:j], x[:, i, -j], x[i : x.shape[0] - 1]]
    compare_onnx_and_py([x, i, j], outputs, [X, 1, 3])


def test_array_index():
    x, i = pt.tensor3("x", dtype="float32"), pt.lvector("i")
    outputs = [x[i], x[:, i], x[:, [[0, 2], [-1, 3]]], x[1:3, :, i]]
    compare_onnx_and_py([x, i], outputs, [X, [0, 2, -1]])


def test_boolean_mask_is_refused():
    x = pt.fmatrix("x")
    with pytest.raises(UnsupportedOpError):
        export_onnx([x], x[x > 0])


def test_halves_become_one_split():
    x = pt.tensor("x", shape=(None, 6, 7), dtype="float32")
    y = pt.exp(x / 100)
    model = compare_onnx_and_py([x], [y[:, :2], y[:, 2:-2], y[:, 4:]], [X])
    assert op_types(model).count("Split") == 1
    assert "Slice" not in op_types(model)
    model = compare_onnx_and_py([x], [y[:, :2], y[:, 3:]], [X])
    assert "Split" not in op_types(model)


@pytest.mark.parametrize("write", [pt.set_subtensor, pt.inc_subtensor])
@pytest.mark.parametrize("index", [np.s_[1:3], np.s_[:, -2], np.s_[:, :, ::-2], np.s_[-1]])
def test_write(index, write):
    x, y = pt.tensor("x", shape=(5, 6, 7), dtype="float32"), pt.fscalar("y")
    z = pt.tensor("z", shape=np.empty((5, 6, 7))[index].shape, dtype="float32")
    outputs = [write(x[index], y), write(x[index], z)]
    compare_onnx_and_py([x, y, z], outputs, [X, 2, -X[index]])


def test_write_to_two_axes_is_refused():
    x = pt.tensor("x", shape=(5, 6, 7), dtype="float32")
    with pytest.raises(UnsupportedOpError, match="one axis, of known length"):
        export_onnx([x], pt.set_subtensor(x[1:, 1:], 0))
