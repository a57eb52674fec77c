import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.tensor.resize import (
    ASPECT_RATIO_POLICIES,
    COORDINATE_MODES,
    NEAREST_MODES,
    RESIZE_MODES,
    Resize,
)
from pytensor.tensor.resize.taps import transpose_taps
from tests.utils import REFERENCE_MODE

ROUNDING = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}
ROI = (0.1, -0.3, 0.7, 1.2)
CROP = {
    "coordinate_transformation_mode": "tf_crop_and_resize", "roi": ROI, "extrapolation_value": 2.5
}  # fmt: skip


def coordinate(i, length, out, factor, width, how, start, end):
    """Compute by the formulas of the ONNX specification."""
    if how == "half_pixel":
        return (i + 0.5) / factor - 0.5
    if how == "half_pixel_symmetric":
        return length / 2 * (1 - out / width) + (i + 0.5) / factor - 0.5
    if how == "pytorch_half_pixel":
        return (i + 0.5) / factor - 0.5 if out > 1 else 0
    if how == "align_corners":
        return i * (length - 1) / (width - 1) if width != 1 else 0
    if how == "asymmetric":
        return i / factor
    if how == "tf_half_pixel_for_nn":
        return (i + 0.5) / factor
    if out == 1:
        return 0.5 * (start + end) * (length - 1)
    return i * (end - start) * (length - 1) / (width - 1) + start * (length - 1)


def kernel(d, mode, a):
    d = abs(d)
    if mode == "linear":
        return max(1 - d, 0)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0


def naive_matrix(length, out, factor, width, options, start, end):
    """Return one axis's weights, shape (out, length); NaN where a cell is outside of the crop."""
    mode = options.get("mode", "nearest")
    how = options.get("coordinate_transformation_mode", "half_pixel")
    matrix = np.zeros((out, length))
    for i in range(out):
        x = coordinate(i, length, out, factor, width, how, start, end)
        if how == "tf_crop_and_resize" and not 0 <= x <= length - 1:
            matrix[i] = np.nan
            continue
        if mode == "nearest":
            j = ROUNDING[options.get("nearest_mode", "round_prefer_floor")](x)
            matrix[i, min(max(j, 0), length - 1)] = 1
            continue
        squeeze = min(factor, 1) if options.get("antialias") else 1
        reach = math.ceil(2 / squeeze) + 1
        total = 0
        for j in range(math.floor(x) - reach, math.floor(x) + reach + 1):
            weight = kernel((j - x) * squeeze, mode, options.get("cubic_coeff_a", -0.75))
            if options.get("exclude_outside") and not 0 <= j < length:
                continue
            total += weight
            matrix[i, min(max(j, 0), length - 1)] += weight
        if total:
            matrix[i] /= total
    return matrix


def naive_resize(x, size=None, scale=None, axes=None, **options):
    n = len(scale if size is None else size)
    axes = range(x.ndim - n, x.ndim) if axes is None else axes
    policy = options.get("keep_aspect_ratio_policy", "stretch")
    roi = options.get("roi", (0,) * n + (1,) * n)
    lengths = [x.shape[axis] for axis in axes]
    outside = np.zeros((1,) * x.ndim, bool)
    for i, axis in enumerate(axes):
        if scale is not None:
            factor, width = scale[i], scale[i] * lengths[i]
            out = math.floor(width)
        elif policy == "stretch":
            out = width = size[i]
            factor = out / lengths[i]
        else:
            choose = min if policy == "not_larger" else max
            factor = choose(a / b for a, b in zip(size, lengths, strict=True))
            width = factor * lengths[i]
            out = math.floor(width + 0.5)
        matrix = naive_matrix(lengths[i], out, factor, width, options, roi[i], roi[n + i])
        beyond = np.isnan(matrix).any(axis=1)
        outside = outside | beyond.reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        x = np.moveaxis(np.tensordot(x, np.nan_to_num(matrix), ([axis], [1])), -1, axis)
    return np.where(outside, options.get("extrapolation_value", 0.0), x)


# For 5 x 6 images: up and down, to one cell, by factors that leave a rest, with one factor for all
TARGETS = [
    {"size": (7, 4)},
    {"size": (1, 18)},
    {"scale": (0.45, 2.625)},
    {"size": (8, 4), "keep_aspect_ratio_policy": "not_larger"},
    {"size": (2, 5), "keep_aspect_ratio_policy": "not_smaller", "axes": (3, 2)},
]


