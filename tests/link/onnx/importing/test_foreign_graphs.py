"""Loops, branches, broadcasting and text of strangers' files, as in onnxruntime."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.compile.mode import Mode
from pytensor.graph.traversal import toposort
from pytensor.link.onnx import ImportedModelError, ImportedOpError, export_onnx, from_onnx
from pytensor.link.onnx.importing.registry import ML
from pytensor.scan.op import Scan
from pytensor.tensor.broadcasting import BroadcastAs
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_onnxruntime,
    in_pytensor,
    one_node,
    ones,
    parsed,
)

# ------------------------------------------------------------------------------ loops


def loop(name, first, read, nodes=""):
    """Write a loop of three trips that adds what it reads from outside to what it carries."""
    return f"""{name} = Loop(three, , {first})
        <body = b_{name} (int64 i_{name}, bool c_{name}, float[2] v_{name}) => (d_{name}, w_{name})
        {{ d_{name} = Identity(c_{name}) {nodes} w_{name} = Add(v_{name}, {read}) }}>"""


def loops(nodes):
    return parsed(f"(float[2] x) => (float[2] y) <int64 three = {{3}}> {{ {nodes} }}")


def scans_of(y):
    return [n for n in toposort([y]) if isinstance(n.op, Scan)]


def test_what_a_loop_reads_from_outside_is_computed_once():
    chain = loop("a", "z", "x") + loop("b", "z", "a") + loop("y", "z", "b")
    network = loops("z = Sub(x, x)" + chain)
    compare(network, [ones(2)])
    scans = scans_of(from_onnx(network).outputs["y"])
    assert len(scans) == 3
    for each in scans:
        assert not any(isinstance(inner.op, Scan) for inner in each.op.fgraph.apply_nodes)


def test_bodies_in_bodies_read_from_outside():
    network = loops("h = Sigmoid(x)" + loop("y", "x", "s", loop("s", "v_y", "h")))
    compare(network, [ones(2)])
    imported = from_onnx(network)
    x, y = imported.inputs["x"], imported.outputs["y"]
    (outer,) = scans_of(y)
    sigmoids = [n for n in outer.op.fgraph.apply_nodes if "sigmoid" in str(n.op).lower()]
    assert not sigmoids
    gradient = function([x], grad(y.sum(), x), mode=PYTHON)(ones(2))
    h = 1 / (1 + np.exp(-1.0))  # y = 8 x + 21 h
    np.testing.assert_allclose(gradient, np.full(2, 8 + 21 * h * (1 - h)), rtol=1e-5)


@pytest.mark.slow
def test_while_loops_of_torch():
    """Their trip count is the largest integer."""
    network = parsed(f"""(float[3] x) => (float[3] y)
        <int64 M = {{{2**63 - 1}}}, bool go = {{1}}, float limit = {{10}}>
        {{ y = Loop(M, go, x) <body = b (int64 i, bool c, float[3] s) => (c2, s2)
           {{ s2 = Add(s, x) r = ReduceMax<keepdims = 0>(s2) c2 = Less(r, limit) }}> }}""")
    x = np.array([1, 2, 3], "float32")
    for mode in (PYTHON, "FAST_COMPILE", Mode("py", "fast_run")):
        np.testing.assert_array_equal(in_pytensor(network, [x], mode)[0], 4 * x)
    imported = from_onnx(network)
    with pytest.raises(NotImplementedError, match="a loop that only its condition ends"):
        grad(imported.outputs["y"].sum(), imported.inputs["x"])


# ------------------------------------------------------------------------------ single operators


@pytest.mark.parametrize("axes", [(), (1,), (2, 1)])
def test_feature_vectorizer_flattens(axes):
    inputs = [ones(*axes, 2), 2 * ones(*axes, 3)]
    widths = [int(np.prod(v.shape[1:])) if v.ndim > 1 else v.size for v in inputs]
    compare(one_node("FeatureVectorizer", inputs, domain=ML, inputdimensions=widths), inputs)


@pytest.mark.parametrize(
    ("key", "labels"),
    [("int64", "classlabels_int64s = [3, 5]"), ("string", 'classlabels_strings = ["a", "b"]')],
)
def test_zip_map_is_the_tensor_of_probabilities(key, labels):
    network = parsed(f"""(float[2, 2] x) => (seq(map({key}, float)) z)
        {{ p = ai.onnx.ml.Normalizer<norm = "L1">(x) z = ai.onnx.ml.ZipMap<{labels}>(p) }}""",
        domains=', "ai.onnx.ml": 3')  # fmt: skip
    x = np.array([[1, 3], [2, 2]], "float32")
    (rows,) = in_onnxruntime(network, [x])
    np.testing.assert_allclose(in_pytensor(network, [x])[0], [list(row.values()) for row in rows])


@pytest.mark.parametrize(
    "nodes",
    [
        "r = MatMulInteger(q, w) y = Cast<to = 1>(r)",
        "r = QLinearMatMul(q, s, z, w, s, z, s, z) y = DequantizeLinear(r, s, z)",
    ],
)
def test_integer_products_are_disconnected(nodes):
    imported = from_onnx(parsed(f"""(float[1, 2] x) => (float[1, 2] y)
        <float s = {{0.1}}, int8 z = {{0}}, int8[2, 2] w = {{1, 0, 0, 1}}>
        {{ q = QuantizeLinear(x, s, z) {nodes} }}"""))
    x, cost = imported.inputs["x"], imported.outputs["y"].sum()
    gradient = grad(cost, x, disconnected_inputs="ignore")
    np.testing.assert_array_equal(gradient.eval({x: ones(1, 2)}, mode=PYTHON), [[0, 0]])


def test_export_of_batch_normalization_of_a_vector():
    text = "(float[5] x) => (float[5] y) { y = BatchNormalization(x, one, one, one, one) }"
    network = parsed(text, one=ones(1))
    imported = from_onnx(network)
    again = export_onnx(list(imported.inputs.values()), list(imported.outputs.values()))
    x = np.arange(5, dtype="float32")
    (result,), (wanted,) = in_onnxruntime(again, [x]), in_pytensor(network, [x])
    np.testing.assert_allclose(result, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "equation",
    [
        "ij->i",
        "ij->",
        "ii->",
        "ii->i",
        "iji->j",
        "...ij->...",
        "i...j->j...",
        "ij,jk->k",
        "ij,ij->i",
        "i j -> j i",
        "ij",
        "aij,akl->ik",
    ],
)
def test_einsum_as_in_onnxruntime(equation):
    rng = np.random.default_rng(0)
    terms = equation.replace(" ", "").split("->")[0].split(",")
    shapes = [[2 + "ijk".find(label) for label in term if label.isalpha()] for term in terms]
    shapes = [[3 if n == 1 else n for n in s] for s in shapes]
    if "..." in equation:
        shapes = [[2, 5, 3]]
    inputs = [rng.normal(size=s).astype("float32") for s in shapes]
    compare(one_node("Einsum", inputs, equation=equation), inputs)


@pytest.mark.parametrize(
    ("inputs", "node", "out", "shapes"),
    [
        ("float[3, 3] a", '"ij->i">(a)', "[K]", [(3, 3)]),
        ("float[3, 3] a", '"ii->">(a)', "", [(3, 3)]),
        ("float[N] a, float[M, 1] b", '"i,ji->j">(a, b)', "[K]", [(1,), (3, 1)]),
    ],
)
def test_sums_are_float32_in_mode_jax(inputs, node, out, shapes):
    pytest.importorskip("jax")
    network = parsed(f"({inputs}) => (float{out} y) {{ y = Einsum<equation = {node} }}")
    compare(network, [ones(*shape) for shape in shapes], "JAX")


def test_log_sum_exp_of_infinities_and_its_gradient():
    text = "(float[4, 2] x) => (float[4] y) { y = ReduceLogSumExp<axes = [1], keepdims = 0>(x) }"
    network = parsed(text, 17)
    x = np.array([[1, 1], [-np.inf, -np.inf], [np.inf, 0], [800, -800]], "float32")
    compare(network, [x])
    imported = from_onnx(network)
    x, y = imported.inputs["x"], imported.outputs["y"]
    value = np.array([[0, 0], [800, -800]] * 2, "float32")
    gradient = grad(y.sum(), x).eval({x: value}, mode=PYTHON)
    np.testing.assert_allclose(gradient, [[0.5, 0.5], [1, 0]] * 2)


# ------------------------------------------------------------------------------ broadcasting


def broadcasting(inputs, node):
    return parsed(f"({inputs}) => (y) {{ y = {node} }}")


@pytest.mark.parametrize(
    ("network", "mode"),
    [
        (broadcasting("float[N, 2] a, float[3, 2] b", "Add(a, b)"), "JAX"),
        (broadcasting("float[N, M] a, float[K, L] b, float[M] c", "Max(a, b, c)"), PYTHON),
        (broadcasting("float[N, 2, 2] a, float[K, 2, 2] b", "MatMul(a, b)"), PYTHON),
        (broadcasting("float[3, 2] a, float[N, M] b", "PRelu(a, b)"), PYTHON),
        (broadcasting("float[3, 2] a, float[2, 2] b, float[K, M] c", "Gemm(a, b, c)"), PYTHON),
    ],
    ids=["Add", "Max", "MatMul", "PRelu", "Gemm"],
)
def test_open_sizes_of_one_broadcast_when_the_model_runs(network, mode):
    if mode == "JAX":
        pytest.importorskip("jax")
    rng, symbols = np.random.default_rng(0), [{}, {"N": 1}, {"K": 1}, {"M": 1, "L": 1}]
    imported = from_onnx(network)
    inputs, y = list(imported.inputs.values()), imported.outputs["y"]
    compute = function(inputs, [y, *grad((y**2).sum(), inputs)], mode=mode)
    for lengths in symbols:
        sizes = {"N": 3, "K": 3, "M": 2, "L": 2} | lengths
        shapes = [
            [sizes.get(d.dim_param, d.dim_value) for d in v.type.tensor_type.shape.dim]
            for v in network.graph.input
        ]
        values = [rng.normal(size=s).astype("float32") for s in shapes]
        result, *gradients = compute(*values)
        (want,) = in_onnxruntime(network, values)
        assert result.shape == want.shape
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-6)
        for value, gradient in zip(values, gradients, strict=True):
            assert gradient.shape == value.shape
            moved = [v + (v is value) * np.float32(1e-2) for v in values]
            change = (in_onnxruntime(network, moved)[0] ** 2).sum() - (want**2).sum()
            np.testing.assert_allclose(gradient.sum() * 1e-2, change, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("lengths", [(1, 3), (3, 1), (3, 3)])
def test_what_was_broadcast_meets_what_it_was_made_of(lengths):
    """Nobody knows the length of a sum of two open ones before the model runs."""
    text = "(float[N] a, float[M] b) => (y) { h = Add(a, b) r = Relu(h) y = Mul(r, a) }"
    compare(parsed(text), [*map(ones, lengths)])


def test_lengths_that_do_not_broadcast_are_an_error():
    for length in ("3", "M"):
        network = broadcasting(f"float[N] a, float[{length}] b", "Add(a, b)")
        with pytest.raises((AssertionError, ValueError)):
            in_pytensor(network, [ones(5), ones(3)])
    expand = parsed("(float[N] x) => (y) <int64[1] s = {3}> { y = Expand(x, s) }")
    with pytest.raises((AssertionError, IndexError, ValueError)):
        in_pytensor(expand, [ones(5)])


def test_sizes_that_are_equal_need_no_broadcasting():
    network = parsed("(float[N, 2] x) => (float[N, 2] y) { a = Relu(x) y = Add(x, a) }")
    (y,) = from_onnx(network).outputs.values()
    assert not any(isinstance(n.op, BroadcastAs) for n in toposort([y]))


# ------------------------------------------------------------------------------ If of two ranks


def squeeze(after, out="y"):
    """Write torch's squeeze of axis 1 of `h`: an If whose branches have 1 and 2 axes."""
    return parsed(f"""(float[2, L] x) => ({out})
        <int64[1] ax = {{1}}, int64 one = {{1}}, int64[1] minus = {{-1}}>
        {{ h = Relu(x) s = Shape(h) n = Gather(s, one) c = Equal(n, one)
           q = If(c) <then_branch = t () => (a) {{ a = Squeeze(h, ax) }},
                      else_branch = e () => (b) {{ b = Identity(h) }}>
           {after} }}""")


