"""Refuse inputs that don't fit, with the reason; NumPy would repeat, cut or wrap some."""

import numpy as np
import pytest
from onnx import defs, numpy_helper

import pytensor.tensor as pt
from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing.registry import MICROSOFT, ML
from tests.link.onnx.importing.with_onnxruntime import (
    compare,
    in_pytensor,
    normal,
    one_node,
    parsed,
)


def zeros(*shape):
    return np.zeros(shape, "int64")


def lengths(*values):
    return np.array(values, "int64")


X, CUBE = normal(3, 4), normal(2, 3, 4)
SCALE, ZERO, BYTES = np.array(0.5, "float32"), np.array(3, "uint8"), np.ones((1, 2), "uint8")
PLACES = zeros(1, 1, 2, 2)
IMAGE, SQUARE = normal(1, 4, 6, 6), normal(2, 2)
QUERY = normal(1, 1, 2, 4)
# What the error says; an operator, its inputs and its attributes
MISFITS = {
    "'X' is of dtype int32; it takes": ("Not", [np.zeros(2, "int32")], {}),
    "neither scales nor sizes": ("Resize", [IMAGE], {}),
    "no input 'B', which it must have": ("MatMul", [SQUARE], {}),
    "no attribute 'to', which it must have": ("Cast", [SQUARE], {}),
    "it has 2 inputs, and takes 1 at most": ("Relu", [SQUARE, SQUARE], {}),
    "dtypes float32 and float16": ("Add", [SQUARE, SQUARE.astype("float16")], {}),
    "axis 3, .* has 3 axes": ("MeanVarianceNormalization", [CUBE], {}),
    "Output character ,": ("Einsum", [SQUARE], {"equation": "ij->i,j"}),
    "its mode is 'other'; there are '": (
        "DepthToSpace",
        [IMAGE],
        {"blocksize": 2, "mode": "other"},
    ),
    "its approximate is 'other'; there are '": ("Gelu", [X], {"approximate": "other"}),
    "its auto_pad is 'SAME'; there are 'NOTSET'": ("Conv", [IMAGE, IMAGE], {"auto_pad": "SAME"}),
    "only one of past_key and past_value": (
        "Attention",
        [QUERY, QUERY, QUERY, None, QUERY],
        {"version": 23, "domain": ""},
    ),
    "qk_matmul_output_mode is -1; there are 0 to 3": (
        "Attention",
        [QUERY, QUERY, QUERY],
        {"version": 23, "domain": "", "qk_matmul_output_mode": -1},
    ),
    "one-sided transform of complex numbers": (
        "DFT",
        [normal(3, 8, 2)],
        {"onesided": 1, "version": 17},
    ),
    "kernel_shape": ("AveragePool", [IMAGE], {"kernel_shape": [2]}),
    "sampling_ratio": ("RoiAlign", [IMAGE, X, zeros(3)], {"sampling_ratio": -1}),
    "center_point_box": (
        "NonMaxSuppression",
        [IMAGE[0, :1, :, :4], IMAGE[:, :2, 0], lengths(1)],
        {"center_point_box": 2},
    ),
    "num_outputs": ("Split", [X], {"num_outputs": 2}),
    "axis is the last one": ("DFT", [IMAGE[0, :, :, :2]], {"axis": -1, "version": 17}),
    "inverse one-sided": (
        "DFT",
        [IMAGE[..., :1]],
        {"axis": 1, "inverse": 1, "onesided": 1, "version": 17},
    ),
    "output has scales": (
        "QLinearMatMul",
        [BYTES.T, SCALE, ZERO, BYTES, SCALE, ZERO, np.ones(2, "float32"), np.zeros(2, "uint8")],
        {},
    ),
    "FLOAT8E4M3FN": ("QuantizeLinear", [X, SCALE], {"output_dtype": 17}),
    "indices have 2 axes": ("GatherElements", [CUBE, zeros(2, 3)], {}),
    "indices have 2 axes, and": ("ScatterElements", [CUBE, zeros(2, 3), normal(2, 3)], {}),
    r"updates are of the shape \(1, 3\)": (
        "ScatterElements",
        [X, zeros(2, 3), normal(1, 3)],
        {},
    ),
    r"updates are of the shape \(1,\)": ("ScatterElements", [X, zeros(2, 3), normal(1)], {}),
    r"updates are of the shape \(2, 1\)": (
        "ScatterND",
        [X, lengths([0], [1]), normal(2, 1)],
        {"version": 18},
    ),
    "batch_dims is -1": ("GatherND", [CUBE, zeros(2, 2, 1)], {"batch_dims": -1}),
    "first 1 must be equal": ("GatherND", [CUBE, zeros(1, 2, 1)], {"batch_dims": 1}),
    "tuples of 3": ("GatherND", [X, zeros(3, 2, 3)], {}),
    "condition has 2 axes": ("Compress", [X, np.ones((2, 2), bool)], {"axis": 0}),
    r"sequence_lens are of the shape \(1,\)": ("ReverseSequence", [X, lengths(2)], {}),
    "axis is the first one": (
        "TensorScatter",
        [CUBE, CUBE, zeros(2)],
        {"version": 24, "axis": 0},
    ),
    r"updates are of the shape \(2, 1, 1\)": (
        "TensorScatter",
        [CUBE, normal(2, 1, 1), zeros(2)],
        {"version": 24},
    ),
    r"write_indices are of the shape \(1,\)": (
        "TensorScatter",
        [CUBE, normal(2, 1, 4), zeros(1)],
        {"version": 24},
    ),
    "rho has 1 entries": ("SVMClassifier", [normal(5, 2)], {"rho": [0.1]}),
    "prob_a has 1 entries": (
        "SVMClassifier",
        [normal(5, 2)],
        {"rho": [0.1, 0.2, 0.3], "prob_a": [1.0], "prob_b": [0.0]},
    ),
    "10 columns": ("Attention", [normal(1, 2, 5), normal(5, 10)], {"num_heads": 1}),
    "13 columns": (
        "Attention",
        [normal(1, 2, 5), normal(5, 13)],
        {"num_heads": 2, "qkv_hidden_sizes": [4, 4, 4]},
    ),
    "bias has 9 entries": ("MultiHeadAttention", [CUBE] * 3 + [normal(9)], {"num_heads": 2}),
    "no num_heads": (
        "RotaryEmbedding",
        [normal(1, 2, 16), zeros(1), normal(9, 2), normal(9, 2)],
        {"rotary_embedding_dim": 4},
    ),
    "each part has three": ("QLinearConcat", [SCALE, ZERO, BYTES, SCALE], {"axis": 1}),
}
DOMAINS = {"SVMClassifier": ML, "Attention": MICROSOFT, "MultiHeadAttention": MICROSOFT}
DOMAINS |= {"RotaryEmbedding": MICROSOFT, "QLinearConcat": MICROSOFT}
SVM = {
    "classlabels_ints": [4, 5, 6], "coefficients": [1.0, -1.0, 0.5, 2.0, 0.3, -0.4],
    "kernel_params": [0.5, 0.1, 2.0], "kernel_type": "LINEAR", "vectors_per_class": [1, 1, 1],
    "support_vectors": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "types": ["int64", "float32"],
    "n_outputs": 2,
}  # fmt: skip


