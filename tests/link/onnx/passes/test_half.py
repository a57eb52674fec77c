import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import VerificationError, export_onnx
from tests.link.onnx.test_basic import op_types, run
from tests.utils import REFERENCE_MODE


@pytest.fixture
def network():
    rng = np.random.default_rng(0)

    def parameter(name, *shape):
        return pytensor.shared(rng.normal(size=shape).astype("float32") / 3, name=name)

    x = pt.tensor("x", shape=(None, 3, 10, 12), dtype="float32")
    h = pt.conv2d(x, parameter("conv.weight", 4, 3, 3, 2), subsample=(2, 1), border_mode="half")
    h = pt.silu(h + parameter("conv.bias", 4)[None, :, None, None])
    h = pt.resize(h, scale=(2, 2), mode="linear")
    h = pt.nn.max_pool2d(h, 2).mean(axis=(2, 3))
    y = pt.special.softmax(h @ parameter("dense.weight", 4, 5), axis=1)
    return x, [y, h, pt.argmax(y, axis=1)], rng.normal(size=(2, 3, 10, 12)).astype("float32")


def dtypes(model):
    return {i.name: dtype_name(i.data_type) for i in model.graph.initializer}


def dtype_name(number):
    return helper.tensor_dtype_to_np_dtype(number).name


def test_network(network):
    x, outputs, images = network
    single = export_onnx([x], outputs, opset_version=24)
    half = export_onnx([x], outputs, opset_version=24, half=True, verify=[images])
    for name in ("conv.weight", "conv.bias", "dense.weight"):
        assert dtypes(single)[name] == "float32"
        assert dtypes(half)[name] == "float16"
    assert [o.type for o in half.graph.output] == [o.type for o in single.graph.output]
    assert half.graph.input == single.graph.input
    wanted, results = run(single, [images]), run(half, [images])
    assert np.abs(wanted[0] - results[0]).max() < 5e-3
    # It is another precision, and so are other digits.
    assert np.abs(wanted[1] - results[1]).max() > 1e-7
    infos = half.graph.value_info
    types = {info.name: dtype_name(info.type.tensor_type.elem_type) for info in infos}
    assert "float16" in types.values()
    softmax = next(node for node in half.graph.node if node.op_type == "Softmax")
    assert types.get(softmax.input[0], "float32") == "float32"


def test_what_is_kept_can_be_chosen(network):
    x, outputs, _ = network
    everything = export_onnx([x], outputs[0], half=["Conv"])
    assert dtypes(everything)["conv.weight"] == "float32"
    assert dtypes(everything)["dense.weight"] == "float16"
    nothing = export_onnx([x], outputs[0], half=[])
    assert dtypes(nothing)["dense.weight"] == "float16"
    casts = [node for node in nothing.graph.node if node.op_type == "Cast"]
    assert len(casts) == 5, "the input's, the output's, a length's and two around its division"


def test_constants_that_float16_does_not_hold_stay():
    x = pt.vector("x", dtype="float32")
    y = pt.switch(x > 1, x, np.float32(-1e9))
    z = x / (pt.abs(x) + np.float32(1e-12))
    infinite = pt.switch(x > 1, x, np.float32(-np.inf))
    model = export_onnx([x], [y, z, infinite], half=True, verify=[[0.0, 2.0, -3.0]])
    assert "float32" in dtypes(model).values()


def test_shared_initializers_are_converted_at_run_time():
    w = pytensor.shared(np.float32([0.1, 0.2]), name="w")
    x = pt.vector("x", dtype="float32")
    model = export_onnx([x], pt.tanh(x) * w, half=True, initializers="inputs", verify=[[1, 2]])
    assert dtypes(model) == {"w": "float32"}
    assert op_types(model) == ["Cast", "Tanh", "Cast", "Mul", "Cast"]


def test_integers_and_doubles_stay():
    x, n = pt.vector("x", dtype="float64"), pt.lvector("n")
    model = export_onnx([x, n], [x * 2, n * 2], half=True, verify=[[0.1], [2**40]])
    assert op_types(model) == ["Mul", "Mul"]