@st.composite
def resizings(draw):
    """Draw the shape of an input, and arguments for it."""
    n = draw(st.integers(1, 3))
    shape = draw(st.lists(st.integers(1, 7), min_size=n, max_size=n + 1))
    axes = tuple(draw(st.permutations(range(len(shape))))[:n])
    options = {"axes": axes, "mode": draw(st.sampled_from(RESIZE_MODES))}
    if options["mode"] == "nearest":
        options["nearest_mode"] = draw(st.sampled_from(NEAREST_MODES))
    else:
        options["antialias"] = draw(st.booleans())
        options["exclude_outside"] = draw(st.booleans())
        options["cubic_coeff_a"] = draw(st.sampled_from([-0.75, -0.5, -0.625]))
    how = draw(st.sampled_from(COORDINATE_MODES))
    options["coordinate_transformation_mode"] = how
    if how == "tf_crop_and_resize":
        bounds = st.integers(-3, 12).map(lambda k: k / 8)
        options["roi"] = tuple(draw(st.lists(bounds, min_size=2 * n, max_size=2 * n)))
        options["extrapolation_value"] = 4.0
    if draw(st.booleans()):
        factors = st.sampled_from([0.25, 0.4, 0.75, 1.0, 1.3, 2.0, 2.5])
        options["scale"] = tuple(max(draw(factors), 1 / shape[axis]) for axis in axes)
    else:
        options["size"] = tuple(draw(st.integers(2, 9)) for _ in axes)
        # a common factor never leaves less than one cell of the longest axis
        policies = ASPECT_RATIO_POLICIES if len(set(shape)) == 1 else ("stretch", "not_smaller")
        options["keep_aspect_ratio_policy"] = draw(st.sampled_from(policies))
    return tuple(shape), options


@pytest.mark.slow
@given(resizings(), st.booleans(), st.integers(0, 99))
@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_arguments(resizing, static, seed):
    shape, options = resizing
    value = np.random.default_rng(seed).normal(size=shape)
    x = pt.tensor("x", shape=shape if static else (None,) * len(shape))
    out = pt.resize(x, **options)
    cotangent = np.random.default_rng(seed + 1).normal(size=naive_resize(value, **options).shape)
    gradient = pytensor.grad((out * cotangent).sum(), x)
    result, moved = pytensor.function([x], [out, gradient], mode=REFERENCE_MODE)(value)
    np.testing.assert_allclose(result, naive_resize(value, **options), rtol=1e-9, atol=1e-9)
    # The gradient is the transpose of the linear part.
    linear = naive_resize(value, **options | {"extrapolation_value": 0.0})
    np.testing.assert_allclose((moved * value).sum(), (linear * cotangent).sum(), atol=1e-8)
    if static:
        assert out.type.shape == result.shape


