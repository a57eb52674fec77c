import logging

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import (
    VerificationError,
    export_onnx,
    half_weights,
    optimized_graph,
    quantize_int8,
)
from tests.link.onnx.test_basic import op_types, run


@pytest.fixture(scope="module")
def network():
    """Return a small network, its float32 model and samples."""
    rng = np.random.default_rng(0)

    def parameter(name, *shape):
        value = rng.normal(size=shape) / np.sqrt(shape[0])
        return pytensor.shared(value.astype("float32"), name=name)

    x = pt.tensor("x", shape=(None, 3, 12, 12), dtype="float32")
    h = pt.silu(pt.conv2d(x, parameter("conv.weight", 16, 3, 3, 3), border_mode="half"))
    h = pt.nn.max_pool2d(h, 2).reshape((x.shape[0], 16 * 36))
    y = h @ parameter("dense.weight", 16 * 36, 8)
    samples = [{"x": rng.normal(size=(2, 3, 12, 12)).astype("float32")} for _ in range(8)]
    return export_onnx(x, y, dynamic_axes={"x": {0: "N"}}), samples


def int8_names(model):
    return {i.name for i in model.graph.initializer if i.data_type == onnx.TensorProto.INT8}


def test_weights(network, tmp_path):
    model, samples = network
    path = tmp_path / "int8.onnx"
    small = quantize_int8(model, path, sample=samples[0], tolerance=0.03)
    assert any(name.startswith("dense.weight") for name in int8_names(small))
    assert path.stat().st_size < model.ByteSize() / 2
    (wanted,), (result,) = (
        run(model, samples[0].values()),
        run(onnx.load(path), samples[0].values()),
    )
    assert 0 < np.abs(wanted - result).max() < 0.1 * np.abs(wanted).max()


def test_activations(network):
    model, samples = network
    small = quantize_int8(model, calibration=samples[1:], sample=samples[0], tolerance=0.05)
    assert {"QuantizeLinear", "DequantizeLinear", "Conv"} <= set(op_types(small))
    names = int8_names(small)
    assert any(name.startswith("conv.weight") for name in names)
    assert any(name.startswith("dense.weight") for name in names)


class Talking(list):
    """Says something whenever it is read."""

    def __iter__(self):
        logging.warning("a range is empty")
        return super().__iter__()


@pytest.mark.parametrize("calibrated", [False, True])
def test_no_advice_reaches_the_user(network, caplog, capfd, calibrated):
    """onnxruntime's to pre-process the model; what else it warns of is logged."""
    model, samples = network
    quantize_int8(model, calibration=Talking(samples[:2]) if calibrated else None)
    said = {record.getMessage() for record in caplog.records}
    assert said == ({"a range is empty"} if calibrated else set())
    assert not logging.getLogger().filters
    assert capfd.readouterr().out == ""


def test_nodes_can_stay(network):
    model, samples = network
    matmul = next(node.name for node in model.graph.node if node.op_type == "MatMul")
    small = quantize_int8(model, calibration=samples, exclude=[matmul])
    names = int8_names(small)
    assert any(name.startswith("conv.weight") for name in names)
    assert not any(name.startswith("dense.weight") for name in names)


def test_what_differs_too_much_is_refused(network, tmp_path):
    model, samples = network
    with pytest.raises(VerificationError, match=r"'output_0' of the int8 model differs by 0\.0"):
        quantize_int8(model, tmp_path / "x.onnx", sample=samples[0], tolerance=1e-4)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    # Without calibration a product's columns have scales of their own
    ("of", "calibrated"),
    [("matmul", True), ("conv", True), ("conv", False)],
)
def test_lost_channels_are_refused(of, calibrated):
    """The largest channels decide over the error of all; one that is 0 has no scale of its own."""
    rng, scales = np.random.default_rng(0), np.array([100, 10, 1, 0.01, 0], "float32")
    if of == "matmul":
        w, x = rng.normal(size=(32, 5)) * scales, pt.matrix("x", dtype="float32")
        y = x @ pytensor.shared(w.astype("float32"), name="w")
        value = rng.normal(size=(16, 32)).astype("float32")
    else:
        w = rng.normal(size=(5, 3, 3, 3)) * scales[:, None, None, None]
        x = pt.tensor("x", shape=(None, 3, 8, 8), dtype="float32")
        y = pt.nn.conv2d(x, pytensor.shared(w.astype("float32"), name="w"))
        value = rng.normal(size=(4, 3, 8, 8)).astype("float32")
    model, feed = export_onnx(x, y), {"x": value}
    samples = [feed] if calibrated else None
    with pytest.raises(VerificationError, match=r"channel 3 of .* \(axis 1\)"):
        quantize_int8(model, calibration=samples, sample=feed)
    quantize_int8(model, calibration=samples, sample=feed, tolerance=0.6)


