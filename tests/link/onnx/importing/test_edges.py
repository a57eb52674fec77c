"""Edge values through `from_onnx` and in onnxruntime."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_pytensor,
    normal,
    one_node,
    parsed,
)

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("auto_pad", ["NOTSET", "VALID", "SAME_LOWER", "SAME_UPPER"])
@pytest.mark.parametrize("output_shape", [[6, 9], [7, 8]])
def test_conv_transpose_puts_an_odd_cell_where_the_standard_does(auto_pad, output_shape):
    values = [normal(1, 2, 3, 4), normal(2, 1, 3, 3)]
    how = {"auto_pad": auto_pad, "output_shape": output_shape, "strides": [2, 2]}
    compare(one_node("ConvTranspose", values, **how), values)


@pytest.mark.parametrize("base", ["int32", "int64"])
@pytest.mark.parametrize("exponent", ["int32", "int64", "float32"])
def test_negative_powers_of_integers(base, exponent):
    values = [np.array([-2, 3, 2, 1, -1, -1, 2], base)]
    values.append(np.array([3, 2, -1, -3, -3, -2, 0], exponent))
    model = one_node("Pow", values)
    (power,) = compare(model, values)
    np.testing.assert_array_equal(power, [-8, 9, 0, 1, -1, 1, 1])
    known = parsed("(int32[N] x) => (int32[N] y) <float e = {-1}> { y = Pow(x, e) }")
    compare(known, [np.array([2, 1, -1], "int32")])


def test_range_whose_quotient_is_just_above_a_whole_number():
    values = [np.array(v, "float32") for v in (0, 0.3, 0.1)]
    (numbers,) = compare(one_node("Range", values), values)
    assert len(numbers) == 4


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize("op_type", ["ScatterElements", "ScatterND"])
def test_no_updates(op_type, reduction):
    x = normal(3, 2)
    indices = np.zeros((0, 2 if op_type == "ScatterElements" else 1), "int64")
    values = [x, indices, x[:0]]
    model = one_node(op_type, values, version=18, reduction=reduction)
    for info in model.graph.input[1:]:
        info.type.tensor_type.shape.dim[0].dim_param = "n"
    compare(model, values)


@pytest.mark.parametrize("ratio", [0, 2])
def test_gradient_where_samples_of_a_region_are_equal(ratio):
    x = np.zeros((1, 1, 4, 4))
    x[..., 1, 1] = 1
    values = [x, np.array([[0.75, 0.75, 2.25, 2.25]]), np.zeros(1, "int64")]
    model = from_onnx(one_node("RoiAlign", values, mode="max", sampling_ratio=ratio))
    image, *regions = model.inputs.values()
    (y,) = model.outputs.values()
    slope, result = function([image, *regions], [grad(y.sum(), image), y])(*values)
    np.testing.assert_allclose(slope, x * result.sum())


@pytest.mark.parametrize("op_type", ["GridSample", "DeformConv"])
def test_infinite_cells_do_not_reach_places_beyond_the_image(op_type):
    x = normal(1, 1, 3, 4)
    x[0, 0, [0, -1], [0, -1]] = NAN, INF
    beyond = np.array([[-9, -9], [9, 9], [-9, 0], [NAN, 0]], "float32")
    offsets = np.tile(beyond.T[None, :, None], (1, 1, 3, 1))
    more = [beyond[None, None]] if op_type == "GridSample" else [normal(1, 1, 1, 1), offsets]
    (out,) = in_pytensor(one_node(op_type, [x, *more], version=22), [x, *more])
    np.testing.assert_array_equal(out, np.zeros_like(out))


NOTHING = {
    "RoiAlign, avg": (
        [normal(1, 2, 5, 6), normal(0, 4), np.zeros(0, "int64")],
        {"mode": "avg", "output_height": 2, "output_width": 3, "sampling_ratio": 0},
    ),
    "RoiAlign, max": (
        [normal(1, 2, 5, 6), normal(0, 4), np.zeros(0, "int64")],
        {"mode": "max", "output_height": 2, "output_width": 3, "sampling_ratio": 2},
    ),
    "NonMaxSuppression": (
        [normal(1, 0, 4), normal(1, 2, 0), np.array([3])],
        {"types": ["int64"]},
    ),
    "DynamicQuantizeLinear": (
        [np.zeros(0, "float32")],
        {"n_outputs": 3, "types": ["uint8", "float32", "uint8"]},
    ),
}


@pytest.mark.parametrize("case", NOTHING)
def test_of_no_regions_boxes_and_numbers(case):
    values, how = NOTHING[case]
    compare(one_node(case.partition(",")[0], values, **how), values)


@pytest.mark.parametrize("op_type", ["Gather", "GatherND"])
@pytest.mark.parametrize("length", ["N", 2])
def test_the_last_entry_of_joined_vectors(op_type, length):
    """PyTensor takes it for the last one of the first vector."""
    last = np.array(-1) if op_type == "Gather" else np.array([-1])
    nodes = f"joined = Concat<axis=0>(zero, x) entry = {op_type}(joined, last) z = Mul(entry, y)"
    text = f"(int64[{length}] x, int64[M] y) => (int64[M] z) {{ {nodes} }}"
    values = [np.array([3, 4]), np.array([1, 2, 3])]
    compare(parsed(text, zero=np.array([0]), last=last), values, mode="FAST_COMPILE")


def test_the_first_cell_broadcasts_against_windows():
    """PyTorch writes a MaxPool's positions so, less that of each image's first cell."""
    nodes = "maxima, at = MaxPool<kernel_shape = [2]>(x) one, of = MaxPool<kernel_shape = [1]>(x)"
    nodes += " first = Slice(of, start, stop, axis) z = Sub(at, first)"
    cut = {"start": np.array([0]), "stop": np.array([1]), "axis": np.array([2])}
    model = parsed(f"(float[N, C, L] x) => (int64[N, C, M] z) {{ {nodes} }}", **cut)
    compare(model, [normal(2, 3, 5)])


def test_a_norm_of_zeros_has_the_gradient_0():
    """NaN would pass the lower bound behind the norm, by which a network normalizes rows."""
    x = np.zeros((2, 3), "float32")
    model = from_onnx(one_node("ReduceL2", [x], version=13, axes=[1]))
    (rows,), (norms,) = model.inputs.values(), model.outputs.values()
    slope = grad((rows / pt.maximum(norms, np.float32(1))).sum(), rows)
    np.testing.assert_array_equal(function([rows], slope, mode=PYTHON)(x), np.ones_like(x))


def test_a_query_that_is_nan_is_not_hidden():
    """Zeros are for queries that may attend to nothing."""
    q, k, v = np.random.default_rng(0).normal(size=(3, 1, 1, 2, 4)).astype("float32")
    q[..., 2] = np.nan
    values = [q, k, v, np.array([[True, True], [False, False]])]
    (out,) = in_pytensor(one_node("Attention", values, version=23), values)
    assert np.isnan(out[0, 0, 0]).all()
    np.testing.assert_array_equal(out[0, 0, 1], 0)


HALF = {
    "LpNormalization": ([[300, 400]], {}, [[0.6, 0.8]]),
    "LRN": (np.full((1, 1, 1, 2), 300), {"size": 1, "alpha": 1.0, "beta": 0.5}, 300 / 90001**0.5),
    "Mean": ([60000], {}, [60000]),
    "MeanVarianceNormalization": ([[300, 0]], {"axes": [1]}, [[1, -1]]),
    "NegativeLogLikelihoodLoss": (np.full((70000, 1), -1), {}, 1),
    "SoftmaxCrossEntropyLoss": (np.zeros((70000, 2)), {}, np.log(2)),
    "RoiAlign": (np.full((1, 1, 4, 4), 60000), {"sampling_ratio": 2}, 60000),
}
MORE = {
    "Mean": [np.array([60000], "float16")],
    "NegativeLogLikelihoodLoss": [np.zeros(70000, "int64")],
    "SoftmaxCrossEntropyLoss": [np.zeros(70000, "int64")],
    "RoiAlign": [np.array([[0, 0, 3, 3]], "float16"), np.zeros(1, "int64")],
}


@pytest.mark.parametrize("op_type", HALF)
def test_sums_in_half_precision_do_not_overflow(op_type):
    x, attributes, wanted = HALF[op_type]
    values = [np.asarray(x, "float16"), *MORE.get(op_type, [])]
    (y,) = in_pytensor(one_node(op_type, values, **attributes), values)
    assert y.dtype == "float16"
    np.testing.assert_allclose(y, np.broadcast_to(wanted, y.shape), rtol=1e-3)
