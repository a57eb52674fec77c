"""Files as strangers write them: what onnxruntime opens is imported, or refused with its reason."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan
from pytensor.tensor.broadcasting import BroadcastAs

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx_ir")
pytest.importorskip("onnxruntime")
link = pytest.importorskip("pytensor.link.onnx")
with_onnxruntime = pytest.importorskip("tests.link.onnx.importing.with_onnxruntime")
from_onnx, ImportedOpError = link.from_onnx, link.ImportedOpError
ImportedModelError, ImportedShapeWarning = link.ImportedModelError, link.ImportedShapeWarning
PYTHON, in_onnxruntime = with_onnxruntime.PYTHON, with_onnxruntime.in_onnxruntime
TensorProto, helper, numpy_helper = onnx.TensorProto, onnx.helper, onnx.numpy_helper
FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64


def node(op_type, inputs, outputs="y", **attributes):
    """A node whose inputs and outputs are given as names in one text."""
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op_type, names, outputs.split(), **attributes)


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs=(("y", None),), values=(), opset=17, ir_version=8, **more):
    """A model of nodes, of inputs and outputs given as (name, shape[, dtype]), and initializers."""
    graph = helper.make_graph(
        nodes if isinstance(nodes, list) else [nodes],
        "foreign",
        [info(*v) for v in inputs],
        [info(*v) for v in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in dict(values).items()],
        **more,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def run(network, *values, mode=PYTHON, **options):
    """A model's outputs for these inputs, by `from_onnx`."""
    imported = from_onnx(network, **options)
    inputs, outputs = list(imported.inputs.values()), list(imported.outputs.values())
    return function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)


def compare(network, *values, rtol=1e-5, **options):
    """The results must be onnxruntime's, dtypes and shapes too."""
    results, wanted = run(network, *values, **options), in_onnxruntime(network, values)
    for result, want in zip(results, wanted, strict=True):
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(result, want, rtol=rtol, atol=1e-6)
    return results


def ones(*shape):
    return np.ones(shape, "float32")


# ------------------------------------------------------------------------------ declared shapes


def test_wrong_shapes_of_results_are_listed():
    lie = model(
        [node("Relu", "x", "h"), node("Relu", "h")],
        [("x", [2])],
        [("y", [])],
        value_info=[info("h", [5])],
    )
    with pytest.warns(ImportedShapeWarning, match=r"'h': \(5,\) declared, \(2,\) found; 'y': \(\)"):
        imported = from_onnx(lie)
    assert imported.outputs["y"].type.shape == (2,)


def test_wrong_shapes_in_a_body_are_listed():
    body = helper.make_graph(
        [
            node("Identity", "a", "a2"),
            node("Sub", "a b", "d"),
            node("ReduceSumSquare", "d", "s", axes=[1], keepdims=0),
        ],
        "body",
        [info("a", [3, 2]), info("b", [2])],
        [info("a2", [3, 2]), info("s", [1])],
    )
    scan = node("Scan", "x w", "u y", body=body, num_scan_inputs=1)
    lie = model(scan, [("x", [3, 2])], values={"w": np.eye(2, dtype="float32")})
    with pytest.warns(ImportedShapeWarning, match=r"'s': \(1,\) declared, \(3,\) found"):
        compare(lie, np.arange(6, dtype="float32").reshape(3, 2))


@pytest.mark.parametrize("size", [-1, 0])
def test_sizes_that_are_no_lengths_are_open(size):
    network = model(node("Relu", "x"), [("x", [size, 2])], [("y", [size, 2])])
    assert from_onnx(network).inputs["x"].type.shape == (None, 2)
    np.testing.assert_array_equal(run(network, ones(3, 2))[0], ones(3, 2))


def test_what_the_converter_infers_is_not_believed():
    pool = node("MaxPool", "x", kernel_shape=[2, 2], pads=[1, 0] * 2, strides=[2, 2], ceil_mode=1)
    compare(model(pool, [("x", [1, 1, 3, 4])], opset=11), ones(1, 1, 3, 4), opset=17)


# ------------------------------------------------------------------------------ older files


def test_initializers_of_ir_3_need_not_be_inputs():
    old = model(node("Mul", "x w"), [("x", [2])], values={"w": 2 * ones(2)}, opset=7, ir_version=3)
    compare(old, ones(2), opset=17)
    assert old.ir_version == 3


