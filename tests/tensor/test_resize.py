import math

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES
from tests.utils import REFERENCE_MODE

# Output sizes for 5 x 6 images: up, down, mixed, by whole factors, to a single cell, unchanged
TARGETS = [
    {"size": (7, 9)},
    {"size": (3, 4)},
    {"size": (10, 18)},
    {"size": (1, 5)},
    {"size": (5, 6)},
    {"scale": (2.0, 0.5)},
    # exact in float32 too, which ONNX's scales are in
    {"scale": (1.6875, 2.625)},
]
ROUNDING = {
    "round_prefer_floor": lambda x: math.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceil": math.ceil,
}


def coordinate(i, factor, length, out, how):
    """Formulas of the ONNX specification."""
    if how == "half_pixel":
        return (i + 0.5) / factor - 0.5
    if how == "pytorch_half_pixel":
        return (i + 0.5) / factor - 0.5 if out > 1 else 0
    if how == "align_corners":
        return i * (length - 1) / (out - 1) if out > 1 else 0
    if how == "asymmetric":
        return i / factor
    adjustment = out / (factor * length)
    return length / 2 * (1 - adjustment) + (i + 0.5) / factor - 0.5


def naive_axis(x, axis, size, scale, mode, how, rounding):
    length = x.shape[axis]
    out = size if scale is None else math.floor(length * scale)
    factor = out / length if scale is None else scale
    cells = []
    for i in range(out):
        at = coordinate(i, factor, length, out, how)

        def read(place):
            return x.take(min(max(place, 0), length - 1), axis=axis)

        if mode == "nearest":
            cells.append(read(ROUNDING[rounding](at)))
        else:
            low = math.floor(at)
            cells.append(read(low) * (low + 1 - at) + read(low + 1) * (at - low))
    return np.stack(cells, axis)


def naive_resize(x, size=None, scale=None, mode="nearest", how="half_pixel", rounding=None):
    for i in range(x.ndim - 2):
        one_size, one_scale = size and size[i], scale and scale[i]
        x = naive_axis(x, i + 2, one_size, one_scale, mode, how, rounding)
    return x


METHODS = [("nearest", rounding) for rounding in NEAREST_MODES] + [("linear", NEAREST_MODES[0])]


@pytest.mark.parametrize("how", COORDINATE_MODES)
@pytest.mark.parametrize(("mode", "rounding"), METHODS)
def test_against_specification(mode, rounding, how):
    value = np.random.default_rng(0).normal(size=(2, 1, 5, 6))
    x = pt.tensor4("x")
    unknown = [pt.resize(x, **t, mode=mode, coordinate_transformation_mode=how,
                         nearest_mode=rounding) for t in TARGETS]  # fmt: skip
    known = [pt.resize(value, **t, mode=mode, coordinate_transformation_mode=how,
                       nearest_mode=rounding) for t in TARGETS]  # fmt: skip
    f = pytensor.function([x], [*unknown, *known, *(v.shape for v in unknown)], mode=REFERENCE_MODE)
    results = iter(f(value))
    expected = [naive_resize(value, **t, mode=mode, how=how, rounding=rounding) for t in TARGETS]
    for variables in (unknown, known):
        for variable, wanted in zip(variables, expected, strict=True):
            np.testing.assert_allclose(next(results), wanted, rtol=1e-12, atol=1e-12)
            pairs = zip(variable.type.shape, wanted.shape, strict=True)
            assert all(a in (None, b) for a, b in pairs)
    for variable, wanted in zip(known, expected, strict=True):
        assert variable.type.shape == wanted.shape
    for wanted in expected:
        assert tuple(next(results)) == wanted.shape


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("how", COORDINATE_MODES)
def test_against_onnx_reference(how, target):
    onnx = pytest.importorskip("onnx")
    from onnx.reference.ops.op_resize import Resize

    del onnx
    value = np.random.default_rng(1).normal(size=(1, 1, 5, 6))
    sizes = np.array([1, 1, *target["size"]]) if "size" in target else None
    if how == "align_corners" and sizes is None:
        # The reference takes the product of length and scale for the new length, unrounded;
        # ours is the length that the output has.
        scale = target["scale"]
        sizes = np.array([1, 1, *(math.floor(n * f) for n, f in zip((5, 6), scale, strict=True))])
        target = {"size": tuple(int(n) for n in sizes[2:])}
    scales = np.array([1, 1, *target["scale"]], "float32") if "scale" in target else None
    for mode, rounding in METHODS:
        (expected,) = Resize.eval(
            value, None, scales, sizes, mode=mode, coordinate_transformation_mode=how,
            nearest_mode=rounding,
        )  # fmt: skip
        out = pt.resize(
            value, **target, mode=mode, coordinate_transformation_mode=how, nearest_mode=rounding
        )
        result = out.eval(mode=REFERENCE_MODE)
        # The reference drops a leading axis of length 1
        expected = expected.reshape(result.shape)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_gradient(mode, target):
    rng = np.random.default_rng(2)
    value = rng.normal(size=(1, 2, 5, 6))
    verify_grad(lambda x: pt.resize(x, **target, mode=mode), [value], rng=rng, mode=REFERENCE_MODE)
    x = pt.tensor4("x")
    out = pt.resize(x, **target, mode=mode)
    weights = rng.normal(size=pt.resize(value, **target).type.shape)
    gradient = pytensor.grad((out * weights).sum(), x).eval({x: value}, mode=REFERENCE_MODE)
    # Linear in x: the gradient is the transpose
    other = rng.normal(size=value.shape)
    moved = naive_resize(other, **target, mode=mode, rounding="round_prefer_floor")
    np.testing.assert_allclose((gradient * other).sum(), (moved * weights).sum())