def test_verify_finds_what_half_precision_cannot_do():
    x = pt.vector("x", dtype="float32")
    # float16 has 1.0 for 1.0002.
    y = x * np.float32(1.0002) - x
    export_onnx([x], y, verify=[[1, 2]], optimize=False)
    with pytest.raises(VerificationError, match="in half precision, output 'output_0' differs"):
        export_onnx([x], y, half=True, optimize=False, verify=[[1.0, 2.0]])


@pytest.mark.parametrize("half", ["Exp", ["exp"], ["NoSuchOperator"], 3])
def test_wrong_operators(half):
    x = pt.vector("x", dtype="float32")
    with pytest.raises(ValueError, match="names of ONNX operators"):
        export_onnx([x], pt.exp(x), half=half)


def test_increments():
    x, i = pt.vector("x", dtype="float32"), pt.lvector("i")
    outputs = [pt.inc_subtensor(x[1:], x[:-1]), x[i].inc(np.float32(1.5)), pt.grad(x[i].sum(), x)]
    for half in (True, []):
        export_onnx([x, i], outputs, half=half, verify=[[1, 2, 3], [0, 2, 2]])


def test_sums_are_divided_before_they_are_rounded():
    x = pt.vector("x", dtype="float32")
    rows = pt.tensor("rows", shape=(None, 70_000), dtype="float32")
    outputs = [
        x / pt.sqrt(pt.sqr(x).sum()),
        x.mean(),
        rows.mean(axis=1, keepdims=True),
        (rows - 1) / rows.sum(axis=1)[:, None],
        x.argmax().astype("float32"),
        (x > 0).sum().astype("float32") + 1,
    ]
    value = np.linspace(1, 2, 70_000, dtype="float32")
    model = export_onnx([x, rows], outputs, half=True)
    results = run(model, [value, value[None]])
    expected = run(export_onnx([x, rows], outputs), [value, value[None]])
    for result, wanted in zip(results[1:5], expected[1:5], strict=True):
        np.testing.assert_allclose(result, wanted, rtol=2e-3, atol=1e-7)
    # What an output has in half precision is no larger than float16 is.
    assert np.linalg.norm(results[0]) == pytest.approx(1, 1e-2)


ROWS = pt.matrix("rows", dtype="float32")
LARGE = np.full((2, 1000), 100, "float32")
IDS = np.array([[2048, 2049, 7e4]], "float32")
NORM = pt.sqrt(pt.sqr(ROWS).sum(axis=1, keepdims=True))
BEYOND = {
    "moved": (ROWS.T, IDS),
    "compared": (pt.eq(ROWS, 2049), IDS),
    "cast": (ROWS.astype("int64"), IDS),
    "scaled": (ROWS / np.float32(65535), np.float32([[0, 65535]])),
    "sliced": (pt.cumsum(ROWS, axis=1)[:, -1] / 1000, LARGE),
    "bounded": (ROWS / pt.maximum(ROWS.sum(axis=1, keepdims=True), 1), LARGE),
    "wide": (pt.sigmoid(ROWS.sum(axis=1).astype("float64") / 1e5), LARGE),
    "counted": (ROWS.mean(), np.ones((300, 300), "float32")),
    "mean square": (
        ROWS / pt.sqrt(pt.mean(pt.sqr(ROWS), axis=1, keepdims=True) + np.float32(1e-6)),
        LARGE * 10,
    ),
    "mean square in double": (ROWS / pt.sqrt(pt.mean(pt.sqr(ROWS), axis=1)[:, None]), LARGE * 5),
    "nothing": (pt.tanh(ROWS) / (NORM + np.float32(1e-12)), LARGE * 0),
    "exponential": (pt.exp(ROWS) * np.float32(1e-4), LARGE / 8),
    "position": (
        pt.sin(pt.arange(ROWS.shape[1]).astype("float32") * np.float32(3)),
        np.zeros((1, 3000), "float32"),
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_values_that_float16_does_not_hold_on_the_way(case):
    y, value = BEYOND[case]
    # onnxruntime computes much of this in float32 on a CPU
    (result,) = ReferenceEvaluator(export_onnx([ROWS], y, half=True)).run(None, {"rows": value})
    wanted = y.eval({ROWS: value}, mode=REFERENCE_MODE)
    np.testing.assert_allclose(result, wanted, rtol=2e-3, atol=1e-3)