@pytest.mark.parametrize("opset", [None, 13, 17])
def test_operators_that_a_files_opset_lacks(opset):
    """onnxruntime knows LayerNormalization in opset 12, too."""
    values = {"s": ones(4)}
    network = model(node("LayerNormalization", "x s"), [("x", [1, 4])], values=values, opset=13)
    network.opset_import[0].version = 13 if opset is None else 12
    compare(network, np.arange(4, dtype="float32")[None], opset=opset)


def test_unknown_operators_of_old_files_are_named():
    for domain in ("", "my.ops"):
        unknown = model(node("MyOp", "x", domain=domain), [("x", [2])], opset=11)
        with pytest.raises(ImportedOpError, match=r"1 x (my\.ops\.)?MyOp: there is no converter"):
            from_onnx(unknown, opset=17)


# ------------------------------------------------------------------------------ windows

IMAGE = np.random.default_rng(0).normal(size=(2, 2, 7, 8)).astype("float32")
POOLS = {
    "Conv": {},
    "MaxPool": {"kernel_shape": [3, 2]},
    "AveragePool": {"kernel_shape": [3, 2]},
    "AveragePool with pads": {"kernel_shape": [3, 2], "count_include_pad": 1},
    "LpPool": {"kernel_shape": [3, 2]},
}


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("case", POOLS)
def test_auto_pad_of_open_lengths_with_strides(case, mode):
    weights = {"w": np.random.default_rng(1).normal(size=(3, 2, 3, 2)).astype("float32")}
    op_type = case.split()[0]
    window = node(
        op_type, "x w" if op_type == "Conv" else "x", auto_pad=mode, strides=[2, 3], **POOLS[case]
    )
    network = model(window, [("x", [2, 2, "H", "W"])], values=weights if op_type == "Conv" else {})
    compute = from_onnx(network)
    (x,), (y,) = compute.inputs.values(), compute.outputs.values()
    compute = function([x], y, mode=PYTHON)
    for image in (IMAGE, IMAGE[:, :, :6, :7]):
        (want,) = in_onnxruntime(network, [image])
        np.testing.assert_allclose(compute(image), want, rtol=1e-5, atol=1e-6)


def test_indices_under_auto_pad_of_open_lengths_are_refused():
    pool = node("MaxPool", "x", "y i", auto_pad="SAME_UPPER", strides=[2], kernel_shape=[3])
    with pytest.raises(ImportedOpError, match="positions of its maxima need the lengths of"):
        from_onnx(model(pool, [("x", [1, 1, "N"])]))


@pytest.mark.parametrize("op_type", ["Conv", "ConvTranspose"])
def test_kernels_whose_size_is_open(op_type):
    conv = node(op_type, "x w", strides=[1, 2], pads=[1, 0, 0, 1])
    weights = np.random.default_rng(1).normal(size=(2, 2, 3, 2)).astype("float32")
    compare(model(conv, [("x", [2, 2, 7, 8]), ("w", [2, 2, "h", "w"])]), IMAGE, weights)


def test_auto_pad_that_the_standard_lacks_is_refused():
    conv = node("Conv", "x w", auto_pad="SAME")
    with pytest.raises(ImportedOpError, match="its auto_pad is 'SAME'; there are 'NOTSET'"):
        from_onnx(model(conv, [("x", [1, 1, 4, 4])], values={"w": ones(1, 1, 3, 3)}))


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("broken", "shapes", "reason"),
    [
        (node("Not", "x"), [("x", [2], TensorProto.INT32)], "'X' is of dtype int32; it takes"),
        (node("Resize", "x"), [("x", [1, 1, 2, 2])], "neither scales nor sizes"),
        (node("MatMul", "x"), [("x", [2])], "no input 'B', which it must have"),
        (node("Relu", "x x"), [("x", [2])], "it has 2 inputs, and takes 1 at most"),
        (node("Add", "x z"), [("x", [2]), ("z", [2], HALF)], "dtypes float32 and float16"),
        (node("MeanVarianceNormalization", "x"), [("x", [2, 2, 2])], "axis 3, .* has 3 axes"),
        (node("Einsum", "x", equation="ij->i,j"), [("x", [2, 2])], "Output character ,"),
    ],
)
def test_what_onnxruntime_refuses_too(broken, shapes, reason):
    network = model(broken, shapes)
    with pytest.raises(ImportedOpError, match=reason):
        from_onnx(network)


