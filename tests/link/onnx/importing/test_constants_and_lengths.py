"""What strangers' files leave to run time: lengths, constants, dtypes that PyTensor lacks."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import ImportedOpError, from_onnx
from tests.link.onnx.importing import with_onnxruntime
from tests.link.onnx.importing.with_onnxruntime import parsed

IMAGE = np.arange(24, dtype="float32").reshape(1, 2, 3, 4)


def compare(proto, *values, mode="FAST_COMPILE"):
    """Compare all outputs with onnxruntime's."""
    with_onnxruntime.compare(proto, values, mode, atol=1e-5)


VIEW = "m = Constant<value_ints = [-1]>() to = Concat<axis = 0>(m, n) q = Reshape(p, to)"
EXPAND = """one = Div(b, b) to = Concat<axis = 0>(one, n) q = Expand(p, to)"""
SLICE = """i = Constant<value_ints = [0]>() j = Constant<value_ints = [1]>()
    all = Expand(p, s) q = Slice(all, i, j, i)"""


@pytest.mark.parametrize("made", [VIEW, EXPAND, SLICE])
def test_lengths_of_one_that_the_graph_computes(made):
    """Positions of one row are added to each of a batch; the batch's length is open."""
    proto = parsed(f"""(float[B, L] x) => (float[B, L] y) {{
        s = Shape(x) b = Shape<start = 0, end = 1>(x) n = Shape<start = 1, end = 2>(x)
        k = Squeeze(n) z = Constant<value_int = 0>() o = Constant<value_int = 1>()
        r = Range(z, k, o) p = Cast<to = 1>(r) {made} y = Add(q, x) }}""")
    for rows in (1, 3):
        compare(proto, np.ones((rows, 4), "float32"))
    read = from_onnx(proto)
    x, y = read.inputs["x"], read.outputs["y"]
    f = pytensor.function([x], pytensor.grad((y**2).sum(), x), mode="FAST_COMPILE")
    value = np.ones((3, 4), "float32")
    np.testing.assert_allclose(f(value), 2 * (value + np.arange(4, dtype="float32")))


@pytest.mark.parametrize(
    ("kind", "reader"),
    [
        *((kind, "Cast") for kind in ("INT4", "UINT4", "BFLOAT16", "FLOAT8E4M3FN")),
        *((kind, "DequantizeLinear") for kind in ("INT4", "UINT4", "FLOAT8E4M3FN")),
    ],
)
def test_weights_of_dtypes_that_pytensor_lacks(kind, reader):
    numbers = {"INT4": [1, -2, 3, -8], "UINT4": [1, 2, 3, 15]}.get(kind, [1, -2, 0.5, 200])
    weights = helper.make_tensor("w", getattr(TensorProto, kind), [2, 2], numbers)
    read = "DequantizeLinear(w, s)" if reader == "DequantizeLinear" else "Cast<to = 1>(w)"
    text = f"(float[2, 2] x) => (float[2, 2] y) {{ d = {read} y = MatMul(x, d) }}"
    proto = parsed(text, 21, s=np.float32(0.5))
    proto.graph.initializer.append(weights)
    compare(proto, np.eye(2, dtype="float32"))


def test_inputs_that_must_be_known():
    """The error shows the line that helps; a constant is no input any more."""
    proto = parsed("(float[2, 1, 3] x, int64[1] axes) => (float[2, 3] y) { y = Squeeze(x, axes) }")
    with pytest.raises(ImportedOpError, match=r'from_onnx inputs=\{"axes": numpy.array'):
        from_onnx(proto)
    read = from_onnx(proto, inputs={"axes": np.array([1])})
    assert list(read.inputs) == ["x"]
    assert read.outputs["y"].type.shape == (2, 3)


def test_what_depends_on_lengths_needs_no_value():
    proto = parsed("""(float[N] x) => (float[K] y)
        { n = Shape(x) s = Cast<to = 1>(n) z = Cast<to = 7>(s) y = CumSum(x, z) }""")
    with pytest.raises(ImportedOpError) as caught:
        from_onnx(proto)
    assert "inputs=" not in str(caught.value)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("places", ["asymmetric", "align_corners", "half_pixel"])
