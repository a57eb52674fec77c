"""Shapes, sizes and indices through `from_onnx`: what ONNX's own vectors leave out."""

import numpy as np
import pytest

from pytensor import dprint, function, grad
from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.tensor.basic import MakeVector
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_pytensor, parsed
from tests.link.onnx.test_basic import growth

MIN, MAX = np.iinfo("int64").min, np.iinfo("int64").max


def imported(graph, opset=23):
    """Return a model from ONNX's text form: inputs, outputs and nodes."""
    return from_onnx(parsed(graph, opset))


def output(graph, opset=23):
    """Return the variable of the only output."""
    return imported(graph, opset).outputs["y"]


def computed(graph, *values, opset=23):
    """Return the value of the only output."""
    return in_pytensor(parsed(graph, opset), values)[0]


def test_sizes_through_shape_gather_concat_reshape():
    graph = """(float[N, 6, 4] x) => (float[a, b, c] y) {
        s = Shape(x)
        zero = Constant<value_int = 0>()
        n = Gather(s, zero)
        axes = Constant<value_ints = [0]>()
        n1 = Unsqueeze(n, axes)
        rest = Constant<value_ints = [3, -1]>()
        to = Concat<axis = 0>(n1, rest)
        y = Reshape(x, to)
    }"""
    assert output(graph).type.shape == (None, 3, 8)
    x = np.arange(48, dtype="float32").reshape(2, 6, 4)
    np.testing.assert_array_equal(computed(graph, x), x.reshape(2, 3, 8))


def test_minus_one_where_heads_are_joined_and_parted():
    # 2 N rows of a reshape are known to be that, so that one is left for -1
    graph = """(float[N, 2, 4] x) => (float[a, b, c, d] y) {
        s = Shape<start = 0, end = 1>(x)
        two = Constant<value_ints = [2]>()
        rows = Mul(s, two)
        tail = Constant<value_ints = [4]>()
        to = Concat<axis = 0>(rows, tail)
        joined = Reshape(x, to)
        rest = Constant<value_ints = [2, -1, 4]>()
        back = Concat<axis = 0>(s, rest)
        y = Reshape(joined, back)
    }"""
    assert output(graph).type.shape == (None, 2, 1, 4)


def test_minus_one_in_the_size_that_another_tensor_has():
    # the batch's size is of x, what is reshaped is made of it
    graph = """(float[N, T, 6] x, float[6, 10] w) => (float[a, b, c, d] y) {
        s0 = Shape(x)
        k = Constant<value_ints = [0, 1]>()
        s = Gather(s0, k)
        tail = Constant<value_ints = [-1, 5]>()
        to = Concat<axis = 0>(s, tail)
        h = MatMul(x, w)
        r = Tanh(h)
        p = ReduceLogSumExp<keepdims = 1, axes = [0]>(r)
        q = Sub(r, p)
        c0 = Constant<value_int = 2>()
        c = CumSum(q, c0)
        y = Reshape(c, to)
    }"""
    assert output(graph, opset=14).type.shape == (None, None, 2, 5)


def test_lengths_of_one_name_are_one_length():
    graph = """(float[N] x, float[N, 6] z) => (float[a, b] y) {
        s = Shape(x)
        tail = Constant<value_ints = [-1]>()
        to = Concat<axis = 0>(s, tail)
        y = Reshape(z, to)
    }"""
    assert output(graph).type.shape == (None, 6)
    x, z = np.zeros(2, "float32"), np.zeros((3, 6), "float32")
    assert computed(graph, z[:, 0], z).shape == (3, 6)
    with pytest.raises(AssertionError, match="shape"):
        computed(graph, x, z)