@pytest.mark.parametrize("axis", [2, -3])
@pytest.mark.parametrize(
    "op_type",
    [
        "ArgMax",
        "Concat",
        "Flatten",
        "Gather",
        "Hardmax",
        "LayerNormalization",
        "LogSoftmax",
        "LpNormalization",
        "Softmax",
        "Split",
        "TopK",
    ],
)
def test_axes_that_an_input_lacks(op_type, axis):
    axis = axis + (op_type == "Flatten" and axis > 0)
    if op_type == "Split":
        broken = node(op_type, "x", "y z", axis=axis)
    else:
        broken = node(
            op_type,
            {"LayerNormalization": "x s", "Gather": "x k", "TopK": "x k"}.get(op_type, "x"),
            axis=axis,
        )
    values = {"LayerNormalization": {"s": ones(2)}}.get(
        op_type, {"k": np.array([1])} if op_type in ("Gather", "TopK") else {}
    )
    with pytest.raises(ImportedOpError, match=r"axis -?\d, and its input has 2 axes"):
        from_onnx(model(broken, [("x", [2, 2])], values=values))


@pytest.mark.parametrize(
    ("op_type", "name", "shape"),
    [
        ("DepthToSpace", "mode", [1, 4, 2, 2]),
        ("Pad", "mode", [2]),
        ("Gelu", "approximate", [2]),
    ],
)
def test_ways_that_the_standard_lacks(op_type, name, shape):
    more = {"blocksize": 2} if op_type == "DepthToSpace" else {}
    values = {"p": np.array([1, 1])} if op_type == "Pad" else {}
    broken = node(op_type, "x p" if values else "x", **{name: "other"}, **more)
    with pytest.raises(ImportedOpError, match=f"its {name} is 'other'; there are '"):
        from_onnx(model(broken, [("x", shape)], values=values, opset=20))


def test_initializers_without_their_data():
    broken = model(node("Add", "x w"), [("x", [2])], values={"w": ones(2)})
    broken.graph.initializer[0].raw_data = b""
    with pytest.raises(ImportedModelError, match="the initializer 'w': cannot reshape"):
        from_onnx(broken)


def test_clip_of_float16_as_the_converter_writes_it():
    old = model(
        node("Clip", "x", min=0.0, max=6.0), [("x", [3], HALF)], [("y", [3], HALF)], opset=6
    )
    compare(old, np.array([-1, 3, 9], "float16"), opset=17)


def test_mean_variance_normalization_of_float16():
    network = model(
        node("MeanVarianceNormalization", "x", axes=[1]), [("x", [2, 3], HALF)], [("y", None, HALF)]
    )
    compare(network, np.array([[300, 1, 2], [0, 1, 0]], "float16"), rtol=1e-3)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
def test_roi_align_whose_samples_depend_on_the_region(mode, how):
    align = node(
        "RoiAlign",
        "x rois which",
        mode=mode,
        output_height=2,
        output_width=3,
        spatial_scale=0.5,
        coordinate_transformation_mode=how,
    )
    rois = np.array([[0, 0, 15, 13], [3, 2, 5, 3], [4, 4, 4, 4], [-6, 1, 30, 9]], "float32")
    inputs = [("x", [2, 2, 7, 8]), ("rois", ["n", 4]), ("which", ["n"], INT64)]
    compare(model(align, inputs), IMAGE, rois, np.array([0, 1, 1, 0]), rtol=1e-4)


# ------------------------------------------------------------------------------ loops


def loop(name, first, read, trips="M"):
    """A loop that adds what it reads from outside to what it carries."""
    body = helper.make_graph(
        [node("Identity", "c", "c2"), node("Add", f"v {read}", "w")],
        f"body_{name}",
        [info("i", [], INT64), info("c", [], TensorProto.BOOL), info("v", [2])],
        [info("c2", [], TensorProto.BOOL), info("w", [2])],
    )
    return node("Loop", f"{trips} _ {first}", name, body=body)