def test_resize_to_the_size_of_another(mode, places):
    proto = parsed(f"""(float[1, 2, H, W] x, float[1, 2, H2, W2] like) => (float[1, 2, H3, W3] y) {{
        size = Shape(like)
        y = Resize<mode = "{mode}", coordinate_transformation_mode = "{places}",
                   nearest_mode = "floor">(x, , , size) }}""")
    for shape in ((1, 2, 6, 8), (1, 2, 2, 5), (1, 2, 3, 4)):
        compare(proto, IMAGE, np.zeros(shape, "float32"))


def test_resize_of_empty_scales():
    """Scales of opset 11 may be an input declared to be empty."""
    proto = parsed("""(float[1, 2, 3, 4] x, float[0] scales, int64[4] size)
        => (float[N, C, H, W] y) { y = Resize(x, , scales, size) }""", 13)
    read = from_onnx(proto, inputs={"size": np.array([1, 2, 6, 8])})
    assert read.outputs["y"].type.shape == (1, 2, 6, 8)


def test_rows_of_an_open_axis():
    proto = parsed("""(float[N, 3] x) => (float[3] first, float[M] row, int64 n) {
        s = SplitToSequence<axis = 0, keepdims = 0>(x) k = Constant<value_int = -1>()
        last = SequenceAt(s, k) first = Identity(last) n = SequenceLength(s)
        t = SplitToSequence<axis = 0>(x) j = ConcatFromSequence<axis = 1>(t)
        z = Constant<value_ints = [0]>() row = Squeeze(j, z) }""")
    compare(proto, np.arange(12, dtype="float32").reshape(4, 3))
    for keepdims, axis, new in ((0, 1, 1), (0, 0, 0), (1, 2, 1), (1, -1, 0)):
        proto = parsed(f"""(float[2, N] x) => (float[K, L] y) {{
            s = SplitToSequence<axis = 1, keepdims = {keepdims}>(x)
            j = ConcatFromSequence<axis = {axis}, new_axis = {new}>(s)
            t = Constant<value_ints = [-1, 2]>() y = Reshape(j, t) }}""")
        compare(proto, np.arange(6, dtype="float32").reshape(2, 3))


def test_squeeze_of_an_axis_that_may_be_one():
    """A product decides: its factor has two axes."""
    proto = parsed("""(float[N, 3, 4, 4] x) => (float[N, 5] y) {
        p = GlobalAveragePool(x) q = Squeeze(p) w = Constant<value_ints = [3, 5]>()
        o = ConstantOfShape<value = float[1] {2.0}>(w) y = Gemm(q, o) }""")
    compare(proto, np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("float32"))


@pytest.mark.parametrize("opset", [1, 6])
def test_dropout_of_nothing(opset):
    proto = parsed("(float[N] x) => (float[N] y) { y = Dropout<ratio = 0.0>(x) }", opset)
    (y,) = with_onnxruntime.in_pytensor(proto, [np.ones(2, "float32")])
    assert y.tolist() == [1, 1]


def test_image_scaler_and_labels_of_old_opsets():
    scaler = parsed("""(float[1, 2, 3, 4] x) => (float[1, 2, 3, 4] y)
        { y = ImageScaler<scale = 0.5, bias = [1.0, 2.0]>(x) }""", 9)
    read = from_onnx(scaler)
    result = read.outputs["y"].eval({read.inputs["x"]: IMAGE}, mode="FAST_COMPILE")
    np.testing.assert_allclose(result, IMAGE / 2 + np.array([1, 2])[:, None, None])
    labels = parsed("""(int64[3] x) => (string[3] y)
        { y = ai.onnx.ml.LabelEncoder<classes_strings = ["a", "b"], default_string = "?">(x) }""",
        domains=', "ai.onnx.ml": 1')  # fmt: skip
    read = from_onnx(labels)
    found = read.outputs["y"].eval({read.inputs["x"]: [1, 0, 7]}, mode="FAST_COMPILE")
    assert [read.strings[i] for i in found] == ["b", "a", "?"]