@pytest.mark.parametrize("target", [*TARGETS, {"scale": (2, 3)}], ids=str)
def test_shape_without_computation(target):
    x = pt.tensor4("x")
    out = pt.resize(x, **target, mode="linear")
    value = np.ones((2, 1, 5, 6))
    f = pytensor.function([x], out.shape, mode=Mode("py", "fast_compile"))
    assert tuple(f(value)) == naive_resize(value, **target, mode="linear").shape
    # JAX knows these lengths while it traces
    if target in ({"size": (7, 4)}, {"scale": (2, 3)}):
        assert not any(isinstance(node.op, Resize) for node in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("size", [(3, 20), (7, 4), (2, 1), (13, 9)])
@pytest.mark.parametrize(("mode", "resample"), [("linear", "BILINEAR"), ("cubic", "BICUBIC")])
def test_against_pillow(mode, resample, size):
    Image = pytest.importorskip("PIL.Image")
    value = np.random.default_rng(1).normal(size=(12, 9)).astype("float32")
    image = Image.fromarray(value).resize(size[::-1], getattr(Image.Resampling, resample))
    result = pt.resize(
        value, size=size, mode=mode, antialias=True, exclude_outside=True, cubic_coeff_a=-0.5
    ).eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(result, np.asarray(image), rtol=1e-4, atol=1e-5)


def test_many_readers_of_one_cell_are_not_listed():
    # a table of 50 cells with 100 readers each, for 100 taps
    assert transpose_taps(np.zeros((100, 1), int), None, 50) == (None, None)
    cells, weights = transpose_taps(np.array([[0], [2], [2]]), None, 3)
    np.testing.assert_array_equal(cells, [[0, 0], [0, 0], [1, 2]])
    np.testing.assert_array_equal(weights, [[1, 0], [0, 0], [1, 1]])


def test_directional_derivative():
    rng = np.random.default_rng(3)
    value, direction = rng.normal(size=(2, 5, 4))
    x, v = pt.matrices("x", "v")
    out = pt.resize(x, size=(3, 6), mode="linear", **CROP)
    tangent = pytensor.gradient.pushforward(out, x, v)
    expected = naive_resize(direction, size=(3, 6), mode="linear", **CROP | {
        "extrapolation_value": 0.0})  # fmt: skip
    result = tangent.eval({x: value, v: direction}, mode=REFERENCE_MODE, on_unused_input="ignore")
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_other_ranks_and_axes():
    line = np.arange(4.0)
    out = pt.resize(line, (2,), mode="linear", coordinate_transformation_mode="align_corners")
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE), [0, 3])
    cube = np.random.default_rng(3).normal(size=(1, 2, 2, 3, 4))
    out = pt.resize(cube, scale=2, mode="cubic").eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(out, naive_resize(cube, scale=(2, 2, 2), mode="cubic"))
    last = np.moveaxis(cube, 1, -1)
    out = pt.resize(last, scale=2, mode="cubic", axes=(1, 2, -2)).eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(
        np.moveaxis(out, -1, 1), naive_resize(cube, scale=(2, 2, 2), mode="cubic")
    )


@pytest.mark.parametrize("mode", RESIZE_MODES)
@pytest.mark.parametrize("shape", [(0, 2, 3, 4), (2, 3, 1, 1)])
def test_empty_batch_and_single_cell(shape, mode):
    value = np.random.default_rng(4).normal(size=shape)
    for x in (pt.tensor("x", shape=shape), pt.tensor4("x")):
        out = pt.resize(x, size=(2, 5), mode=mode)
        results = pytensor.function([x], [out, pytensor.grad(out.sum(), x)], mode=REFERENCE_MODE)(
            value
        )
        np.testing.assert_allclose(results[0], naive_resize(value, size=(2, 5), mode=mode))
        assert results[1].shape == shape
        assert results[1].sum() == pytest.approx(results[0].size)


@pytest.mark.parametrize("shape", [(6,), (None,)])
def test_what_has_no_weight_is_not_read(shape):
    value = np.array([1.0, np.nan, 3.0, np.inf, 5.0, 6.0])
    x = pt.tensor("x", shape=shape)
    same = pt.resize(x, size=(6,), mode="cubic")
    every_other = pt.resize(
        x, size=(3,), mode="linear", coordinate_transformation_mode="asymmetric"
    )
    # The gradient at a cell that nothing reads is zero whatever the others' is.
    gradient = pytensor.grad(None, x, known_grads={every_other: pt.constant([np.nan, 1, 1])})
    results = pytensor.function([x], [same, every_other, gradient], mode=REFERENCE_MODE)(value)
    np.testing.assert_array_equal(results[0], value)
    np.testing.assert_array_equal(results[1], [1, 3, 5])
    np.testing.assert_array_equal(results[2][1:], [0, 1, 0, 1, 0])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "method",
    [
        {"mode": "linear"},
        {"mode": "cubic", "exclude_outside": True},
        {"mode": "linear", "antialias": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(1, 1, 3, 4), (None,) * 4])
# PyTensor's own Ops say so when they have no C code for half precision
@pytest.mark.filterwarnings("ignore:Disabling C code")
def test_dtype_is_kept(method, dtype, shape):
    x = pt.tensor("x", dtype=dtype, shape=shape)
    out = pt.resize(x, scale=0.7, **method)
    gradient = pytensor.grad(None, x, known_grads={out: pt.ones_like(out)})
    # in half precision, sums of these would overflow
    value = np.full((1, 1, 3, 4), 60000, dtype)
    results = pytensor.function([x], [out, gradient], mode=REFERENCE_MODE)(value)
    assert [r.dtype for r in results] == [out.type.dtype, gradient.type.dtype] == [dtype] * 2
    np.testing.assert_allclose(results[0], 60000, rtol=1e-3)


