import numpy as np
import onnxruntime
import pytest

import pytensor.tensor as pt
from pytensor import function
from tests.link.onnx.test_basic import compare_onnx_and_py, run

X = np.arange(3 * 4 * 5, dtype="float32").reshape(3, 4, 5)


def test_short_forms():
    """A mask, a vector of indices, several of them, next to integers and whole axes."""
    x = pt.tensor("x", shape=(3, 4, 5), dtype="float32")
    i = pt.tensor("i", shape=(4,), dtype="int64")
    three, four = (pt.vector(name, dtype="bool") for name in ("three", "four"))
    matrix, whole = pt.matrix("matrix", dtype="bool"), pt.tensor3("whole", dtype="bool")
    rows, columns = np.array([0, 2]), np.array([1, 3])
    outputs = [x[i], x[:, i], x[i, 0], x[0, :, i], x[i, [0, 2, 1, 1]], x[rows, columns]]
    outputs += [x[rows, :, columns], x[three], x[:, four], x[matrix], x[whole]]
    values = [X, [2, 0, -1, 1], [1, 0, 1], [0, 1, 1, 0], X[:, :, 0] % 3 > 1, X % 7 < 3]
    compare_onnx_and_py([x, i, three, four, matrix, whole], outputs, values)


def test_nonzero_of_special_values():
    x = pt.vector("x", dtype="float64")
    values = [np.nan, -0.0, 5e-324, 0, -np.inf, 1e-300]
    compare_onnx_and_py([x], x.nonzero()[0], [values])


def test_unsigned_index_beyond_int64_is_out_of_range():
    x, i = pt.lvector("x"), pt.vector("i", dtype="uint64")
    model = compare_onnx_and_py([x, i], x[i], [[1, 2, 3], [2, 0]])
    with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
        run(model, [np.arange(3), np.array([2**64 - 1], dtype="uint64")])


def test_constant_indices_that_descend():
    """PyTensor's rewrites take differences of them, which wrap where they are unsigned."""
    x = pt.matrix("x", dtype="float32")
    down, up = (pt.constant(np.array(index, dtype="uint8")) for index in ([3, 0], [0, 2]))
    compare_onnx_and_py([x], [x[down], x[:, down], x[up], x[down, up]], [X[0]])
    f = function([x], [x[down], x[up]], mode="ONNX")
    for actual, expected in zip(f(X[0]), (X[0][[3, 0]], X[0][[0, 2]]), strict=True):
        np.testing.assert_array_equal(actual, expected)