def test_channels_are_compared_over_all_samples():
    """A channel that one sample hardly reaches has its scale from the others."""
    w = np.array([[1, 1e-5], [0, 1]], "float32")
    x = pt.matrix("x", shape=(1, 2), dtype="float32")
    model = export_onnx(x, x @ pytensor.shared(np.repeat(w, 16, axis=1), name="w"))
    first, second = ({"x": np.array([row], "float32")} for row in ([1, 0], [0.3, 0.9]))
    settings = {"calibration": [first, second], "tolerance": 0.05}
    with pytest.raises(VerificationError, match="channel 16"):
        quantize_int8(model, sample=first, **settings)
    quantize_int8(model, sample=[first, second], **settings)


def test_weights_that_two_nodes_read():
    """With the option that `quantize_int8` names, onnxruntime didn't open the file."""
    rng = np.random.default_rng(0)
    w = pytensor.shared(rng.normal(size=(3, 3, 3, 3)).astype("float32"), name="w")
    x = pt.tensor("x", shape=(1, 3, 8, 8), dtype="float32")
    y = [pt.nn.conv2d(x, w, padding=1), pt.nn.conv2d(pt.nn.max_pool2d(x, 2), w, padding=1)]
    feed = {"x": rng.normal(size=(1, 3, 8, 8)).astype("float32")}
    small = quantize_int8(export_onnx(x, y), calibration=[feed], sample=feed, tolerance=0.05)
    assert {"w_quantized", "w_1_quantized"} <= int8_names(small)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def foreign(text, opset=17, **weights):
    """Return a model as other programs write it."""
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {text}')
    model.graph.initializer.extend(onnx.numpy_helper.from_array(v, k) for k, v in weights.items())
    return model


X8 = "g (float[N,16] x) => (float[N,8] y)"
W8 = normal(16, 8)
STAYING = {
    "scaled bias": (f"{X8} {{ h = Gemm<beta=0.5>(x, w, b) y = MatMul(h, v) }}", normal(8)),
    "one bias": (f"{X8} {{ h = Gemm(x, w, b) y = MatMul(h, v) }}", normal(1)),
    "left": (
        "g (float[N,16] x) => (float[16,8] y) "
        "{ t = MatMul(x, w) h = MatMul(b, t) y = MatMul(h, v) }",
        normal(16, 4),
    ),
    "stacked": (f"{X8} {{ h = MatMul(x, w) k = MatMul(h, b) y = MatMul(k, v) }}", normal(1, 8, 8)),
    "vector": (
        "g (float[N,16] x) => (float[N,8] y, float[N] s) "
        "{ h = MatMul(x, w) y = MatMul(h, v) s = MatMul(y, b) }",
        normal(8),
    ),
}


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("case", STAYING)
def test_products_that_onnxruntime_quantizes_wrongly(case, calibrated):
    """They stay in float32; others in the model don't."""
    text, b = STAYING[case]
    model = foreign(text, w=W8, b=b, v=normal(8, 8))
    feed = {"x": normal(4, 16)}
    small = quantize_int8(
        model, calibration=[feed] if calibrated else None, sample=feed, tolerance=0.03
    )
    assert "v_quantized" in int8_names(small)


def test_grouped_transposed_convolutions_stay():
    text = """g (float[N,4,5,5] x) => (float[N,6,7,7] y) {
        h = ConvTranspose<group=2, kernel_shape=[3,3]>(x, w) y = Conv(h, v) }"""
    model = foreign(text, w=normal(4, 3, 3, 3), v=normal(6, 6, 1, 1))
    feed = {"x": normal(2, 4, 5, 5)}
    small = quantize_int8(model, calibration=[feed], sample=feed)
    assert int8_names(small) == {"v_quantized", "v_zero_point"}


def test_gemm_that_is_excluded_without_calibration():
    model = foreign(f"{X8} {{ [first] h = Gemm(x, w) y = Gemm(h, v) }}", w=W8, v=normal(8, 8))
    small = quantize_int8(model, exclude=["first"])
    assert int8_names(small) == {"v_quantized", "v_zero_point"}


@pytest.mark.parametrize("calibrated", [False, True])
@pytest.mark.parametrize("node", ["MatMul(x, w)", "Gemm<transB=1>(x, w)"])
def test_weights_that_others_read(node, calibrated):
    """Others read the model's own, and onnxruntime opens the file with the option."""
    w = np.ascontiguousarray(W8.T) if "transB" in node else W8
    text = f"g (float[N,16] x) => (float[N,8] y, float[P,Q] u) {{ y = {node} u = Identity(w) }}"
    model, feed = foreign(text, w=w), {"x": normal(4, 16)}
    calibration = [feed] if calibrated else None
    small = quantize_int8(model, calibration=calibration, sample=feed, tolerance=0.03)
    np.testing.assert_array_equal(run(small, feed.values())[1], w)


