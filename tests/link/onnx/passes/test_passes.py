from contextlib import suppress
from itertools import product

import ml_dtypes
import numpy as np
import pytest

import pytensor.tensor as pt
from docs.tools import onnx_support as support
from pytensor.compile.mode import Mode
from pytensor.link.onnx import ONNXLinker, UnsupportedOpError
from pytensor.link.onnx.ir import Graph, Node, Value, attributes_key
from pytensor.link.onnx.lowering import lowering
from pytensor.link.onnx.passes import (
    LOOKS_FOR,
    PASSES,
    cancel_inverses,
    fold_batch_norm,
    fold_constants,
    fold_conv_scale,
    merge_common_subexpressions,
    run_pass,
    run_passes,
    sink_into_branches,
    slices_to_split,
)
from tests.catalogue.ops import examples
from tests.link.onnx.test_basic import compare_onnx_and_py
from tests.utils import compare_mode_and_py


def make_graph(nodes, outputs, initializers=None, shapes=None, **kwargs):
    """Build a graph with input ``x`` of (op type, inputs, outputs[, attributes]) tuples."""
    graph = Graph(**kwargs)
    graph.inputs = ["x"]
    graph.outputs = outputs
    for name in ("x", *outputs):
        graph.fresh_name(name)
    for name, array in (initializers or {}).items():
        graph.add_initializer(name, np.asarray(array))
    for op_type, inputs, results, *attributes in nodes:
        node = Node(op_type, inputs.split(), results.split(), *attributes)
        node.name = results
        graph.nodes.append(node)
    for name, shape in (shapes or {}).items():
        graph.values[name] = Value("float32", shape)
    return graph


def give_bodies(graph, **nodes):
    """Give the last node bodies of one node (op type, inputs) each."""
    for key, (op_type, inputs) in nodes.items():
        body = graph.child()
        body.nodes, body.outputs = [Node(op_type, inputs.split(), [f"{key}_y"])], [f"{key}_y"]
        graph.nodes[-1].attributes[key] = body


def listing(graph):
    return [(n.op_type, " ".join(n.inputs), " ".join(n.outputs)) for n in graph.nodes]


CONV = {"group": 1}


def conv_graph(follower, initializers):
    return make_graph(
        [("Conv", "x w", "c", dict(CONV)), follower, ("Relu", "d", "y")],
        ["y"],
        {"w": np.arange(12, dtype="float32").reshape(3, 4, 1, 1), **initializers},
        dict.fromkeys(("c", "d"), ("N", 3, 5, 6)),
    )


def example(name):
    """Return a graph on which the pass of this name has something to do."""
    if name == "fold_constants":
        return make_graph(
            [("Transpose", "w", "t", {"perm": [1, 0]}), ("MatMul", "x t", "y")],
            ["y"],
            {"w": np.arange(6.0).reshape(2, 3)},
        )
    if name == "cancel_inverses":
        return make_graph(
            [
                ("Transpose", "x", "a", {"perm": [1, 0, 2]}),
                ("Identity", "a", "b"),
                ("Transpose", "b", "c", {"perm": [1, 0, 2]}),
                ("Relu", "c", "y"),
            ],
            ["y"],
        )
    if name == "merge_common_subexpressions":
        return make_graph(
            [("Add", "x one", "a"), ("Add", "x uno", "b"), ("Mul", "a b", "y")],
            ["y"],
            {"one": np.float32(1), "uno": np.float32(1)},
        )
    if name == "fold_batch_norm":
        vectors = {n: np.float32([1, 2, 4]) for n in ("gamma", "beta", "mean", "variance")}
        follower = ("BatchNormalization", "c gamma beta mean variance", "d", {"epsilon": 0.0})
        return conv_graph(follower, vectors)
    if name == "fold_conv_scale":
        return conv_graph(("Mul", "s c", "d"), {"s": np.float32([[[2]], [[3]], [[4]]])})
    if name == "fold_conv_offset":
        return conv_graph(("Add", "c o", "d"), {"o": np.float32(7)})
    if name == "slices_to_split":
        return make_graph(
            [
                ("Slice", "x two end axis one", "b"),
                ("Slice", "x zero two axis one", "a"),
                ("Add", "a b", "y"),
            ],
            ["y"],
            {"zero": [0], "two": [2], "end": [2**62], "axis": [1], "one": [1]},
            {"x": ("N", 4)},
        )
    if name == "sink_into_branches":
        graph = make_graph([("Exp", "x", "e"), ("If", "x", "y")], ["y"])
        give_bodies(graph, then_branch=("Relu", "e"), else_branch=("Relu", "x"))
        return graph
    if name == "keep_double_scales":
        return make_graph([("Mul", "x c", "a"), ("MatMul", "a x", "y")], ["y"], {"c": 0.6})
    assert name == "remove_unused"
    return make_graph([("Relu", "x", "y"), ("Exp", "x", "z")], ["y"], {"w": np.float32(1)})