def test_what_a_loop_reads_from_outside_is_computed_once():
    chain = [loop("a", "z", "x"), loop("b", "z", "a"), loop("y", "z", "b")]
    network = model(chain, [("x", [2])], values={"M": np.array(3), "z": np.zeros(2, "float32")})
    compare(network, ones(2))
    (y,) = from_onnx(network).outputs.values()
    scans = [n for n in toposort([y]) if isinstance(n.op, Scan)]
    assert len(scans) == 3
    for each in scans:
        assert not any(isinstance(inner.op, Scan) for inner in each.op.fgraph.apply_nodes)


def test_bodies_in_bodies_read_from_outside():
    inner = loop("s", "v", "h")
    body = helper.make_graph(
        [node("Identity", "c0", "c1"), inner, node("Mul", "s h", "t")],
        "outer",
        [info("i0", [], INT64), info("c0", [], TensorProto.BOOL), info("v", [2])],
        [info("c1", [], TensorProto.BOOL), info("t", [2])],
    )
    inner.attribute[0].g.input[2].name = "u"
    inner.attribute[0].g.node[1].input[0] = "u"
    nodes = [node("Sigmoid", "x", "h"), node("Loop", "M _ x", "y", body=body)]
    network = model(nodes, [("x", [2])], values={"M": np.array(3)})
    compare(network, ones(2))
    imported = from_onnx(network)
    (x,), (y,) = imported.inputs.values(), imported.outputs.values()
    (outer,) = [n for n in toposort([y]) if isinstance(n.op, Scan)]
    sigmoids = [n for n in outer.op.fgraph.apply_nodes if "sigmoid" in str(n.op).lower()]
    assert not sigmoids
    h = 1 / (1 + np.exp(-1.0))
    gradient = function([x], grad(y.sum(), x), mode=PYTHON)(ones(2))
    slope = h * (1 - h)  # of y = h(3h + h(3h + h(3h + x)))
    wanted = h**3 + slope * (3 * (2 * h + 3 * h**2 + 4 * h**3) + 3 * h**2)
    np.testing.assert_allclose(gradient, [wanted, wanted], rtol=1e-5)


def test_while_loops_of_torch():
    """Their trip count is the largest integer."""
    body = helper.make_graph(
        [
            node("Add", "s x", "s2"),
            node("ReduceMax", "s2", "r", keepdims=0),
            node("Less", "r limit", "c2"),
        ],
        "body",
        [info("i", [], INT64), info("c", [], TensorProto.BOOL), info("s", [3])],
        [info("c2", [], TensorProto.BOOL), info("s2", [3])],
    )
    values = {"M": np.array(2**63 - 1), "go": np.array(True), "limit": np.float32(10)}
    network = model(node("Loop", "M go x", body=body), [("x", [3])], values=values)
    x = np.array([1, 2, 3], "float32")
    for mode in (PYTHON, "FAST_COMPILE", "FAST_RUN"):
        np.testing.assert_array_equal(run(network, x, mode=mode)[0], 4 * x)
    imported = from_onnx(network)
    with pytest.raises(NotImplementedError, match="a loop that its condition alone ends"):
        grad(imported.outputs["y"].sum(), imported.inputs["x"])


# ------------------------------------------------------------------------------ single operators


def one_ml(op_type, inputs, **attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    each = node(op_type, " ".join(names), domain="ai.onnx.ml", **attributes)
    return model(each, [(n, v.shape) for n, v in zip(names, inputs, strict=True)])


@pytest.mark.parametrize("axes", [(), (1,), (2, 1)])
def test_feature_vectorizer_flattens(axes):
    inputs = [ones(*axes, 2), 2 * ones(*axes, 3)]
    widths = [int(np.prod(v.shape[1:])) if v.ndim > 1 else v.size for v in inputs]
    compare(one_ml("FeatureVectorizer", inputs, inputdimensions=widths), *inputs)


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [3, 5]}, {"classlabels_strings": "ab"}])
def test_zip_map_is_the_tensor_of_probabilities(labels):
    labels = {k: list(v) for k, v in labels.items()}
    nodes = [
        node("Normalizer", "x", "p", domain="ai.onnx.ml", norm="L1"),
        node("ZipMap", "p", "z", domain="ai.onnx.ml", **labels),
    ]
    network = model(nodes, [("x", [2, 2])], outputs=[])
    key = helper.make_tensor_type_proto(FLOAT, [])
    key = helper.make_map_type_proto(
        TensorProto.STRING if "classlabels_strings" in labels else INT64, key
    )
    key = helper.make_sequence_type_proto(key)
    network.graph.output.append(helper.make_value_info("z", key))
    x = np.array([[1, 3], [2, 2]], "float32")
    (rows,) = in_onnxruntime(network, [x])
    np.testing.assert_allclose(run(network, x)[0], [list(row.values()) for row in rows])


