"""Edge values, and attributes that make no sense, through `from_onnx` and in onnxruntime."""

import numpy as np
import pytest

from pytensor.link.onnx import ImportedOpError, from_onnx
from tests.link.onnx.importing.with_onnxruntime import (
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
    text = """g (int32[N] x) => (int32[N] y) {
        e = Constant<value_float = -1.0>()
        y = Pow(x, e)
    }"""
    compare(parsed(text), [np.array([2, 1, -1], "int32")])


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


@pytest.mark.parametrize("op_type", ["GridSample", "DeformConv"])
def test_infinite_cells_do_not_reach_places_beyond_the_image(op_type):
    x = normal(1, 1, 3, 4)
    x[0, 0, [0, -1], [0, -1]] = NAN, INF
    beyond = np.array([[-9, -9], [9, 9], [-9, 0], [NAN, 0]], "float32")
    if op_type == "GridSample":
        values = [x, beyond[None, None]]
        model = one_node(op_type, values, version=20)
        compare(one_node(op_type, [x, values[1][:, :, :3]], version=20), [x, values[1][:, :, :3]])
    else:
        values = [x, normal(1, 1, 1, 1), np.tile(beyond.T[None, :, None], (1, 1, 3, 1))]
        model = one_node(op_type, values, version=22)
    (out,) = in_pytensor(model, values)
    np.testing.assert_array_equal(out, np.zeros_like(out))


@pytest.mark.parametrize("ratio", [0, 2])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_roi_align_of_no_regions(mode, ratio):
    values = [normal(1, 2, 5, 6), normal(0, 4), np.zeros(0, "int64")]
    how = {"mode": mode, "output_height": 2, "output_width": 3, "sampling_ratio": ratio}
    compare(one_node("RoiAlign", values, **how), values)


def test_suppression_among_no_boxes():
    values = [normal(1, 0, 4), normal(1, 2, 0), np.array([3])]
    compare(one_node("NonMaxSuppression", values, types=["int64"]), values)


def test_quantization_of_nothing():
    values = [np.zeros(0, "float32")]
    types = ["uint8", "float32", "uint8"]
    compare(one_node("DynamicQuantizeLinear", values, 3, types=types), values)


X = normal(1, 4, 6, 6)
BYTES, ZERO, TWO_ZEROS = np.ones((2, 2), "uint8"), np.uint8(0), np.zeros(2, "uint8")
ONE, TWO = np.float32(1), np.ones(2, "float32")
SENSELESS = {
    "kernel_shape": ("AveragePool", [X], {"kernel_shape": [2]}),
    "kernel_shape of Lp": ("LpPool", [X], {"kernel_shape": [2]}),
    "sampling_ratio": ("RoiAlign", [X, X[0, 0, :, :4], np.zeros(6, int)], {"sampling_ratio": -1}),
    "center_point_box": (
        "NonMaxSuppression",
        [X[0, :1, :, :4], X[:, :2, 0], np.array([1])],
        {"center_point_box": 2},
    ),
    "num_outputs": ("Split", [X], {"num_outputs": 2}),
    "axis is the last one": ("DFT", [X[0, :, :, :2]], {"axis": -1, "version": 17}),
    "inverse one-sided": (
        "DFT",
        [X[..., :1]],
        {"axis": 1, "inverse": 1, "onesided": 1, "version": 17},
    ),
    "output has scales": (
        "QLinearMatMul",
        [BYTES, ONE, ZERO, BYTES, ONE, ZERO, TWO, TWO_ZEROS],
        {},
    ),
}


@pytest.mark.parametrize("case", SENSELESS)
def test_attributes_that_make_no_sense_are_refused(case):
    op_type, values, attributes = SENSELESS[case]
    with pytest.raises(ImportedOpError, match=case.removesuffix(" of Lp")):
        from_onnx(one_node(op_type, values, **attributes))


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ("n = Constant<value_ints = [-1, 6]>() y, z = Split(x, n)", "negative length"),
        ("n = Constant<value_ints = [2, 2, 1]>() y, z = Split(x, n)", "3 lengths of parts, and 2"),
        ("n = Constant<value_ints = [1, 1]>() y = Unsqueeze(x, n) z = Abs(y)", "names one twice"),
        ("n = Constant<value_ints = [-2, 5]>() y = Reshape(x, n) z = Abs(y)", "has -2"),
        ("n = Constant<value_ints = [2, -1]>() y = Expand(x, n) z = Abs(y)", "has -1"),
        ("n = Constant<value_int = 0>() s = SplitToSequence(x, n) y = Abs(x) z = Abs(x)", "split"),
        ("n = Constant<value_float = 0.0>() y = Range(n, n, n) z = Abs(y)", "delta is 0"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(nodes, match):
    with pytest.raises(ImportedOpError, match=match):
        from_onnx(parsed(f"g (float[5] x) => (float[a] y, float[b] z) {{ {nodes} }}", opset=18))


def test_resize_has_scales_or_sizes():
    text = """g (float[1, 1, 2, 2] x) => (float[1, 1, 4, 4] y) {
        s = Constant<value_floats = [1.0, 1.0, 2.0, 2.0]>()
        n = Constant<value_ints: ints = SIZES>()
        y = Resize(x, , s, n)
    }"""
    for sizes in ("[]", "[1, 1, 3, 3]"):  # onnxruntime refuses both
        with pytest.raises(ImportedOpError, match="it has scales and sizes"):
            from_onnx(parsed(text.replace("SIZES", sizes)))


def test_iou_threshold_is_from_0_to_1():
    text = """g (float[1, 5, 4] boxes, float[1, 2, 5] scores) => (int64[N, 3] y) {
        n = Constant<value_int = 3>()
        limit = Constant<value_float = 1.5>()
        y = NonMaxSuppression(boxes, scores, n, limit)
    }"""
    with pytest.raises(ImportedOpError, match=r"iou_threshold is 1\.5"):
        from_onnx(parsed(text))


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