def test_arithmetic_with_sizes():
    graph = """(float[N, 6, 4] x) => (float[a, b] y) {
        s = Shape(x)
        two = Constant<value_int = 2>()
        doubled = Mul(s, two)
        cut_from = Constant<value_ints = [1]>()
        cut_to = Constant<value_ints = [9223372036854775807]>()
        tail = Slice(doubled, cut_from, cut_to)
        as_float = Cast<to = 1>(tail)
        half = Constant<value_float = 0.5>()
        halved = Mul(as_float, half)
        up = Ceil(halved)
        sizes = Cast<to = 7>(up)
        y = ConstantOfShape(sizes)
    }"""
    assert output(graph).type.shape == (6, 4)


def test_expand_with_minus_one_for_kept_sizes():
    # As PyTorch exports expand(-1, 5, -1): where the size is -1, 1
    graph = """(float[N, 1, 4] x) => (float[a, b, c] y) {
        s = Shape(x)
        first = Constant<value_ints = [0]>()
        n = Gather(s, first)
        rest = Constant<value_ints = [5, -1]>()
        wanted = Concat<axis = 0>(n, rest)
        number = Constant<value_ints = [3]>()
        ones = ConstantOfShape<value = int64[1] {1}>(number)
        minus = Constant<value_int = -1>()
        minuses = Mul(ones, minus)
        is_kept = Equal(wanted, minuses)
        to = Where(is_kept, ones, wanted)
        y = Expand(x, to)
    }"""
    assert output(graph).type.shape == (None, 5, 4)
    # a size is never -1, so that nothing is left to be chosen
    assert "Switch" not in dprint(output(graph), file="str")
    x = np.arange(8, dtype="float32").reshape(2, 1, 4)
    np.testing.assert_array_equal(computed(graph, x), np.broadcast_to(x, (2, 5, 4)))


@pytest.mark.parametrize("length", [1, 3])
def test_expand_of_an_axis_that_may_be_of_length_1(length):
    graph = """(float[N] x) => (float[3] y) {
        to = Constant<value_ints = [3]>()
        y = Expand(x, to)
    }"""
    model = imported(graph)
    x, y = model.inputs["x"], model.outputs["y"]
    assert y.type.shape == (3,)
    weights = np.array([1, 2, 4], "float32")
    slope = grad((y * weights).sum(), x)
    value = np.arange(length, dtype="float32")
    got, got_slope = function([x], [y, slope], mode=PYTHON)(value)
    np.testing.assert_array_equal(got, np.broadcast_to(value, (3,)))
    np.testing.assert_array_equal(got_slope, weights if length == 3 else [7])


@pytest.mark.parametrize(
    ("axis", "shape"), [(1, (None, 12)), (2, (None, 4)), (0, (1, None)), (-1, (None, 4))]
)
def test_flatten_keeps_sizes(axis, shape):
    graph = f"(float[N, 3, 4] x) => (float[a, b] y) {{ y = Flatten<axis = {axis}>(x) }}"
    assert output(graph).type.shape == shape
    assert computed(graph, np.zeros((2, 3, 4), "float32")).size == 24


@pytest.mark.parametrize("size", ["N", "5"])
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
    graph = f"""(int64[{size}] x) => (int64[a] y) {{
        start = Constant<value_ints = [{start}]>()
        end = Constant<value_ints = [{end}]>()
        axis = Constant<value_ints = [-1]>()
        step = Constant<value_ints = [{step}]>()
        y = Slice(x, start, end, axis, step)
    }}"""
    np.testing.assert_array_equal(computed(graph, np.arange(5)), wanted)
    if size == "5":
        assert output(graph).type.shape == (len(wanted),)


@pytest.mark.parametrize(
    ("start", "end", "step", "wanted"),
    [(1, MAX, 2, [1, 3]), (-9, MIN, -1, [0]), (-2, 1, -1, [3, 2])],
)
def test_slices_of_starts_that_are_computed(start, end, step, wanted):
    graph = f"""(int64[5] x, int64[1] start, int64[1] end) => (int64[a] y) {{
        axis = Constant<value_ints = [0]>()
        step = Constant<value_ints = [{step}]>()
        y = Slice(x, start, end, axis, step)
    }}"""
    np.testing.assert_array_equal(computed(graph, np.arange(5), [start], [end]), wanted)


BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        ("Add(x, one)", [BIG + 1, 1 - BIG]),
        ("Div(x, one)", [BIG, -BIG]),
        ("Div(x, two)", [BIG // 2, -(BIG // 2)]),
        ("Mod(x, two)", [1, 1]),
        ("Mod<fmod = 1>(x, two)", [1, -1]),
        ("Clip(x, x0)", [BIG, BIG]),
        ("Max(x, x0)", [BIG, BIG]),
        ("Abs(x)", [BIG, BIG]),
        ("ReduceSum<keepdims = 0>(parts)", 2 * BIG + 1),
        ("ReduceMax<keepdims = 0>(x)", BIG),
        ("ReduceMin<keepdims = 0>(least)", MIN),
        ("CumSum(x, zero)", [BIG, 0]),
        ("Where(yes, x, one)", [BIG, -BIG]),
        ("Mul(x, one)", [BIG, -BIG]),
        ("Cast<to = 7>(x)", [BIG, -BIG]),
        ("ArgMin<keepdims = 0>(least)", 1),
        ("Pow(x, one)", [BIG, -BIG]),
    ],
)
def test_integers_beyond_the_floats(node, wanted):
    graph = f"""(int64[2] x) => (int64[N] y) {{
        one = Constant<value_int = 1>()
        two = Constant<value_int = 2>()
        zero = Constant<value_int = 0>()
        yes = Constant<value = bool {{1}}>()
        x0 = Constant<value_int = {BIG}>()
        bounds = Constant<value_ints = [{BIG + 1}, {MIN}]>()
        parts = Constant<value_ints = [{BIG}, {BIG + 1}]>()
        nothing = Sub(x, x)
        least = Add(nothing, bounds)
        y = {node}
    }}"""
    if np.ndim(wanted) == 0:
        graph = graph.replace("int64[N] y", "int64 y")
    np.testing.assert_array_equal(computed(graph, np.array([BIG, -BIG])), wanted)


@pytest.mark.parametrize(("reduction", "wanted"), [("mul", [6, 7, 35]), ("max", [1, 7, 7])])
def test_scatter_of_several_updates_to_one_place(reduction, wanted):
    graph = f"""(float[3] x, float[3] u) => (float[3] y) {{
        places = Constant<value = int64[3, 1] {{2, 1, 2}}>()
        y = ScatterND<reduction = "{reduction}">(x, places, u)
    }}"""
    data = {"mul": [6, 1, 1], "max": [1, 2, 3]}[reduction]
    x, u = np.array(data, "float32"), np.array([7, 7, 5], "float32")
    np.testing.assert_array_equal(computed(graph, x, u), wanted)
    model = imported(graph)
    model_x, model_u = model.inputs.values()
    slope = function([model_x, model_u], grad(model.outputs["y"].sum(), model_u), mode=PYTHON)
    expected = {"mul": [5, 1, 7], "max": [1, 1, 0]}[reduction]
    np.testing.assert_array_equal(slope(x, u), expected)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_that_are_computed(mode):
    graph = f"""(float[N, 4] x, int64[4] pads) => (float[a, b] y) {{
        y = Pad<mode = "{mode}">(x, pads)
    }}"""
    x = np.arange(12, dtype="float32").reshape(3, 4)
    wanted = np.pad(x[:, 1:], ((2, 1), (0, 2)), mode=mode)
    if mode in ("reflect", "wrap"):  # around the axis as it was before it was cut
        wanted = np.pad(x, ((2, 1), (0, 2)), mode=mode)[:, 1:]
    np.testing.assert_array_equal(computed(graph, x, [2, -1, 1, 2]), wanted)