ONE, THREE = np.array([[1], [2]], "float32"), np.arange(6, dtype="float32").reshape(2, 3)


def test_a_rank_that_a_reader_needs():
    network = squeeze("r = Transpose<perm = [1, 0]>(q) y = Neg(r)")
    compare(network, [THREE])
    with pytest.raises(AssertionError, match="fits only the else_branch of an If"):
        in_pytensor(network, [ONE])


def test_a_rank_that_the_file_declares():
    network = squeeze("y = Exp(q)", "float[a] y")
    compare(network, [ONE])
    with pytest.raises(AssertionError, match="fits only the then_branch"):
        in_pytensor(network, [THREE])


@pytest.mark.parametrize("x", [ONE, THREE], ids=["then", "else"])
@pytest.mark.parametrize(
    "after",
    [
        "r = Exp(q) y = ReduceSum<keepdims = 0>(r)",
        "y = Reshape(q, minus)",
        "z = Shape(q) r = Reshape(q, z) y = Flatten<axis = 0>(r)",
        "z = Shape(q) k = Size(z) y = Cast<to = 1>(k)",
    ],
    ids=["sum", "reshape", "shape", "rank"],
)
def test_ranks_that_meet_again(after, x):
    compare(squeeze(after), [x])


def test_a_rank_that_a_loop_needs():
    after = """first = Transpose<perm = [1, 0]>(x) y = Loop(one, , first)
        <body = b (int64 k, bool go, float[a, 2] v) => (go2, float[a, 2] w)
        { go2 = Identity(go) p = Transpose<perm = [1, 0]>(q) w = Add(v, p) }>"""
    compare(squeeze(after), [THREE])


