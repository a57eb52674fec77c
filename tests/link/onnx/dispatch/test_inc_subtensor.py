import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.arange(5 * 6 * 7, dtype="float32").reshape(5, 6, 7)
WRITES = [pt.set_subtensor, pt.inc_subtensor]


def test_many_positions_are_not_stored():
    x, y = pt.tensor("x", shape=(2, 150, 160), dtype="float32"), pt.fscalar("y")
    value = np.random.default_rng(0).normal(size=(2, 150, 160))
    model = compare_onnx_and_py([x, y], pt.set_subtensor(x[:, 1:-1, 1:-1], y), [value, 2])
    assert model.ByteSize() < 10_000


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_mask_of_every_dtype(dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.vector("y", dtype=dtype)
    mask, column = pt.vector("mask", dtype="bool"), pt.col("column", dtype=dtype)
    region = x[:, mask]
    outputs = [write(region, y) for write in WRITES] + [write(region, column) for write in WRITES]
    values = [np.arange(12).reshape(3, 4), [1, 2], [0, 1, 1, 0], [[0], [1], [2]]]
    values = [
        np.asarray(v).astype(i.dtype) for v, i in zip(values, (x, y, mask, column), strict=True)
    ]
    compare_onnx_and_py([x, y, mask, column], outputs, values)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
def test_equal_indices(dtype):
    x, y, i = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype), pt.lvector("i")
    outputs = [
        pt.set_subtensor(x[i], y),
        pt.inc_subtensor(x[i], y),
        pt.inc_subtensor(x[i], y, ignore_duplicates=True),
        pt.inc_subtensor(x[[1, 0, 1, -2]], y),
        pt.set_subtensor(x[[1, 0, 1, -2]], y),
    ]
    values = [np.arange(9).reshape(3, 3), 1 + np.arange(12).reshape(4, 3)]
    values = [v.astype(dtype) for v in values]
    model = compare_onnx_and_py([x, y, i], outputs, [*values, [1, 2, -2, 1]])
    # onnxruntime shares the updates of a ScatterND among threads, even where they meet.
    assert "ScatterND" not in op_types(model)


def test_indices_that_are_known_to_differ():
    x, y, i, k = pt.fmatrix("x"), pt.fvector("y"), pt.lscalar("i"), pt.lscalar("k")
    outputs = [
        pt.inc_subtensor(x[i], 3),
        pt.inc_subtensor(x[i, k:], 3),
        pt.set_subtensor(x[x.nonzero()], y),
        pt.inc_subtensor(x[(x > 1).nonzero()], 1),
    ]
    value = [[0, 1, 2], [3, 0, 5]]
    compare_onnx_and_py([x, y, i, k], outputs, [value, [7, 8, 9, 10], -1, 1])


@pytest.mark.parametrize(
    ("to", "dtype"),
    [
        ("float32", "float64"),
        ("float16", "float32"),
        ("float64", "int64"),
        ("int64", "int8"),
        ("int8", "int64"),
    ],
)
def test_value_of_another_dtype(to, dtype):
    x, y, i = pt.vector("x", dtype=to), pt.vector("y", dtype=dtype), pt.lvector("i")
    outputs = [write(region, y) for write in WRITES for region in (x[1:], x[i])]
    # float32 can't tell the value from its neighbours, float64 can.
    large = 2**24 + 1 if to == "float32" else 100
    compare_onnx_and_py([x, y, i], outputs, [[-large, 0, 7], [large, 3], [0, 2]])


def test_sum_is_rounded_once():
    x, y = pt.fvector("x"), pt.dvector("y")
    compare_onnx_and_py(
        [x, y], pt.inc_subtensor(x[1:], y), [[0, -(2**24)], [2**24 + 1]], rtol=0, atol=0
    )


def test_float_is_not_added_to_integers():
    x = pt.lvector("x")
    with pytest.raises(UnsupportedOpError, match="can't be added to int64"):
        export_onnx([x], IncSubtensor([slice(0, None)])(x, pt.constant(0.5), 2))


def test_leading_axes_of_the_value():
    x, y = pt.fmatrix("x"), pt.tensor3("y", shape=(1, None, None), dtype="float32")
    i = pt.lvector("i")
    outputs = [
        AdvancedIncSubtensor((0,), set_instead_of_inc=True)(x, y[:, :2], i),
        AdvancedIncSubtensor((slice(None), 0), set_instead_of_inc=True)(x, y[:, :, :2], i),
    ]
    compare_onnx_and_py([x, y, i], outputs, [X[0, :5], -X[:1, :5], [3, 1]])


def test_broadcast_at_run_time():
    x, y, i = pt.fmatrix("x"), pt.fmatrix("y"), pt.lvector("i")
    outputs = [write(x[key], y) for write in WRITES for key in (np.s_[1:], np.s_[:, 1:3])]
    outputs += [write(x[i, i], y[0]) for write in WRITES]
    compare_onnx_and_py([x, y, i], outputs, [X[0], [[-1]], [1, 2, 1]])


@pytest.mark.parametrize("write", WRITES)
def test_write_to_nothing(write):
    x, y, s = pt.tensor("x", shape=(3, 4)), pt.col("y"), pt.lscalar("s")
    i = pt.lvector("i")
    outputs = [write(x[:, 5:], y), write(x[:, s:], y), write(x[i], y[0]), write(x[x > 99], 1)]
    outputs += [write(x[:, i], y), write(x[np.array([], dtype="int64")], 2)]
    values = np.arange(12).reshape(3, 4)
    compare_onnx_and_py([x, y, s, i], outputs, [values, values[:, :1], 4, np.zeros(0, "int64")])


def test_shared_index_that_may_be_replaced():
    x = pt.fvector("x")
    i = pytensor.shared(np.array([0, 2]), name="i")
    outputs = [x[i], pt.inc_subtensor(x[i], 1)]
    for initializers in ("constants", "inputs"):
        compare_onnx_and_py([x], outputs, [[1, 2, 3]], initializers=initializers)
