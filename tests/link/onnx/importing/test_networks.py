"""Layers of networks through `from_onnx`: gradients, updates, integers, static shapes."""

import numpy as np
import pytest

from pytensor import function
from pytensor.compile.mode import Mode
from pytensor.gradient import verify_grad
from pytensor.link.onnx import from_onnx
from pytensor.link.onnx.verify import run
from tests.link.onnx.importing.with_onnxruntime import PYTHON, compare, in_pytensor, parsed

FAST = Mode("py", "fast_compile")


def numbers(seed, *shapes, low=-1.0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(low, 1, shape) for shape in shapes]


def assert_as_onnxruntime(model, *values, exact=False):
    compare(model, values, rtol=0 if exact else 2e-5, atol=0 if exact else 2e-6)


DIFFERENTIABLE = {
    "arithmetic": (
        "h = Gemm<alpha=2.0, transB=1>(x, w) c = Clip(h, low) m = ReduceMean(c, rows)"
        "d = Sub(c, m) s = Mul(d, d) y = ReduceL2<keepdims=0>(s)",
        {"x": (3, 2), "w": (2, 2)},
        {"low": np.array(-1.0), "rows": np.array([0])},
    ),
    "indices": (
        "t = Gather(x, rows) p = Reshape(t, pairs) s = Slice(p, one, end, one)"
        "y = Squeeze(s, one)",
        {"x": (2, 4)},
        {
            "rows": np.array([-1, 0, -1]),
            "pairs": np.array([-1, 2]),
            "one": np.array([1]),
            "end": np.array([2**63 - 1]),
        },
    ),
    "transposed convolution": (
        "y = ConvTranspose<strides=[2,3], output_padding=[1,0], pads=[0,1,1,0]>(x, w)",
        {"x": (2, 2, 3, 2), "w": (2, 3, 3, 4)},
        {},
    ),
    "deformable convolution": (
        "y = DeformConv<pads=[1,0,0,1]>(x, w, offset)",
        {"x": (1, 2, 3, 4), "w": (2, 2, 2, 2), "offset": (1, 8, 3, 4)},
        {},
    ),
    "average pooling": (
        "y = AveragePool<kernel_shape=[2,3], strides=[2,1], pads=[0,1,1,0], ceil_mode=1>(x)",
        {"x": (1, 2, 5, 4)},
        {},
    ),
    "layer normalization": (
        "y = LayerNormalization<stash_type=11>(x, scale, bias)",
        {"x": (3, 4), "scale": (4,), "bias": (3, 1)},
        {},
    ),
    "sampling": (
        'y = GridSample<padding_mode="reflection">(x, grid)',
        {"x": (2, 1, 3, 4), "grid": (2, 2, 3, 2)},
        {},
    ),
    "cross-entropy": (
        'y = SoftmaxCrossEntropyLoss<ignore_index=-1>(x, labels, weights)',
        {"x": (4, 3)},
        {"labels": np.array([0, 2, -1, 1]), "weights": np.array([1.0, 2.0, 0.5])},
    ),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_those_of_differences(name):
    body, shapes, constants = DIFFERENTIABLE[name]
    inputs = ", ".join(f"double{list(shape)} {name}" for name, shape in shapes.items())
    probe = parsed(f"({inputs}) => (y) {{ {body} }}", 23, **constants)
    values = numbers(sum(map(ord, name)), *shapes.values())

    def outputs(*variables):
        imported = from_onnx(probe, dict(zip(shapes, variables, strict=True)))
        return imported.outputs["y"]

    verify_grad(outputs, values, rng=np.random.default_rng(1), mode=FAST)


def test_running_statistics_become_updates():
    model = parsed(
        """(double[N, 2, W] x) => (double[N, 2, W] y, double[2] m)
        { y, m, v = BatchNormalization<training_mode = 1, momentum = 0.75>
            (x, scale, bias, mean, var)
        }""",
        22,
        scale=np.ones(2),
        bias=np.zeros(2),
        mean=np.array([1.0, 2.0]),
        var=np.array([3.0, 4.0]),
    )
    imported = from_onnx(model, trainable=["mean", "var"])
    mean, var = imported.parameters["mean"], imported.parameters["var"]
    assert set(imported.updates) == {mean, var}
    (x,) = numbers(0, (3, 2, 5))
    inputs, outputs = [imported.inputs["x"]], imported.outputs["m"]
    step = function(inputs, outputs, updates=imported.updates, mode=PYTHON)
    np.testing.assert_allclose(step(x), mean.get_value())
    np.testing.assert_allclose(mean.get_value(), 0.75 * np.r_[1, 2] + 0.25 * x.mean((0, 2)))
    np.testing.assert_allclose(var.get_value(), 0.75 * np.r_[3, 4] + 0.25 * x.var((0, 2)))
    assert not from_onnx(model).updates


def test_integers_of_a_quantized_convolution_are_those_of_onnxruntime():
    rng = np.random.default_rng(2)
    model = parsed(
        """(uint8[N, 4, H, W] x) => (uint8[N, 6, K, L] y)
        { y = QLinearConv<pads = [1, 0, 2, 1], strides = [2, 1], dilations = [1, 2], group = 2>
            (x, xs, xz, w, ws, wz, ys, yz, b) }""",
        22,
        xs=np.float32(0.02),
        xz=np.uint8(131),
        w=rng.integers(-128, 128, (6, 2, 3, 2), "int8"),
        ws=rng.uniform(0.001, 0.02, 6).astype("float32"),
        wz=np.zeros(6, "int8"),
        ys=np.float32(0.05),
        yz=np.uint8(120),
        b=rng.integers(-5000, 5000, 6, "int32"),
    )
    x = rng.integers(0, 256, (2, 4, 9, 7), "uint8")
    # Without its optimizations, onnxruntime cuts sums of two products off at 16 bits
    (wanted,) = run(model.SerializeToString(), None, {"x": x})
    np.testing.assert_array_equal(in_pytensor(model, [x])[0], wanted, strict=True)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint16", "int16"])
def test_quantizing_is_that_of_onnxruntime(dtype):
    limits = np.iinfo(dtype)
    zero = limits.min // 2 + limits.max // 2 - 1
    model = parsed(
        f"""(float[2, N] x) => ({dtype}[2, N] q, float[2, N] y)
        {{ q = QuantizeLinear<axis = 0>(x, s, z) y = DequantizeLinear<axis = 0>(q, s, z) }}""",
        22,
        s=np.array([0.5, 3], "float32"),
        z=np.array([zero, limits.max], dtype),
    )
    ties = np.arange(-9, 9, dtype="float32") * 0.25
    x = np.r_[ties, ties * 1e4, 3e38, -3e38].astype("float32")
    assert_as_onnxruntime(model, np.stack([x, x]), exact=True)


def test_products_of_integers_do_not_pass_through_floating_point():
    a, b = np.full((1, 1200), 255, "uint8"), np.full((1200, 2), 255, "uint8")
    b[-1, 1] = 254
    text = "(uint8[1, 1200] a, uint8[1200, 2] b) => (int32[1, 2] y) { y = MatMulInteger(a, b) }"
    (y,) = in_pytensor(parsed(text), [a, b])
    np.testing.assert_array_equal(y, [[255 * 255 * 1200, 255 * 255 * 1200 - 255]])


@pytest.mark.parametrize(
    ("operator", "gates", "more"),
    [
        ("RNN", 1, 'activations=["LeakyRelu","HardSigmoid"], activation_alpha=[0.3,0.4]'),
        ("GRU", 3, "linear_before_reset=1"),
        ("GRU", 3, "clip=0.4"),
        ("LSTM", 4, "input_forget=1"),
    ],
)
def test_sequences_of_different_lengths(operator, gates, more):
    x, w, r, b = numbers(3, (5, 3, 2), (2, gates * 4, 2), (2, gates * 4, 4), (2, gates * 8))
    model = parsed(
        f"""(float[5, 3, 2] x) => (float[5, 2, 3, 4] y, float[2, 3, 4] h)
        {{ y, h = {operator}<hidden_size = 4, direction = "bidirectional", {more}>
            (x, w, r, b, lens) }}""",
        22,
        lens=np.array([3, 5, 1], "int32"),
        **{name: v.astype("float32") for name, v in {"w": w, "r": r, "b": b}.items()},
    )
    assert_as_onnxruntime(model, x.astype("float32"))


def test_what_is_ignored_may_be_infinite():
    model = parsed("""(float[2, 2] x) => (float y) <int64[2] t = {7, 1}>
        { y = NegativeLogLikelihoodLoss<ignore_index = 7>(x, t) }""")
    (y,) = in_pytensor(model, [np.array([[-np.inf, 0], [-1, -0.5]], "float32")])
    assert y == 0.5


def test_pooling_beside_axes_that_are_left_alone():
    # as jax2onnx writes the pooling of images whose channels come last
    model = parsed("""(float[1, 1, N, 4, 5, 2] x) => (float[A, B, C, D, E, F] y)
        { y = MaxPool<kernel_shape = [1, 2, 3, 1], strides = [1, 1, 2, 1]>(x) }""")
    (x,) = numbers(6, (1, 1, 3, 4, 5, 2))
    (y,) = in_pytensor(model, [x.astype("float32")])
    seen = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (3, 4))[..., ::2, :, :, :]
    np.testing.assert_array_equal(y, seen.max((-2, -1)).astype("float32"))


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ('y = Conv<auto_pad="SAME_LOWER">(x, w)', (None, 6, 8, 9)),
        ("y = ConvTranspose<strides=[2,2], group=2>(x, v)", (None, 2, 17, 19)),
        ("y = MaxPool<kernel_shape=[3,2], strides=[2,2], ceil_mode=1>(x)", (None, 4, 4, 5)),
        ('y = Resize<mode="linear">(x, , scales)', (None, 4, 16, 13)),
        ("y = BatchNormalization(x, one, one, one, one)", (None, 4, 8, 9)),
        ("y = LRN<size=3>(x)", (None, 4, 8, 9)),
        ("y = GlobalAveragePool(x)", (None, 4, 1, 1)),
        ("y = CenterCropPad<axes=[2,3]>(x, size)", (None, 4, 5, 11)),
        # As another image's
        ("s = Shape<end=2>(x) z = Concat<axis=0>(s, size) y = Resize(x, , , z)", (None, 4, 5, 11)),
    ],
)
def test_static_shapes_are_kept(body, shape):
    constants = {
        "w": np.ones((6, 4, 3, 2), "float32"),
        "v": np.ones((4, 1, 3, 3), "float32"),
        "one": np.ones(4, "float32"),
        "scales": np.array([1, 1, 2, 1.5], "float32"),
        "size": np.array([5, 11]),
    }
    model = parsed(f"(float[N, 4, 8, 9] x) => (float[N, A, B, C] y) {{ {body} }}", 22, **constants)
    assert from_onnx(model).outputs["y"].type.shape == shape