@pytest.mark.parametrize("case", MISFITS)
def test_inputs_that_do_not_fit_are_refused(case):
    op_type, values, attributes = MISFITS[case]
    attributes = (SVM if op_type == "SVMClassifier" else {}) | attributes
    model = one_node(op_type, values, **{"domain": DOMAINS.get(op_type, ""), **attributes})
    with pytest.raises(ImportedOpError, match=case):
        from_onnx(model)


WITH_CONSTANT = {
    "Gather": np.array([1]),
    "LayerNormalization": np.ones(2, "float32"),
    "TopK": np.array([1]),
}


@pytest.mark.parametrize(
    "op_type",
    [
        *WITH_CONSTANT,
        *("ArgMax", "Concat", "Flatten", "Hardmax", "LogSoftmax", "LpNormalization"),
        *("Softmax", "Split"),
    ],
)
def test_axes_that_an_input_lacks(op_type):
    values = [SQUARE, *([WITH_CONSTANT[op_type]] if op_type in WITH_CONSTANT else [])]
    for axis in (3 if op_type == "Flatten" else 2, -3):
        model = one_node(op_type, values, 1 + (op_type == "Split"), version=17, axis=axis)
        with pytest.raises(ImportedOpError, match=rf"axis {axis}, and its input has 2 axes"):
            from_onnx(model)


SCAN = """(float[3, 2] x, float[2] s) => (f, y)
    { f, y = Scan<%s, body = b (float[2] a, float[2] e) => (float[2] o, float[2] z)
        { o = Add(a, e) z = Identity(o) }>(s, x) }"""