@pytest.mark.parametrize("op_type", ["MatMulInteger", "QLinearMatMul"])
def test_integer_products_are_disconnected(op_type):
    quantized = node("QuantizeLinear", "x s z", "q")
    if op_type == "MatMulInteger":
        nodes = [quantized, node(op_type, "q w", "r"), node("Cast", "r", to=FLOAT)]
    else:
        nodes = [
            quantized,
            node(op_type, "q s z w s z s z", "r"),
            node("DequantizeLinear", "r s z"),
        ]
    values = {"s": np.float32(0.1), "z": np.int8(0), "w": np.eye(2, dtype="int8")}
    imported = from_onnx(model(nodes, [("x", [1, 2])], values=values))
    x, cost = imported.inputs["x"], imported.outputs["y"].sum()
    gradient = grad(cost, x, disconnected_inputs="ignore")
    np.testing.assert_array_equal(gradient.eval({x: ones(1, 2)}), [[0, 0]])


def test_export_of_batch_normalization_of_a_vector():
    values = {"s": ones(1), "b": ones(1), "m": ones(1), "v": ones(1)}
    network = model(node("BatchNormalization", "x s b m v"), [("x", [5])], values=values)
    imported = from_onnx(network)
    again = link.export_onnx(list(imported.inputs.values()), list(imported.outputs.values()))
    x = np.arange(5, dtype="float32")
    np.testing.assert_allclose(in_onnxruntime(again, [x])[0], run(network, x)[0], rtol=1e-6)


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
    names = [f"x{i}" for i in range(len(inputs))]
    einsum = node("Einsum", " ".join(names), equation=equation)
    compare(model(einsum, [(n, v.shape) for n, v in zip(names, inputs, strict=True)]), *inputs)


@pytest.mark.parametrize("equation", ["ij->i", "ii->", None])
def test_sums_are_float32_in_mode_jax(equation):
    pytest.importorskip("jax")
    reduce = node("ReduceLogSumExp", "x", keepdims=0)
    reduce = node("Einsum", "x", equation=equation) if equation else reduce
    compare(model(reduce, [("x", [3, 3])]), np.eye(3, dtype="float32"), mode="JAX")


def test_log_sum_exp_of_infinities_and_its_gradient():
    network = model(node("ReduceLogSumExp", "x", axes=[1], keepdims=0), [("x", [4, 2])])
    x = np.array([[1, 1], [-np.inf, -np.inf], [np.inf, 0], [800, -800]], "float32")
    compare(network, x)
    imported = from_onnx(network)
    x, y = imported.inputs["x"], imported.outputs["y"]
    gradient = grad(y.sum(), x).eval({x: np.array([[0, 0], [800, -800]] * 2, "float32")})
    np.testing.assert_allclose(gradient, [[0.5, 0.5], [1, 0]] * 2)


# ------------------------------------------------------------------------------ broadcasting


def broadcasting(op_type, *shapes):
    names = "abc"[: len(shapes)]
    shapes = [(n, s) for n, s in zip(names, shapes, strict=True)]
    return model(node(op_type, " ".join(names)), shapes)