def test_interpolate_to_computed_sizes():
    x, like = (pt.tensor(shape=(1, 2, None, None), dtype="float32") for _ in range(2))
    y = pt.nn.interpolate(x, size=(like.shape[2], like.shape[3]))
    f = pytensor.function([x, like], [y, pytensor.grad(y.sum(), x)], mode="FAST_COMPILE")
    result, gradient = f(IMAGE, np.zeros((1, 2, 6, 8), "float32"))
    np.testing.assert_array_equal(result, IMAGE.repeat(2, 2).repeat(2, 3))
    np.testing.assert_array_equal(gradient, np.full_like(IMAGE, 4))


def test_lengths_gathered_into_a_matrix():
    proto = parsed("""(float[N, 3] x) => (int64[1, 2] y) <int64[1, 2] k = {1, 0}>
        { s = Shape(x) y = Gather(s, k) }""")
    compare(proto, np.zeros((2, 3), "float32"))


LOOPS = {
    "collected": ("o = Identity(i)", "int64[1]"),
    "a start": ("end = Add(i, one) o = Slice(x, i, end)", "float[1]"),
    "joined": ("o = Concat<axis = 0>(i, one)", "int64[2]"),
    "squeezed": ("k = Squeeze(i, zero) o = Gather(x, k)", "float"),
}


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "ONNX"])
@pytest.mark.parametrize("case", LOOPS)
def test_loops_that_count_in_vectors(case, mode):
    """tf2onnx declares an iteration's number to be of shape (1,)."""
    nodes, result = LOOPS[case]
    compare(loop_of(nodes, result), np.arange(8, dtype="float32"), mode=mode)


def test_moved_slices_of_a_loop_in_jax_mode():
    """They have one length: the numbers of iterations are known before the loop."""
    compare(loop_of(*LOOPS["a start"]), np.arange(8, dtype="float32"), mode=jax_mode())


def loop_of(nodes, result):
    dtype, _, rest = result.partition("[")
    rank = "[4" + (f", {rest[:-1]}]" if rest else "]")
    return parsed(f"""(float[8] x) => ({dtype}{rank} y)
        <int64 trips = {{4}}, int64[1] one = {{1}}, int64[1] zero = {{0}}, bool yes = {{1}}> {{
        y = Loop(trips, yes) <body = b (int64[1] i, bool go) => (bool go_on, {result} o)
        {{ go_on = Identity(go) {nodes} }}> }}""")


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("lengths", [None, [0, 2]])
def test_last_states_of_no_steps(kind, lengths):
    """They are 0 whatever the first ones are, as in onnxruntime; the standard is silent."""
    rng, gates = np.random.default_rng(0), {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    values = {
        "w": rng.normal(size=(1, gates * 2, 3)).astype("float32"),
        "r": rng.normal(size=(1, gates * 2, 2)).astype("float32"),
        "h0": np.ones((1, 2, 2), "float32"),
    }
    if lengths is not None:
        values["lengths"] = np.array(lengths, "int32")
    given = "" if lengths is None else "lengths"
    proto = parsed(f"""(float[L, 2, 3] x) => (float[A, B, C, D] y, float[E, F, G] h)
        {{ y, h = {kind}<hidden_size = 2>(x, w, r, , {given}, h0) }}""", **values)
    steps = 0 if lengths is None else 2
    y, h = with_onnxruntime.in_pytensor(
        proto, [np.ones((steps, 2, 3), "float32")], "FAST_COMPILE"
    )
    assert y.shape == (steps, 1, 2, 2)
    np.testing.assert_array_equal(h[:, :1], 0)
    if lengths is not None:
        compare(proto, np.ones((2, 2, 3), "float32"))