def test_a_rank_that_nothing_says():
    network = squeeze("y = Relu(q)")
    with pytest.raises(
        ImportedModelError, match="1 or 2 axes, which the length of axis 1 of 'x' d"
    ):
        from_onnx(network)
    for length, ndim in ((1, 1), (3, 2)):
        given = {"x": pt.tensor("x", shape=(2, length), dtype="float32")}
        assert from_onnx(network, given).outputs["y"].type.ndim == ndim


def test_reasons_of_both_sides_are_one():
    with pytest.raises(ImportedOpError, match=r"^1 node\(s\)[^\n]*\n  1 x Einsum: "):
        from_onnx(squeeze('y = Einsum<equation = "ijk->">(q)'))


def test_a_squeeze_that_is_taken_needs_its_length():
    network = parsed("""(float[2, L] x, bool c) => (float[2] y) <int64[1] ax = {1}>
        { y = If(c) <then_branch = t () => (float[2] a) { a = Squeeze(x, ax) },
            else_branch = e () => (float[2] b) { b = ReduceSum<keepdims = 0>(x, ax) }> }""")
    for x in (ONE, THREE):
        compare(network, [x, np.array(False)])
    compare(network, [ONE, np.array(True)])
    with pytest.raises(AssertionError, match=r"Squeeze: the axes \[1\] aren't of length 1"):
        in_pytensor(network, [THREE, np.array(True)])