@pytest.mark.parametrize("mode", [PYTHON, "JAX"])
@pytest.mark.parametrize(
    "network",
    [
        broadcasting("Add", ["N", 2], [3, 2]),
        broadcasting("Max", ["N", "M"], ["K", "L"], ["M"]),
        broadcasting("MatMul", ["N", 2, 2], ["K", 2, 2]),
        broadcasting("PRelu", [3, 2], ["N", "M"]),
        broadcasting("Gemm", [3, 2], [2, 2], ["K", "M"]),
    ],
    ids=lambda m: m.graph.node[0].op_type,
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


def test_lengths_that_do_not_broadcast_are_an_error():
    for network in (broadcasting("Add", ["N"], [3]), broadcasting("Add", ["N"], ["M"])):
        with pytest.raises((AssertionError, ValueError)):
            run(network, ones(5), ones(3))
    expand = model(node("Expand", "x s"), [("x", ["N"])], values={"s": np.array([3])})
    with pytest.raises((AssertionError, IndexError, ValueError)):
        run(expand, ones(5))


def test_sizes_that_are_equal_need_no_broadcasting():
    nodes = [node("Relu", "x", "a"), node("Add", "x a")]
    (y,) = from_onnx(model(nodes, [("x", ["N", 2])])).outputs.values()
    assert not any(isinstance(n.op, BroadcastAs) for n in toposort([y]))


# ------------------------------------------------------------------------------ If of two ranks


def squeeze(after, outputs=(("y", None),), before=()):
    """torch's squeeze of axis 1 of `h`: an If whose branches have 1 and 2 axes."""
    then = helper.make_graph([node("Squeeze", "h ax", "t")], "then", [], [info("t", None)])
    otherwise = helper.make_graph([node("Identity", "h", "e")], "else", [], [info("e", None)])
    nodes = [
        *(before or [node("Relu", "x", "h")]),
        node("Shape", "h", "s"),
        node("Gather", "s one", "n"),
        node("Equal", "n one", "c"),
        node("If", "c", "q", then_branch=then, else_branch=otherwise),
        *after,
    ]
    values = {"ax": np.array([1]), "one": np.array(1), "w": ones(2, 3), "i": np.array([0, 0])}
    network = model(nodes, [("x", [2, "L"])], outputs, values | {"minus": np.array([-1])})
    for output in network.graph.output:
        if not output.type.tensor_type.shape.dim:
            output.type.tensor_type.ClearField("shape")
    return network


ONE, THREE = np.array([[1], [2]], "float32"), np.arange(6, dtype="float32").reshape(2, 3)


def test_a_rank_that_a_reader_needs():
    network = squeeze([node("Transpose", "q", "r", perm=[1, 0]), node("Neg", "r")])
    compare(network, THREE)
    with pytest.raises(AssertionError, match="fits only the else_branch of the If"):
        run(network, ONE)


def test_a_rank_that_the_file_declares():
    network = squeeze([node("Exp", "q")], [("y", ["a"])])
    compare(network, ONE)
    with pytest.raises(AssertionError, match="fits only the then_branch"):
        run(network, THREE)


@pytest.mark.parametrize("x", [ONE, THREE], ids=["then", "else"])
@pytest.mark.parametrize(
    "after",
    [
        [node("Exp", "q", "r"), node("ReduceSum", "r", keepdims=0)],
        [node("Reshape", "q minus")],
        [node("Shape", "q", "z"), node("Reshape", "q z", "r"), node("Flatten", "r", axis=0)],
        [node("Shape", "q", "z"), node("Size", "z", "k"), node("Cast", "k", to=FLOAT)],
    ],
    ids=["sum", "reshape", "shape", "rank"],
)
def test_ranks_that_meet_again(after, x):
    compare(squeeze(after), x)


def test_a_rank_that_a_loop_needs():
    body = helper.make_graph(
        [
            node("Identity", "c", "c2"),
            node("Transpose", "q", "p", perm=[1, 0]),
            node("Add", "v p", "w2"),
        ],
        "body",
        [info("k", [], INT64), info("c", [], TensorProto.BOOL), info("v", ["a", 2])],
        [info("c2", [], TensorProto.BOOL), info("w2", ["a", 2])],
    )
    after = [node("Transpose", "x", "first", perm=[1, 0]), node("Loop", "one _ first", body=body)]
    compare(squeeze(after), THREE)


def test_a_rank_that_nothing_says():
    network = squeeze([node("Relu", "q")])
    with pytest.raises(
        ImportedModelError, match="1 or 2 axes, which the length of axis 1 of 'x' d"
    ):
        from_onnx(network)
    for length, ndim in ((1, 1), (3, 2)):
        given = {"x": pt.tensor("x", shape=(2, length), dtype="float32")}
        assert from_onnx(network, given).outputs["y"].type.ndim == ndim


def test_reasons_of_both_sides_are_one():
    with pytest.raises(ImportedOpError, match=r"^1 node\(s\)[^\n]*\n  1 x Einsum: "):
        from_onnx(squeeze([node("Einsum", "q", equation="ijk->")]))


def test_a_squeeze_that_is_taken_needs_its_length():
    then = helper.make_graph([node("Squeeze", "x ax", "t")], "then", [], [info("t", [2])])
    otherwise = helper.make_graph([node("ReduceSum", "x ax", "e")], "else", [], [info("e", [2])])
    otherwise.node[0].attribute.append(helper.make_attribute("keepdims", 0))
    choice = node("If", "c", then_branch=then, else_branch=otherwise)
    inputs = [("x", [2, "L"]), ("c", [], TensorProto.BOOL)]
    network = model(choice, inputs, values={"ax": np.array([1])})
    for x in (ONE, THREE):
        compare(network, x, np.array(False))
    compare(network, ONE, np.array(True))
    with pytest.raises(AssertionError, match=r"Squeeze: the axes \[1\] aren't of length 1"):
        run(network, THREE, np.array(True))


# ------------------------------------------------------------------------------ text

STRING = TensorProto.STRING
WORDS = np.array([["b"], ["a"], ["?"]], dtype=object)


def with_codes(network, *values):
    """The outputs, by number where they are text; strings that the model lacks have -1."""
    imported = from_onnx(network)
    place = {text: i for i, text in enumerate(imported.strings)}
    values = [
        np.vectorize(lambda s: place.get(s, -1), otypes="q")(v) if v.dtype == object else v
        for v in values
    ]
    inputs, outputs = list(imported.inputs.values()), list(imported.outputs.values())
    return imported, function(inputs, outputs, mode=PYTHON)(*values)


def test_text_categories_are_numbers():
    ml = {"domain": "ai.onnx.ml"}
    nodes = [
        node("Concat", "s t", "both", axis=1),
        node("OneHotEncoder", "both", "hot", cats_strings=["a", "b"], zeros=1, **ml),
        node("LabelEncoder", "s", "n", keys_strings=["b", "c"], values_int64s=[5, 6], **ml),
        node("CategoryMapper", "t", "m", cats_strings=["x", "a"], cats_int64s=[3, 4], **ml),
        node("Constant", "", "word", value_strings=["a"]),
        node("Equal", "s word", "same"),
    ]
    inputs = [("s", [3, 1], STRING), ("t", [3, 1], STRING)]
    outputs = [
        ("hot", None),
        ("n", None, INT64),
        ("m", None, INT64),
        ("same", None, TensorProto.BOOL),
    ]
    network = model(nodes, inputs, outputs, opset=19, ir_version=9)
    _, results = with_codes(network, WORDS, WORDS[::-1])
    wanted = in_onnxruntime(network, [WORDS, WORDS[::-1]])
    for result, want in zip(results, wanted, strict=True):
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        np.testing.assert_array_equal(result, want)


def test_labels_that_are_text_are_numbers():
    attributes = {"classlabels_strings": ["no", "yes"], "coefficients": [1.0, -1.0, -1.0, 1.0]}
    classify = node(
        "LinearClassifier", "x", "label p", domain="ai.onnx.ml", intercepts=[0.0] * 2, **attributes
    )
    network = model(classify, [("x", [2, 2])], [("label", None, STRING), ("p", None)])
    x = np.array([[1, 0], [0, 1]], "float32")
    imported, (label, p) = with_codes(network, x)
    wanted = in_onnxruntime(network, [x])
    assert [imported.strings[i] for i in label] == wanted[0].tolist()
    np.testing.assert_allclose(p, wanted[1])


def test_computing_with_text_is_refused():
    network = model(node("Equal", "s t"), [("s", [1], STRING), ("t", [1], STRING)])
    network.graph.output[0].type.tensor_type.elem_type = TensorProto.BOOL
    with pytest.raises(ImportedOpError, match="it compares two texts"):
        from_onnx(network)
    network = model(node("Cast", "s", to=FLOAT), [("s", [1], STRING)])
    with pytest.raises(ImportedOpError, match="it computes with text"):
        from_onnx(network)
