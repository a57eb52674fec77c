import numpy as np
import onnxruntime
import pytest

import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from tests.link.onnx.test_basic import compare_onnx_and_py, run

X = np.arange(5 * 6 * 7, dtype="float32").reshape(5, 6, 7)


def test_constant_indices_of_known_lengths():
    x = pt.tensor("x", shape=(5, 6, 7), dtype="float32")
    outputs = [x[4:0:-1], x[:, :-2, 1:], x[::2, ::3, ::-1], x[:-10:-1], x[5:2], x[-1, :, -2]]
    compare_onnx_and_py([x], outputs, [X])


@pytest.mark.parametrize("start", [-9, 9])
def test_negative_step_with_a_start_before_the_first_element(start):
    x, s, k = pt.lvector("x"), pt.lscalar("s"), pt.lscalar("k")
    outputs = [x[start::-1], x[s::-1], x[start:-3:-1], x[s:-3:-2], x[s:0:k], x[s::k], x[::k]]
    for length in (0, 1, 2, 5):
        for step in (-1, 2):
            compare_onnx_and_py([x, s, k], outputs, [np.arange(length), start, step])


@pytest.mark.slow
def test_extreme_bounds():
    bound = -(2**63)
    x, b, k = pt.lvector("x"), pt.lscalar("b"), pt.lscalar("k")
    outputs = [x[b::-1], x[:b:-1], x[:b], x[b:], x[b::k], x[:b:k], x[::b]]
    outputs += [x[bound::-1], x[:bound:-1], x[:bound], x[bound:], x[bound::k], x[:bound:k]]
    for value in (bound, 2**63 - 1, 2**31 - 1):
        for step in (-1, 1):
            compare_onnx_and_py([x, b, k], outputs, [np.arange(5), value, step])


def test_out_of_range_is_an_error():
    x, i = pt.lvector("x"), pt.lscalar("i")
    model = compare_onnx_and_py([x, i], x[i], [[1, 2, 3], -3])
    for index in (3, -4):
        with pytest.raises(onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
            run(model, [np.arange(3), np.array(index)])


def test_index_in_an_inner_graph():
    x, i = pt.fmatrix("x"), pt.iscalar("i")
    inner = OpFromGraph([x, i], [x[i, : i + 1], x[::-2, i]])
    compare_onnx_and_py([x, i], inner(x, i), [X[0], 2])