def test_other_ranks():
    line = np.arange(4.0).reshape(1, 1, 4)
    out = pt.resize(line, size=2, mode="linear", coordinate_transformation_mode="align_corners")
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE)[0, 0], [0, 3])
    cube = np.random.default_rng(3).normal(size=(1, 2, 2, 3, 4))
    out = pt.resize(cube, scale=(2, 1, 1.5), mode="linear").eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(out, naive_resize(cube, scale=(2, 1, 1.5), mode="linear"))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("shape", [(1, 1, 3, 4), (None,) * 4])
# PyTensor's own Ops say so when they have no C code for half precision
@pytest.mark.filterwarnings("ignore:Disabling C code")
def test_dtype_is_kept(mode, dtype, shape):
    x = pt.tensor("x", dtype=dtype, shape=shape)
    out = pt.resize(x, scale=1.5, mode=mode)
    gradient = pytensor.grad(out.sum(dtype=dtype), x)
    results = pytensor.function([x], [out, gradient], mode=REFERENCE_MODE)(
        np.ones((1, 1, 3, 4), dtype)
    )
    assert [r.dtype for r in results] == [out.type.dtype, gradient.type.dtype] == [dtype] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of size and scale"),
        ({"size": 2, "scale": 2}, "exactly one of size and scale"),
        ({"size": (1, 2, 3)}, "size must be one positive int"),
        ({"size": 2.5}, "size must be one positive int"),
        ({"size": (0, 2)}, "size must be one positive int"),
        ({"scale": -1.0}, "scale must be one positive number"),
        ({"scale": 0.1}, "scale=0.1 leaves no cell"),
        ({"scale": 2, "mode": "area"}, "mode must be one of nearest, linear"),
        ({"scale": 2, "coordinate_transformation_mode": "corner"}, "must be one of half_pixel"),
        ({"scale": 2, "nearest_mode": "round"}, "nearest_mode must be one of round_prefer_floor"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        pt.resize(np.ones((1, 1, 4, 6)), **arguments)
    assert "\n" not in str(error.value)


def test_bad_inputs():
    with pytest.raises(ValueError, match="must have batch, channel and spatial axes"):
        pt.resize(pt.matrix(), size=2)
    with pytest.raises(TypeError, match="must be floating point, got uint8"):
        pt.resize(pt.tensor4(dtype="uint8"), size=2)