def test_an_output_that_relu_reads():
    """onnxruntime gave it the range of what Relu makes of it."""
    text = "g (float[N,16] x) => (float[N,8] h, float[N,8] y) { h = MatMul(x, w) y = Relu(h) }"
    model, feed = foreign(text, w=W8), {"x": normal(4, 16)}
    small = quantize_int8(model, calibration=[feed], sample=feed, tolerance=0.03)
    h, y = run(small, feed.values())
    assert (h < 0).any()
    np.testing.assert_array_equal(y >= 0, True)


BRANCHES = """{ a = %s r = Relu(a) s = ReduceMax<keepdims=0>(r) c = Greater(s, zero)
    y = If(c) <then_branch = t () => (float[N,16] o) { m = MatMul(r, w) o = Add(a, m) },
               else_branch = e () => (float[N,16] p) { p = Neg(a) }> }"""


@pytest.mark.parametrize(
    ("product", "calibrated"), [("Gemm<transB=1>(x, w)", False), ("MatMul(x, w)", True)]
)
def test_bodies_read_what_they_read(product, calibrated):
    """onnxruntime's tools transposed the weights, or dropped the value before Relu."""
    text = f"g (float[N,16] x) => (float[N,16] y) {BRANCHES % product}"
    model, feed = foreign(text, w=normal(16, 16), zero=np.float32(0)), {"x": normal(4, 16)}
    calibration = [feed] if calibrated else None
    small = quantize_int8(model, calibration=calibration, sample=feed, tolerance=0.05)
    (y,), (wanted,) = (run(m, feed.values()) for m in (small, model))
    np.testing.assert_allclose(y, wanted, atol=0.05 * np.abs(wanted).max())


def test_weights_of_constant_nodes():
    model = foreign(f"{X8} {{ y = MatMul(x, w) }}")
    constant = onnx.helper.make_node("Constant", [], ["w"], value=onnx.numpy_helper.from_array(W8))
    model.graph.node.insert(0, constant)
    feed = {"x": normal(4, 16)}
    small = quantize_int8(model, calibration=[feed], sample=feed, tolerance=0.03)
    assert "w_quantized" in int8_names(small)


@pytest.mark.parametrize("value", [-1e9, -np.inf, np.finfo("float32").min])
def test_masks_of_a_softmax(value):
    """8 bits from -1e9 to the largest score made all scores 0."""
    x = pt.matrix("x", dtype="float32")
    scores = x @ pytensor.shared(W8, name="w")
    masked = pt.switch(pt.tri(16, 8, dtype="bool"), scores, np.float32(value))
    outputs = [pt.special.softmax(masked, axis=1)]
    if value == -1e9:
        mask = (1 - pt.tri(16, 8, dtype="float32")) * np.float32(value)
        outputs.append(pt.special.softmax(scores + mask, axis=1))
    feed = {"x": normal(16, 16)}
    model = export_onnx(x, outputs)
    small = quantize_int8(model, calibration=[feed], sample=feed, tolerance=0.1)
    for shares, wanted in zip(run(small, feed.values()), run(model, feed.values()), strict=True):
        np.testing.assert_allclose(shares, wanted, atol=0.1)
        assert shares[np.triu_indices(16, 1, 8)].max() < 1e-3


def test_old_opsets_need_another_for_calibration():
    model = foreign(f"{X8} {{ y = MatMul(x, w) }}", 12, w=W8)
    with pytest.raises(ValueError, match=r"is of opset 12, .*convert_version\(model, 13\)"):
        quantize_int8(model, calibration=[{"x": normal(4, 16)}])


