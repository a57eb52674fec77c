"""Shapes, sizes and indices through `from_onnx`: what ONNX's own vectors leave out."""

import numpy as np
import pytest

from pytensor import function, grad
from pytensor.link.onnx import from_onnx
from pytensor.tensor.basic import MakeVector
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_pytensor, parsed
from tests.link.onnx.test_basic import growth

MIN, MAX = np.iinfo("int64").min, np.iinfo("int64").max
PAD_MODES = ["constant", "edge", "reflect", "wrap"]


def output(graph, opset=23):
    """Return the variable of the only output of a model in ONNX's text form."""
    return from_onnx(parsed(graph, opset)).outputs["y"]


def computed(graph, *values):
    """Return the value of the only output."""
    return in_pytensor(parsed(graph, 23), values)[0]


# A model, the shape that is known of its output, an input and what becomes of it
KNOWN = {
    "through Shape, Gather, Concat and Reshape": (
        """(float[N, 6, 4] x) => (float[a, b, c] y)
        <int64 zero = {0}, int64[1] axes = {0}, int64[2] rest = {3, -1}>
        { s = Shape(x) n = Gather(s, zero) n1 = Unsqueeze(n, axes) to = Concat<axis = 0>(n1, rest)
          y = Reshape(x, to) }""",
        (None, 3, 8),
        (2, 6, 4),
        lambda x: x.reshape(2, 3, 8),
    ),
    # 2 N rows of a reshape are known to be that, so that one is left for -1
    "-1 where heads are joined and parted": (
        """(float[N, 2, 4] x) => (float[a, b, c, d] y)
        <int64[1] two = {2}, int64[1] tail = {4}, int64[3] rest = {2, -1, 4}>
        { s = Shape<start = 0, end = 1>(x) rows = Mul(s, two) to = Concat<axis = 0>(rows, tail)
          joined = Reshape(x, to) back = Concat<axis = 0>(s, rest) y = Reshape(joined, back) }""",
        (None, 2, 1, 4),
        (3, 2, 4),
        lambda x: x[:, :, None],
    ),
    # the batch's size is of x, what is reshaped is made of it
    "-1 in the size that another tensor has": (
        """(float[N, T, 6] x) => (float[a, b, c, d] y)
        <int64[2] k = {0, 1}, int64[2] tail = {-1, 3}, int64[1] first = {0}, int64 last = {2}>
        { s0 = Shape(x) s = Gather(s0, k) to = Concat<axis = 0>(s, tail) r = Tanh(x)
          p = ReduceMax(r, first) q = Sub(r, p) c = CumSum(q, last) y = Reshape(c, to) }""",
        (None, None, 2, 3),
        (2, 1, 6),
        lambda x: np.cumsum(np.tanh(x) - np.tanh(x).max(0), -1).reshape(2, 1, 2, 3),
    ),
    "arithmetic with sizes": (
        """(float[N, 6, 4] x) => (float[a, b] y)
        <int64 two = {2}, int64[1] start = {1}, int64[1] end = {9223372036854775807},
         float half = {0.5}>
        { s = Shape(x) doubled = Mul(s, two) tail = Slice(doubled, start, end)
          floats = Cast<to = 1>(tail) halved = Mul(floats, half) up = Ceil(halved)
          sizes = Cast<to = 7>(up) y = ConstantOfShape(sizes) }""",
        (6, 4),
        (1, 6, 4),
        lambda x: np.zeros((6, 4)),
    ),
    # As PyTorch exports expand(-1, 5, -1): where the size is -1, 1
    "expand with -1 for sizes that are kept": (
        """(float[N, 1, 4] x) => (float[a, b, c] y)
        <int64[1] first = {0}, int64[2] rest = {5, -1}, int64[1] number = {3}, int64 minus = {-1}>
        { s = Shape(x) n = Gather(s, first) wanted = Concat<axis = 0>(n, rest)
          ones = ConstantOfShape<value = int64[1] {1}>(number) minuses = Mul(ones, minus)
          kept = Equal(wanted, minuses) to = Where(kept, ones, wanted) y = Expand(x, to) }""",
        (None, 5, 4),
        (2, 1, 4),
        lambda x: np.broadcast_to(x, (2, 5, 4)),
    ),
    "flatten at 1": (
        "(float[N, 3, 4] x) => (float[a, b] y) { y = Flatten<axis = 1>(x) }",
        (None, 12),
        (2, 3, 4),
        lambda x: x.reshape(2, 12),
    ),
    "flatten at 0": (
        "(float[N, 3, 4] x) => (float[a, b] y) { y = Flatten<axis = 0>(x) }",
        (1, None),
        (2, 3, 4),
        lambda x: x.reshape(1, 24),
    ),
    "flatten at -1": (
        "(float[N, 3, 4] x) => (float[a, b] y) { y = Flatten<axis = -1>(x) }",
        (None, 4),
        (2, 3, 4),
        lambda x: x.reshape(6, 4),
    ),
    "pads": (
        "(float[N, 4] x) => (float[a, b] y) <int64[4] p = {0, 2, 0, -1}> { y = Pad(x, p) }",
        (None, 5),
        (1, 4),
        lambda x: np.pad(x[:, :3], [(0, 0), (2, 0)]),
    ),
    "equal parts": (
        "(float[N, 6] x) => (float[a, b] y) { z, y = Split<axis = 1, num_outputs = 2>(x) }",
        (None, 3),
        (1, 6),
        lambda x: x[:, 3:],
    ),
    "parts of an open length": (
        "(float[N] x) => (float[a] y) { z, w, y = Split<num_outputs = 3>(x) }",
        (None,),
        (7,),
        lambda x: x[6:],
    ),
    "squeeze leaves the axes that the file declares": (
        "(float[2, N] x) => (float[a, b] y) { y = Squeeze(x) }",
        (2, None),
        (2, 3),
        lambda x: x,
    ),
    "an axis that the file calls of length one is broadcast": (
        """(float[N, 2] x) => (float[N, 2] y)
        <float[1, 2] z, int64[1] one = {1}, int64[1] two = {2}>
        { z = Slice(x, one, two) y = Mul(x, z) }""",
        (None, 2),
        (3, 2),
        lambda x: x * x[1:2],
    ),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known_shapes(case):
    graph, known, shape, wanted = KNOWN[case]
    assert output(graph).type.shape == known
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    np.testing.assert_allclose(computed(graph, x), wanted(x), rtol=1e-5, atol=1e-6)


def test_split_into_equal_parts_in_an_older_opset():
    graph = "(float[N, 6] x) => (float[a, b] y) { z, y = Split<axis = 1>(x) }"
    assert output(graph, 13).type.shape == (None, 3)


def test_lengths_of_one_name_are_one_length():
    graph = """(float[N] x, float[N, 6] z) => (float[a, b] y) <int64[1] tail = {-1}>
        { s = Shape(x) to = Concat<axis = 0>(s, tail) y = Reshape(z, to) }"""
    assert output(graph).type.shape == (None, 6)
    x, z = np.zeros(2, "float32"), np.zeros((3, 6), "float32")
    assert computed(graph, z[:, 0], z).shape == (3, 6)
    with pytest.raises(AssertionError, match="shape"):
        computed(graph, x, z)


@pytest.mark.parametrize("length", [1, 3])
def test_expand_of_an_axis_that_may_be_of_length_1(length):
    graph = "(float[N] x) => (float[3] y) <int64[1] to = {3}> { y = Expand(x, to) }"
    model = from_onnx(parsed(graph, 23))
    x, y = model.inputs["x"], model.outputs["y"]
    assert y.type.shape == (3,)
    weights = np.array([1, 2, 4], "float32")
    slope = grad((y * weights).sum(), x)
    value = np.arange(length, dtype="float32")
    got, got_slope = function([x], [y, slope], mode=PYTHON)(value)
    np.testing.assert_array_equal(got, np.broadcast_to(value, (3,)))
    np.testing.assert_array_equal(got_slope, weights if length == 3 else [7])


@pytest.mark.parametrize("size", ["N", "5", "5, of computed bounds"])
@pytest.mark.parametrize(
    ("start", "end", "step", "wanted"),
    [
        (MIN, MAX, 1, [0, 1, 2, 3, 4]),
        (MAX, MIN, -1, [4, 3, 2, 1, 0]),
        (-1, MIN, -2, [4, 2, 0]),
        (3, -10, -1, [3, 2, 1, 0]),
        # clipped to the first entry, where NumPy takes none
        (-9, MIN, -1, [0]),
        (-9, 2, 1, [0, 1]),
        (1, 2147483647, 3, [1, 4]),
        (7, MAX, 1, []),
        (-2, -4, -1, [3, 2]),
    ],
)
def test_slices_are_clipped(size, start, end, step, wanted):
    n, _, computes = size.partition(", ")
    values = f"int64[1] start = {{{start}}}, int64[1] end = {{{end}}},"
    inputs, values = (", int64[1] start, int64[1] end", "") if computes else ("", values)
    graph = f"""(int64[{n}] x{inputs}) => (int64[a] y)
        <{values} int64[1] axis = {{-1}}, int64[1] step = {{{step}}}>
        {{ y = Slice(x, start, end, axis, step) }}"""
    given = [np.arange(5), *[[start], [end]][: 2 * bool(computes)]]
    np.testing.assert_array_equal(computed(graph, *given), wanted)
    assert size != "5" or output(graph).type.shape == (len(wanted),)


@pytest.mark.parametrize(("reduction", "wanted"), [("mul", [6, 7, 35]), ("max", [1, 7, 7])])
def test_scatter_of_several_updates_to_one_place(reduction, wanted):
    graph = f"""(float[3] x, float[3] u) => (float[3] y) <int64[3, 1] places = {{2, 1, 2}}>
        {{ y = ScatterND<reduction = "{reduction}">(x, places, u) }}"""
    data = {"mul": [6, 1, 1], "max": [1, 2, 3]}[reduction]
    model = from_onnx(parsed(graph, 23))
    x, u = model.inputs.values()
    y = model.outputs["y"]
    results = function([x, u], [y, grad(y.sum(), u)], mode=PYTHON)(data, [7, 7, 5])
    np.testing.assert_array_equal(results[0], wanted)
    np.testing.assert_array_equal(results[1], {"mul": [5, 1, 7], "max": [1, 1, 0]}[reduction])


@pytest.mark.parametrize("mode", PAD_MODES)
def test_pads_that_are_computed(mode):
    graph = f"""(float[N, 4] x, int64[4] pads) => (float[a, b] y)
        {{ y = Pad<mode = "{mode}">(x, pads) }}"""
    x = np.arange(12, dtype="float32").reshape(3, 4)
    wanted = np.pad(x[:, 1:], ((2, 1), (0, 2)), mode=mode)
    if mode in ("reflect", "wrap"):  # around the axis as it was before it was cut
        wanted = np.pad(x, ((2, 1), (0, 2)), mode=mode)[:, 1:]
    np.testing.assert_array_equal(computed(graph, x, [2, -1, 1, 2]), wanted)


@pytest.mark.parametrize("length", [0, 2])
def test_computed_pads_of_an_axis_that_may_be_empty(length):
    graph = """(float[N] x, int64[2] pads, float value) => (float[a] y)
        { y = Pad(x, pads, value) }"""
    x = np.arange(length, dtype="float32")
    wanted = np.pad(x, (2, 1), constant_values=7)
    np.testing.assert_array_equal(computed(graph, x, [2, 1], np.float32(7)), wanted)


@pytest.mark.parametrize("mode", PAD_MODES)
def test_pads_keep_the_dtype(mode):
    graph = f"""(int64[2] x) => (int64[a] y) <int64[2] pads = {{1, 1}}>
        {{ y = Pad<mode = "{mode}">(x, pads) }}"""
    assert output(graph).type.shape == (4,)
    x = np.array([2**53 + 1, -(2**53) - 1])
    np.testing.assert_array_equal(computed(graph, x)[1:3], x)


def test_reflections_of_open_lengths_in_jax():
    graph = """(float[N] x) => (float[a] y) <int64[2] pads = {2, 1}>
        { y = Pad<mode = "reflect">(x, pads) }"""
    (y,) = in_pytensor(parsed(graph, 23), [np.arange(4, dtype="float32")], mode="JAX")
    np.testing.assert_array_equal(y, [2, 1, 0, 1, 2, 3, 2])


def test_long_vectors_are_not_taken_apart():
    graph = """(int64 x) => (int64[1000] y) <int64[1] axis = {0}, int64[1] number = {1000}>
        { one = Unsqueeze(x, axis) many = ConstantOfShape<value = int64[1] {2}>(number)
          y = Mul(one, many) }"""
    assert not isinstance(output(graph).owner.op, MakeVector)
    np.testing.assert_array_equal(computed(graph, 3), np.full(1000, 6))


def test_time_grows_with_the_convolutions_of_integers():
    """Each padded image simplified a copy of all nodes before it."""

    def work(layers):
        convolutions = "".join(
            f"q{n} = Cast<to = 2>(x{n})"
            f"c{n} = ConvInteger<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(q{n}, w)"
            f"x{n + 1} = Cast<to = 1>(c{n})"
            for n in range(layers)
        )
        text = f"""(float[N, 1, H, W] x0, uint8[1, 1, 3, 3] w) => (float[N, 1, H, W] x{layers})
            {{ {convolutions} }}"""
        from_onnx(parsed(text, 23))

    first, second = growth(work, (1, 3, 5))
    assert second < 1.2 * first