# ------------------------------------------------------------------------------ text

WORDS = np.array([["b"], ["a"], ["?"]], dtype=object)


def with_codes(network, *values):
    """Return the outputs, by number where they are text; strings that the model lacks have -1."""
    imported = from_onnx(network)
    place = {text: i for i, text in enumerate(imported.strings)}
    values = [
        np.vectorize(lambda s: place.get(s, -1), otypes="q")(v) if v.dtype == object else v
        for v in values
    ]
    inputs, outputs = list(imported.inputs.values()), list(imported.outputs.values())
    return imported, function(inputs, outputs, mode=PYTHON)(*values)


def test_text_categories_are_numbers():
    network = parsed("""(string[3, 1] s, string[3, 1] t)
        => (float[A, B, C] hot, int64[D, E] n, int64[F, G] m, bool[H, I] same)
        { both = Concat<axis = 1>(s, t) word = Constant<value_strings = ["a"]>()
          hot = ai.onnx.ml.OneHotEncoder<cats_strings = ["a", "b"], zeros = 1>(both)
          n = ai.onnx.ml.LabelEncoder<keys_strings = ["b", "c"], values_int64s = [5, 6]>(s)
          m = ai.onnx.ml.CategoryMapper<cats_strings = ["x", "a"], cats_int64s = [3, 4]>(t)
          same = Equal(s, word) }""", domains=', "ai.onnx.ml": 3')
    _, results = with_codes(network, WORDS, WORDS[::-1])
    wanted = in_onnxruntime(network, [WORDS, WORDS[::-1]])
    for result, want in zip(results, wanted, strict=True):
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(result, want)


def test_labels_that_are_text_are_numbers():
    network = parsed("""(float[2, 2] x) => (string[2] label, float[2, 2] p)
        { label, p = ai.onnx.ml.LinearClassifier<classlabels_strings = ["no", "yes"],
            coefficients = [1.0, -1.0, -1.0, 1.0], intercepts = [0.0, 0.0]>(x) }""",
        domains=', "ai.onnx.ml": 3')  # fmt: skip
    x = np.array([[1, 0], [0, 1]], "float32")
    imported, (label, p) = with_codes(network, x)
    wanted = in_onnxruntime(network, [x])
    assert [imported.strings[i] for i in label] == wanted[0].tolist()
    np.testing.assert_allclose(p, wanted[1])
