"""Inputs and attributes that don't fit one another: NumPy would repeat, cut or wrap them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

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
MISFITS = {
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
    model = one_node(op_type, values, domain=DOMAINS.get(op_type, ""), **attributes)
    with pytest.raises(ImportedOpError, match=case):
        from_onnx(model)


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ("n = Constant<value_ints = [1, 0, 0, 1, 0, 0]>() y = Pad(x, n)", "6 pads for 2 axes"),
        (
            "n = Constant<value_ints = [1, 2, 0, 0]>() a = Constant<value_ints = [0, -2]>()"
            "y = Pad(x, n, , a)",
            "names an axis twice",
        ),
        (
            "n = Constant<value_ints = [0, 1]>() e = Constant<value_ints = [3, 3]>()"
            "a = Constant<value_ints = [1, -1]>() y = Slice(x, n, e, a)",
            "names an axis twice",
        ),
        (
            "n = Constant<value_ints = [-1, 4]>() s = SplitToSequence(x, n)"
            "y = ConcatFromSequence<axis = 0>(s)",
            "negative length",
        ),
        (
            "i = Cast<to = 7>(x) s = SequenceConstruct(x) q = SequenceInsert(s, i)"
            "y = ConcatFromSequence<axis = 0>(q)",
            "the sequence is of float32, and the element int64",
        ),
    ],
)
def test_lists_that_do_not_fit_are_refused(nodes, match):
    with pytest.raises(ImportedOpError, match=match):
        from_onnx(parsed(f"g (float[3, 4] x) => (float[a, b] y) {{ {nodes} }}", opset=18))


@pytest.mark.parametrize(
    ("attributes", "match"),
    [
        ("num_scan_inputs = 0", "num_scan_inputs is 0"),
        ("num_scan_inputs = 3", "num_scan_inputs is 3"),
        ("num_scan_inputs = 1, scan_input_directions: ints = [2]", r"directions are \[2\]"),
        ("num_scan_inputs = 1, scan_output_directions: ints = [-1]", r"and \[-1\]"),
    ],
)
def test_scans_that_make_no_sense(attributes, match):
    text = f"""g (float[3, 2] x, float[2] s) => (float[2] f, float[K, 2] y) {{
        f, y = Scan<{attributes},
            body = b (float[2] a, float[2] e) => (float[2] o, float[2] z)
                {{ o = Add(a, e) z = Identity(o) }}
        >(s, x)
    }}"""
    with pytest.raises(ImportedOpError, match=match):
        from_onnx(parsed(text))


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
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    branches = {}
    for name in ("then_branch", "else_branch"):
        nodes = [helper.make_node("Optional", [], [name], type=tensor)]
        made = helper.make_value_info(name, helper.make_optional_type_proto(tensor))
        branches[name] = helper.make_graph(nodes, name, [], [made])
    nodes = [
        helper.make_node("If", ["c"], ["o"], **branches),
        helper.make_node("OptionalHasElement", ["o"], ["y"]),
    ]
    infos = [helper.make_tensor_value_info(name, TensorProto.BOOL, []) for name in "cy"]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    opsets = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
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