def test_pads_that_are_known_keep_sizes():
    graph = """(float[N, 4] x) => (float[a, b] y) {
        pads = Constant<value_ints = [0, 2, 0, -1]>()
        y = Pad(x, pads)
    }"""
    assert output(graph).type.shape == (None, 5)
    np.testing.assert_array_equal(
        computed(graph, np.ones((1, 4), "float32")), [[0, 0, 1, 1, 1]]
    )


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pads_keep_the_dtype(mode):
    graph = f"""(int64[2] x) => (int64[a] y) {{
        pads = Constant<value_ints = [1, 1]>()
        y = Pad<mode = "{mode}">(x, pads)
    }}"""
    assert output(graph).type.shape == (4,)
    inner = computed(graph, np.array([BIG, -BIG]))[1:3]
    np.testing.assert_array_equal(inner, [BIG, -BIG])


@pytest.mark.parametrize("opset", [13, 18])
def test_split_into_equal_parts(opset):
    count = "" if opset < 18 else ", num_outputs = 2"
    graph = f"""(float[N, 6] x) => (float[a, b] y) {{
        z, y = Split<axis = 1{count}>(x)
    }}"""
    assert output(graph, opset).type.shape == (None, 3)


def test_reflections_of_open_lengths_in_jax():
    graph = """(float[N] x) => (float[a] y) {
        pads = Constant<value_ints = [2, 1]>()
        y = Pad<mode = "reflect">(x, pads)
    }"""
    model = imported(graph)
    reflect = function([model.inputs["x"]], model.outputs["y"], mode="JAX")
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(reflect(x), [2, 1, 0, 1, 2, 3, 2])


def test_an_axis_that_the_file_calls_of_length_one_is_broadcast():
    graph = """(float[N, 2] x) => (float[N, 2] y) <float[1, 2] z> {
        one = Constant<value_ints = [1]>()
        two = Constant<value_ints = [2]>()
        z = Slice(x, one, two)
        y = Mul(x, z)
    }"""
    x = np.arange(6, dtype="float32").reshape(3, 2)
    np.testing.assert_array_equal(computed(graph, x), x * x[1:2])


def test_split_of_open_lengths():
    graph = """(float[N] x) => (float[a] y) { z, w, y = Split<num_outputs = 3>(x) }"""
    x = np.arange(7, dtype="float32")
    np.testing.assert_array_equal(computed(graph, x), [6])


def test_squeeze_leaves_the_axes_that_the_file_declares():
    graph = "(float[2, N] x) => (float[a, b] y) { y = Squeeze(x) }"
    assert output(graph).type.shape == (2, None)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (
            "(float[4, 4] x, int64[1] axes) => (float[a, b] y) { y = ReduceMax(x, axes) }",
            "which axes it reduces over is computed when the model runs",
        ),
        (
            "(float[M, N] x) => (float y) { z = Squeeze(x) y = ReduceSum<keepdims = 0>(z) }",
            "which axes are of length 1 is known only when the model runs",
        ),
        (
            "(float[4] x, int64[N] s) => (float y) { r = Reshape(x, s) "
            "y = ReduceSum<keepdims = 0>(r) }",
            "how many entries its shape has is known only when the model runs",
        ),
        (
            "(float[4] x) => (float[a] y) { s = Constant<value_ints = [-1, -1]>() "
            "y = Reshape(x, s) }",
            "-1 more than once",
        ),
        (
            "(float[4] x) => (int32[4] y) { y = BitCast<to = 6>(x) }",
            "PyTensor has no operation that reads the bits",
        ),
    ],
)
def test_what_is_refused(graph, reason):
    with pytest.raises(ImportedOpError, match=reason):
        imported(graph, opset=26)


def test_long_vectors_are_not_taken_apart():
    graph = """(int64 x) => (int64[1000] y) {
        axis = Constant<value_ints = [0]>()
        one = Unsqueeze(x, axis)
        number = Constant<value_ints = [1000]>()
        many = ConstantOfShape<value = int64[1] {2}>(number)
        y = Mul(one, many)
    }"""
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
        imported(
            f"(float[N, 1, H, W] x0, uint8[1, 1, 3, 3] w) => (float[N, 1, H, W] x{layers})"
            f"{{ {convolutions} }}"
        )

    first, second = growth(work, (1, 3, 5))
    assert second < 1.2 * first