def test_bad_input(network):
    model, _ = network
    with pytest.raises(ValueError, match=r"calibration\[0\] has values for \['y'\]"):
        quantize_int8(model, calibration=[{"y": np.zeros(3)}])
    x = pt.vector("x", dtype="float32")
    with pytest.raises(ValueError, match="no weights"):
        quantize_int8(export_onnx(x, pt.exp(x)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_calibration_that_is_not_finite(network, value):
    """onnxruntime would pass over the NaN, and give the input an infinite scale."""
    model, samples = network
    broken = {"x": samples[1]["x"].copy()}
    broken["x"][0, 0, 0, 0] = value
    with pytest.raises(ValueError, match=r"calibration\[1\] has values of 'x' that aren't finite"):
        quantize_int8(model, calibration=[samples[0], broken])


def test_activations_that_are_not_finite():
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.eye(16, dtype="float32"), name="w")
    model = export_onnx(x, pt.exp(x) @ w)
    feeds = [{"x": np.full((1, 16), value, "float32")} for value in (1, 100)]
    with pytest.raises(ValueError, match="isn't finite for a calibration input"):
        quantize_int8(model, calibration=feeds)


def test_calibration_of_nothing(network):
    model, samples = network
    with pytest.raises(ValueError, match="calibration is empty"):
        quantize_int8(model, calibration=[])
    once = (sample for sample in samples)
    assert "QuantizeLinear" in op_types(quantize_int8(model, calibration=once))


@pytest.mark.parametrize("exclude", [["conv2d_17"], "MatMul"])
def test_nodes_that_are_not_there(network, exclude):
    """A name with a slip would leave its node in integers without a word."""
    model, samples = network
    with pytest.raises(ValueError, match="exclude"):
        quantize_int8(model, calibration=samples, exclude=exclude)


def test_parameters_that_are_inputs_need_no_calibration():
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.eye(16, dtype="float32"), name="w")
    model = export_onnx(x, x @ w, initializers="inputs")
    feed = {"x": np.linspace(-1, 1, 32, dtype="float32").reshape(2, 16)}
    small = quantize_int8(model, calibration=[feed], sample=feed, tolerance=0.02)
    assert "QuantizeLinear" in op_types(small)


def test_weights_in_another_file(tmp_path):
    x = pt.matrix("x", dtype="float32")
    w = pytensor.shared(np.eye(32, dtype="float32"), name="w")
    path = tmp_path / "m.onnx"
    model = export_onnx(x, x @ w, path, external_data=True)
    with pytest.raises(ValueError, match="give the model's path"):
        quantize_int8(model)
    assert int8_names(quantize_int8(path))
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match="no ONNX model, or a file that was cut off"):
        quantize_int8(path)


def test_half_weights(network):
    model, samples = network
    half = half_weights(model)
    kinds = {w.name: w.data_type for w in half.graph.initializer}
    assert kinds["conv.weight_float16"] == kinds["dense.weight_float16"] == onnx.TensorProto.FLOAT16
    assert len(half.SerializeToString()) < 0.55 * len(model.SerializeToString())
    assert (half.graph.input, half.graph.output) == (model.graph.input, model.graph.output)
    assert op_types(half) == ["Cast", "Cast", *op_types(model)]
    (wanted,), (result,) = (run(m, samples[0].values()) for m in (model, half))
    assert result.dtype == np.float32
    assert 0 < np.abs(result - wanted).max() < 1e-3 * np.abs(wanted).max()
    assert op_types(half_weights(model, exclude=["conv.weight"])) == ["Cast", *op_types(model)]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.ones((15, 17)), onnx.TensorProto.FLOAT),  # one value less than the limit
        (np.ones((16, 16)), onnx.TensorProto.FLOAT16),
        (np.full((16, 16), 1e5), onnx.TensorProto.FLOAT),  # float16 ends at 65504
        (np.full((16, 16), np.nan), onnx.TensorProto.FLOAT),
        (np.full((16, 16), 1e-5), onnx.TensorProto.FLOAT),  # all would lose digits
        (np.full((16, 16), 1e-9), onnx.TensorProto.FLOAT),  # all would be zeros
        (np.diag(np.full(16, 0.5)) + 1e-9, onnx.TensorProto.FLOAT16),
        (np.zeros((16, 16)), onnx.TensorProto.FLOAT16),
    ],
)
def test_weights_that_stay(value, kind):
    w = pytensor.shared(value.astype("float32"), name="w")
    x = pt.matrix("x", dtype="float32")
    [weight] = half_weights(export_onnx(x, x @ w)).graph.initializer
    assert weight.data_type == kind


@pytest.mark.parametrize("integers", [False, True])
def test_a_graph_that_is_optimized_ahead(network, integers, tmp_path):
    """It has the weights out of the model's file, and gives what the model gives."""
    model, samples = network
    if integers:
        model = quantize_int8(model, calibration=samples)
    onnx.save(model, tmp_path / "model.onnx")
    graph = optimized_graph(tmp_path / "model.onnx", "model.onnx")
    assert ("QLinearConv" in op_types(graph)) == integers
    onnx.save(graph, tmp_path / "graph.onnx")
    assert (tmp_path / "graph.onnx").stat().st_size < 0.4 * (tmp_path / "model.onnx").stat().st_size
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(tmp_path / "graph.onnx", options)
    (wanted,) = run(model, samples[0].values())
    np.testing.assert_allclose(session.run(None, samples[0])[0], wanted, rtol=1e-5, atol=1e-5)