@pytest.mark.parametrize("apply", PASSES, ids=lambda p: p.__name__)
def test_passes_are_idempotent(apply):
    graph = example(apply.__name__)
    assert run_pass(apply, graph)
    once = listing(graph)
    assert not run_pass(apply, graph)
    assert listing(graph) == once


def test_fold_constants_leaves_large_results():
    graph = make_graph([("Expand", "w", "e"), ("Add", "x e", "y")], ["y"], {"w": np.float32(1)})
    graph.nodes[0].inputs.append(graph.add_initializer("shape", np.array([100, 100])))
    assert not fold_constants(graph)


INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64", ml_dtypes.bfloat16)]


def extremes(dtype):
    """Return values of a dtype that are the first lost in one with fewer digits or less range."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype)
    info = ml_dtypes.finfo(dtype)
    ends = [info.max, info.min, info.tiny, info.smallest_subnormal, 1 + info.eps, -0.0]
    return np.array([*map(float, ends), np.inf, -np.inf, np.nan], dtype)


@pytest.mark.parametrize("back", [np.dtype(bool), *INTEGERS, *FLOATS], ids=str)
def test_casts_cancel_only_without_loss(back):
    for there in (np.dtype(bool), *INTEGERS, *FLOATS):
        values = extremes(back)
        with np.errstate(all="ignore"):
            arrived = values.astype(there)
            returned = arrived.astype(back)
        # A negative integer that is wrapped round twice returns, but isn't held.
        held = [a == v or v != v for a, v in zip(arrived.tolist(), values.tolist(), strict=True)]
        lossless = all(held) and returned.tobytes() == values.tobytes()
        graph = make_graph(
            [
                ("Cast", "x", "a", {"to": there}),
                ("Cast", "a", "b", {"to": back}),
                ("Neg", "b", "y"),
            ],
            ["y"],
        )
        graph.values["x"] = Value(back.name, ("N",))
        run_passes(graph)
        removed = [n.op_type for n in graph.nodes] == ["Neg"]
        assert removed <= lossless, there
        if ml_dtypes.bfloat16 not in (there, back):  # which PyTensor doesn't have
            assert removed == lossless, there


def test_integers_with_more_digits_than_float64_are_rounded_by_it():
    x = pt.vector("x", dtype="int64")
    y = pt.neg(x.astype("float64").astype("int64"))
    compare_onnx_and_py([x], [y], [[2**53 + 1, 2**62 + 1, -(2**53) - 1]])


def snapshot(graph):
    """Return all that a pass may change."""
    nodes = []
    for node in graph.nodes:
        bodies = [snapshot(body) for body in node.subgraphs]
        nodes.append((node.op_type, *node.inputs, 0, *node.outputs, attributes_key(node), bodies))
    arrays = {name: array.tobytes() for name, array in graph.initializers.items()}
    return nodes, list(graph.outputs), arrays if graph.parent is None else None


def watched(apply):
    def apply_and_compare(graph):
        before, operators = snapshot(graph), {node.op_type for node in graph.all_nodes()}
        changed = apply(graph)
        assert changed == (snapshot(graph) != before), f"{apply.__name__} returned {changed}"
        assert not changed or LOOKS_FOR.get(apply, "") in {"", *operators}
        return changed

    return apply_and_compare


@pytest.mark.parametrize("above", ["Transpose", "Reshape", "Unsqueeze", "Squeeze"])
def test_merging_is_reported(above):
    # verify asks each pass whether it changed anything, to find the one that went wrong
    if above == "Transpose":
        nodes = [
            ("Transpose", "x", "a", {"perm": [1, 2, 0]}),
            ("Transpose", "a", "y", {"perm": [0, 2, 1]}),
        ]
    else:
        nodes = [(above, "x other", "a"), ("Reshape", "a shape", "y")]
    graph = make_graph(nodes, ["y"], {"other": [0], "shape": [-1, 6]})
    assert watched(cancel_inverses)(graph)
    assert graph.nodes[1].inputs[0] == "x"


def test_a_node_of_another_domain_is_not_what_its_name_says():
    for op_type, second in product(("Transpose", "Cast"), repeat=2):
        attributes = {"Transpose": {"perm": [1, 0]}, "Cast": {"to": np.dtype("float64")}}
        graph = make_graph(
            [(op_type, "x", "a", attributes[op_type]), (second, "a", "y", attributes[second])],
            ["y"],
        )
        graph.values["x"] = Value("float64", ("N", "M"))
        graph.nodes[0].domain = "elsewhere"
        assert not cancel_inverses(graph)


@pytest.mark.slow
def test_passes_report_what_they_change(monkeypatch):
    monkeypatch.setattr(lowering, "PASSES", [watched(apply) for apply in PASSES])
    for example in list(examples())[::4]:
        found = support.attempt(example, "float32")
        if found is not None:
            inputs, outputs, *_ = found
            with suppress(UnsupportedOpError):
                support.export(inputs, outputs)


def test_outputs_keep_their_names():
    graph = make_graph([("Relu", "x", "a"), ("Identity", "a", "y")], ["y"])
    cancel_inverses(graph)
    assert listing(graph) == [("Relu", "x", "y")]
    # An input cannot be an output of another name, nor one value two outputs, as onnx_ir's pass
    # makes it: thoughts/upstream/onnx-ir-identity-of-an-output.md
    graph = make_graph([("Identity", "x", "y"), ("Identity", "y", "z")], ["y", "z"])
    assert not cancel_inverses(graph)


def test_merge_common_subexpressions():
    graph = example("merge_common_subexpressions")
    merge_common_subexpressions(graph)
    assert listing(graph) == [("Add", "x one", "a"), ("Mul", "a a", "y")]
    assert list(graph.initializers) == ["one"]


@pytest.mark.parametrize("op_type", ["Bernoulli", "Dropout", "RandomNormalLike"])
def test_nodes_that_draw_are_not_merged(op_type):
    graph = make_graph([(op_type, "x", "a"), (op_type, "x", "b"), ("Sub", "a b", "y")], ["y"])
    assert not merge_common_subexpressions(graph)


def test_equal_parameters_are_not_merged():
    graph = make_graph([("Mul", "x v", "a"), ("Mul", "a w", "y")], ["y"], {"v": 2.0, "w": 2.0})
    graph.parameters.update(("v", "w"))
    assert not merge_common_subexpressions(graph)


def test_sink_into_branches():
    """Nodes for one branch, but not those for both, or for an output."""
    nodes = [
        ("Abs", "x", "a"), ("Exp", "a", "one"), ("Cos", "x", "c"),
        ("RandomNormalLike", "c", "drawn"), ("Sin", "x", "other"), ("Neg", "x", "both"),
        ("Tanh", "x", "kept"), ("If", "x", "y"),
    ]  # fmt: skip
    graph = make_graph(nodes, ["y", "kept"])
    give_bodies(
        graph, then_branch=("Sum", "one both kept drawn"), else_branch=("Sum", "other both")
    )
    assert sink_into_branches(graph)
    assert [node.op_type for node in graph.nodes] == ["Neg", "Tanh", "If"]
    branches = graph.nodes[-1].attributes
    then = [node.op_type for node in branches["then_branch"].nodes]
    assert then == ["Abs", "Exp", "Cos", "RandomNormalLike", "Sum"]
    assert [node.op_type for node in branches["else_branch"].nodes] == ["Sin", "Sum"]
    assert not any(sink_into_branches(part) for part in (graph, *branches.values()))
    merge_common_subexpressions(graph)
    run_passes(graph)
    drawn = [node for node in graph.all_nodes() if node.op_type == "RandomNormalLike"]
    assert len(drawn) == 1


def test_nothing_sinks_into_a_loop():
    """Nor into a branch, what a loop reads as well."""
    graph = make_graph([("Exp", "x", "e"), ("Log", "x", "l"), ("Loop", "n", "z")], ["y", "z"])
    give_bodies(graph, body=("Sum", "e l"))
    graph.nodes.append(Node("If", ["x"], ["y"]))
    give_bodies(graph, then_branch=("Relu", "e"), else_branch=("Relu", "x"))
    assert not sink_into_branches(graph)
    assert [node.op_type for node in graph.nodes] == ["Exp", "Log", "Loop", "If"]


def test_fold_conv_scale():
    graph = example("fold_conv_scale")
    fold_conv_scale(graph)
    weights = graph.initializers[graph.nodes[0].inputs[1]]
    np.testing.assert_array_equal(weights[:, 1, 0, 0], [2, 15, 36])


@pytest.mark.parametrize(
    ("follower", "constant"),
    [
        (("Div", "s c", "d"), np.float32(2)),  # a constant divided by the convolution
        (("Mul", "s c", "d"), np.ones((5, 6), "float32")),  # not per channel
        (("Mul", "s c", "d"), np.ones((2, 3, 1, 1), "float32")),  # adds to the batch
    ],
)
def test_not_folded_into_convolution(follower, constant):
    graph = conv_graph(follower, {"s": constant})
    assert not fold_conv_scale(graph)


@pytest.mark.parametrize(
    ("op_type", "constant"), [("Div", 0.0), ("Div", 1e-40), ("Mul", np.inf), ("Mul", 1e38)]
)
def test_folding_makes_no_infinite_filters(op_type, constant):
    graph = conv_graph((op_type, "c s", "d"), {"s": np.float32(constant)})
    assert not fold_conv_scale(graph)
    graph = example("fold_batch_norm")
    graph.initializers[graph.nodes[1].inputs[1]][1] = np.nan if op_type == "Div" else np.inf
    assert not fold_batch_norm(graph)


def test_filters_used_twice_are_copied():
    graph = example("fold_conv_scale")
    graph.nodes.append(Node("Conv", ["x", "w"], ["z"], dict(CONV)))
    graph.outputs.append("z")
    run_passes(graph)
    np.testing.assert_array_equal(
        graph.initializers["w"], np.arange(12, dtype="float32").reshape(3, 4, 1, 1)
    )


def test_what_cannot_be_computed_is_left_to_the_runtime():
    initializers = {"w": np.arange(6.0), "i": np.array(6), "s": np.array([4, 2])}
    nodes = [("Gather", "w i", "a"), ("Reshape", "w s", "b"), ("Add", "w s", "c")]
    graph = make_graph([*nodes, ("Sum", "a b c x", "y")], ["y"], initializers)
    assert not fold_constants(graph)


def test_default_axes():
    nodes = [
        ("Transpose", "x", "a"),
        ("Transpose", "a", "b", {"perm": [1, 0]}),
        ("Transpose", "b", "c"),
        ("Squeeze", "c", "d"),
        ("Unsqueeze", "d axes", "e"),
        ("Squeeze", "e", "y"),
    ]
    graph = make_graph(nodes, ["y"], {"axes": np.array([0])})
    assert not cancel_inverses(graph)
    assert len(graph.nodes) == len(nodes)


@pytest.mark.parametrize("shape", [("N", 5), ("N", "M")])
def test_slices_that_leave_a_rest_stay(shape):
    graph = example("slices_to_split")
    graph.values["x"] = Value("float32", shape)
    graph.initializers["end"] = np.array([4])
    assert not slices_to_split(graph)


@pytest.mark.parametrize("optimize", [True, False])
def test_expansion_to_nothing(optimize):
    x = pt.tensor("x", shape=(1, 3), dtype="float32")
    outputs = [pt.alloc(x, 2, 0, 3), pt.alloc(x, 0, 3)]
    compare_onnx_and_py([x], outputs, [[[1, 2, 3]]], optimize=optimize)


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize(
    "product",
    [
        lambda x, w: (0.6 * x) @ w,
        lambda x, w: (x @ w) * 1e-5,
        lambda x, w: x @ (w / 3.0),
        lambda x, w: (2.0 * (0.1 * x).T).T @ w,
        lambda x, w: 0.7 * (4.0 * (x @ w)),
        lambda x, w: (x * pt.constant(1e300, dtype="float64")) @ (w * 1e-300),
        lambda x, w: (0.6 * x) @ (0.3 * w) * 0.1,
    ],
)
def test_scales_of_products_stay_in_double_precision(product, optimize):
    x, w = pt.dmatrices("x", "w")
    values = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    linker = ONNXLinker(optimize=optimize)
    # With no rewrite of PyTensor's, each scale stays where it is.
    mode = Mode(linker, "merge")
    compare_mode_and_py(mode, [x, w], product(x, w), values, rtol=1e-14, atol=0)