# What the error says, and a model in ONNX's text form
TEXTS = {
    "6 pads for 2 axes": """(float[3, 4] x) => (y) <int64[6] n = {1, 0, 0, 1, 0, 0}>
        { y = Pad(x, n) }""",
    "Pad: .* names an axis twice": """(float[3, 4] x) => (y)
        <int64[4] n = {1, 2, 0, 0}, int64[2] a = {0, -2}>
        { y = Pad(x, n, , a) }""",
    "Slice: .* names an axis twice": """(float[3, 4] x) => (y)
        <int64[2] n = {0, 1}, int64[2] e = {3, 3}, int64[2] a = {1, -1}>
        { y = Slice(x, n, e, a) }""",
    "its mode is 'other'; there are '": """(float[2] x) => (y) <int64[2] n = {1, 1}>
        { y = Pad<mode = "other">(x, n) }""",
    "SplitToSequence: .* negative length": """(float[3, 4] x) => (y) <int64[2] n = {-1, 4}>
        { s = SplitToSequence(x, n) y = ConcatFromSequence<axis = 0>(s) }""",
    "the sequence is of float32, and the element int64": """(float[3, 4] x) => (y)
        { i = Cast<to = 7>(x) s = SequenceConstruct(x) q = SequenceInsert(s, i)
          y = ConcatFromSequence<axis = 0>(q) }""",
    "Split: .* negative length":
        "(float[5] x) => (y, z) <int64[2] n = {-1, 6}> { y, z = Split(x, n) }",
    "3 lengths of parts, and 2":
        "(float[5] x) => (y, z) <int64[3] n = {2, 2, 1}> { y, z = Split(x, n) }",
    "names one twice": "(float[5] x) => (y) <int64[2] n = {1, 1}> { y = Unsqueeze(x, n) }",
    "has -2": "(float[5] x) => (y) <int64[2] n = {-2, 5}> { y = Reshape(x, n) }",
    "has -1": "(float[5] x) => (y) <int64[2] n = {2, -1}> { y = Expand(x, n) }",
    "-1 more than once": "(float[4] x) => (y) <int64[2] s = {-1, -1}> { y = Reshape(x, s) }",
    "split": """(float[5] x) => (float y) <int64 n = {0}>
        { s = SplitToSequence(x, n) k = SequenceLength(s) y = Cast<to = 1>(k) }""",
    "delta is 0": "() => (float[N] y) <float n = {0}> { y = Range(n, n, n) }",
    "it has scales and sizes": """(float[1, 1, 2, 2] x) => (y)
        <float[4] s = {1, 1, 2, 2}, int64[4] n = {1, 1, 3, 3}> { y = Resize(x, , s, n) }""",
    "it has scales and sizes, of which": """(float[1, 1, 2, 2] x) => (y) <float[4] s = {1, 1, 2, 2}>
        { n = Constant<value_ints: ints = []>() y = Resize(x, , s, n) }""",
    r"iou_threshold is 1\.5": """(float[1, 5, 4] boxes, float[1, 2, 5] scores) => (int64[N, 3] y)
        <int64 n = {3}, float limit = {1.5}> { y = NonMaxSuppression(boxes, scores, n, limit) }""",
    "which axes it reduces over is computed when the model runs":
        "(float[4, 4] x, int64[1] axes) => (y) { y = ReduceMax(x, axes) }",
    "which axes are of length 1 is known only when the model runs":
        "(float[M, N] x) => (y) { z = Squeeze(x) y = ReduceSum<keepdims = 0>(z) }",
    "how many entries its shape has is known only when the model runs":
        "(float[4] x, int64[N] s) => (y) { r = Reshape(x, s) y = ReduceSum<keepdims = 0>(r) }",
    "PyTensor has no operation that reads the bits":
        "(float[4] x) => (int32[4] y) { y = BitCast<to = 6>(x) }",
    "positions of its maxima need the lengths of": """(float[1, 1, N] x) => (y)
        { y, i = MaxPool<auto_pad = "SAME_UPPER", strides = [2], kernel_shape = [3]>(x) }""",
    "8192 is the longest": "(float[3, 10000, 1] x) => (y) { y = DFT(x) }",
    "make the factor a whole number":
        "(int32[2, 2] x) => (int32[2, 2] y) { y = Gemm<alpha = 0.5>(x, x) }",
    "drops at random": """(float[4] x) => (y) <float half = {0.5}, bool yes = {1}>
        { y = Dropout(x, half, yes) }""",
    "has no strings; do this before the model": "(float[2] x) => (y) { y = StringNormalizer(x) }",
    "it compares two texts": "(string[1] s, string[1] t) => (bool[1] y) { y = Equal(s, t) }",
    "it computes with text": "(string[1] s) => (float[1] y) { y = Cast<to = 1>(s) }",
    "num_scan_inputs is 0": SCAN % "num_scan_inputs = 0",
    "num_scan_inputs is 3": SCAN % "num_scan_inputs = 3",
    r"directions are \[2\]": SCAN % "num_scan_inputs = 1, scan_input_directions: ints = [2]",
    r"and \[-1\]": SCAN % "num_scan_inputs = 1, scan_output_directions: ints = [-1]",
    "Scan: its body has 2 inputs, and is given 1": """(float[3] x) => (y)
        { y = Scan<num_scan_inputs = 1,
            body = b (float a, float c) => (d) { d = Add(a, c) }>(x) }""",
    "Loop: its body has 2 inputs, and is given 3": """(float[3] x) => (y) <int64 n = {3}>
        { y = Loop(n, , x)
            <body = b (int64 i, bool g) => (h, z) { h = Identity(g) z = Neg(x) }> }""",
    "Loop: its body has 1 outputs, and needs at least 2": """(float[3] x) => (y) <int64 n = {3}>
        { y = Loop(n, , x)
            <body = b (int64 i, bool g, float[3] v) => (h) { h = Identity(g) }> }""",
    "If: its branches return 2 and 1 values": """(float[3] x, bool flag) => (y)
        { y = If(flag) <then_branch = t () => (a, b) { a = Neg(x) b = Exp(x) },
            else_branch = e () => (c) { c = Neg(x) }> }""",
    "If: its body has 1 inputs, and is given 0": """(float[3] x, bool flag) => (y)
        { y = If(flag) <then_branch = t (float[3] a) => (b) { b = Neg(a) },
            else_branch = e () => (c) { c = Neg(x) }> }""",
    "different dtypes: float32 and bool": """(float[3] x, bool flag) => (y)
        { y = If(flag) <then_branch = t () => (float[3] a) { a = Neg(x) },
            else_branch = e () => (bool[3] b) { b = Equal(x, x) }> }""",
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_models_that_do_not_fit_are_refused(case):
    with pytest.raises(ImportedOpError, match=case):
        from_onnx(parsed(TEXTS[case], defs.onnx_opset_version()))


@pytest.mark.parametrize("shape", [[1, 2, 4, 4], [4, 4]])
def test_output_shape_of_unpooling(shape):
    model = one_node("MaxUnpool", [normal(1, 1, 2, 2), PLACES], kernel_shape=[2, 2], strides=[2, 2])
    model.graph.node[0].input.append("shape")
    model.graph.initializer.append(numpy_helper.from_array(np.array(shape), "shape"))
    with pytest.raises(ImportedOpError, match="output_shape has 2"):
        from_onnx(model)


@pytest.mark.parametrize("kernel_type", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_regression_without_support_vectors_is_linear(kernel_type):
    how = {"coefficients": [0.5, -1.0], "kernel_params": [0.5, 0.1, 2.0], "rho": [0.2]}
    values = [normal(3, 2)]
    compare(one_node("SVMRegressor", values, domain=ML, kernel_type=kernel_type, **how), values)


def test_both_branches_make_no_optional_value():
    none = "=> (optional(float[2]) a) { a = Optional<type: type_proto = float[2]>() }"
    model = parsed(f"""(bool c) => (bool y)
        {{ o = If(c) <then_branch = t () {none}, else_branch = e () {none}>
           y = OptionalHasElement(o) }}""", 18)
    assert compare(model, [np.array(True)]) == [False]


def test_certain_events_happen():
    """In float16, one drawn number in 4,000 was 1, which isn't less than the probability 1."""
    ones = np.ones(50_000, "float16")
    (happened,) = in_pytensor(one_node("Bernoulli", [ones], seed=1.0), [ones])
    assert happened.all()


def test_drawn_classes_are_those_that_there_are():
    """Sums of 1,000 probabilities in float16 end below 1: the rest fell to a class number 1,000."""
    values = [np.zeros((10, 1000), "float16")]
    model = one_node("Multinomial", values, types=["int32"], sample_size=400, seed=1.0)
    (drawn,) = in_pytensor(model, values)
    assert drawn.min() >= 0
    assert drawn.max() < 1000


def test_a_known_length_is_one_of_those_of_a_name():
    text = "g (float[N, 3] a, float[N, 3] b) => (float[M, 3] y) { y = Concat<axis = 0>(a, b) }"
    a = pt.tensor("a", dtype="float32", shape=(5, 3))
    imported = from_onnx(parsed(text), {"a": a})
    (y,) = imported.outputs.values()
    values = {a: normal(5, 3), imported.inputs["b"]: normal(2, 3)}
    with pytest.raises(AssertionError, match="expected"):
        y.eval(values, mode="FAST_COMPILE")