def test_no_cell_is_left_of_an_unknown_length():
    x = pt.vector("x")
    out = pt.resize(x, scale=(0.3,))
    f = pytensor.function([x], out, mode=REFERENCE_MODE)
    assert f(np.ones(4)).shape == (1,)
    with pytest.raises(AssertionError, match="leaves no cell"):
        f(np.ones(3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of size and scale"),
        ({"size": 2, "scale": 2}, "exactly one of size and scale"),
        ({"size": (1, 2, 3, 4, 5)}, "size must be one positive int"),
        ({"size": 2.5}, "size must be one positive int"),
        ({"size": (0, 2)}, "size must be one positive int"),
        ({"size": True}, "size must be one positive int"),
        ({"scale": -1.0}, "scale must be one positive number"),
        ({"scale": math.inf}, "scale must be one positive number"),
        ({"scale": 0.1}, "scale=0.1 leaves no cell"),
        ({"scale": 2, "mode": "area"}, "mode must be one of nearest, linear, cubic; got 'area'"),
        ({"scale": 2, "coordinate_transformation_mode": "corner"}, "must be one of half_pixel"),
        ({"scale": 2, "nearest_mode": "round"}, "nearest_mode must be one of round_prefer_floor"),
        ({"size": 2, "keep_aspect_ratio_policy": "fit"}, "must be one of stretch"),
        ({"scale": 2, "keep_aspect_ratio_policy": "not_larger"}, "needs size"),
        ({"scale": 2, "cubic_coeff_a": "-0.5"}, "cubic_coeff_a must be a number, got '-0.5'"),
        ({"scale": 2, "cubic_coeff_a": math.nan}, "cubic_coeff_a must be finite, got nan"),
        ({"scale": 2, "antialias": True}, "antialias=True needs mode='linear' or 'cubic'"),
        ({"scale": 2, "exclude_outside": True}, "exclude_outside=True needs mode='linear'"),
        ({"scale": 2, "antialias": 2}, "antialias must be True or False, got 2"),
        ({"scale": 2, "roi": (0, 0, 1, 1)}, "give roi if, and only if"),
        ({"scale": 2, "coordinate_transformation_mode": "tf_crop_and_resize"}, "give roi if"),
        ({"scale": 2, **CROP, "roi": (0, 1)}, "roi must be 4 numbers"),
        ({"scale": 2, "extrapolation_value": 1.0}, "extrapolation_value needs"),
        ({"size": (2, 3), "axes": (2, -2)}, "axes must be different"),
        ({"size": (2, 3), "axes": (2, 4)}, "axes must be a tuple of ints from -4 to 3"),
        ({"size": (2, 3), "axes": (2,)}, "one entry for each of axes="),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        pt.resize(np.ones((1, 1, 4, 6)), **arguments)
    assert "\n" not in str(error.value)


def test_bad_inputs():
    with pytest.raises(ValueError, match="size must be one positive int"):
        pt.resize(pt.matrix(), size=2)
    with pytest.raises(ValueError, match="an axis of length 0 can't be resized"):
        pt.resize(np.ones((1, 1, 0, 4)), size=2)
    with pytest.raises(TypeError, match="must be floating point, got uint8"):
        pt.resize(pt.tensor4(dtype="uint8"), size=2)


@pytest.mark.parametrize(("name", "numerator"), [("nearest", 0), ("nearest-exact", 1)])
def test_places_between_two_cells(name, numerator):
    """The cells follow the formula in whole numbers."""
    for out in (7, 9, 49):
        lengths = (out, 2 * out, 3 * out, 5 * out)
        inputs = [pt.tensor("x", shape=(1, 1, n)) for n in lengths]
        for x, n in zip(inputs, lengths, strict=True):
            f = pytensor.function([x], pt.nn.interpolate(x, out, mode=name), mode="FAST_COMPILE")
            expected = [(2 * i + numerator) * n // (2 * out) for i in range(out)]
            assert f(np.arange(float(n))[None, None])[0, 0].tolist() == expected
