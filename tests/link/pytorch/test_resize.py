"""Resizing by PyTorch's own functions: with the numbers of lookups, or else not at all."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.resize.ops import Resize
from tests.utils import compare_mode_and_py

torch = pytest.importorskip("torch", reason="torch isn't installed")

from pytensor.link.pytorch.dispatch import resize as dispatch  # noqa: E402

IMAGES = {1: (2, 3, 7), 2: (2, 3, 5, 8), 3: (2, 1, 4, 3, 5)}


def op_of(out):
    op = out.owner.op
    assert isinstance(op, Resize)
    return op


def interpolate(n, **arguments):
    return op_of(pt.nn.interpolate(pt.tensor(shape=IMAGES[n]), **arguments))


def resize(n, **arguments):
    return op_of(pt.resize(pt.tensor(shape=IMAGES[n]), **arguments))


def nearest():
    for n in (1, 2, 3):
        for mode in ("nearest", "nearest-exact"):
            yield interpolate(n, scale_factor=2, mode=mode)
            yield interpolate(n, size=tuple(range(9, 9 + n)), mode=mode)
            yield interpolate(n, size=tuple(range(2, 2 + n)), mode=mode)
        yield resize(n, scale=4)
    yield resize(2, size=(10, 4), coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def weighted():
    for n, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear"), (2, "bicubic")):
        for corners in (False, True):
            how = {"mode": mode, "align_corners": corners}
            yield interpolate(n, scale_factor=2, **how)
            yield interpolate(n, size=tuple(range(9, 9 + n)), **how)
            yield interpolate(n, size=tuple(range(1, 1 + n)), **how)
    for mode in ("bilinear", "bicubic"):
        yield interpolate(2, size=(3, 3), mode=mode, antialias=True)
        yield interpolate(2, size=(8, 4), mode=mode, antialias=True)
    yield interpolate(2, scale_factor=(2, 0.5), mode="bilinear")
    yield resize(2, scale=(2, 1.5), mode="linear")
    yield resize(2, size=(3, 7), mode="cubic", coordinate_transformation_mode="pytorch_half_pixel")
    yield resize(
        2, size=(7, 4), mode="linear", coordinate_transformation_mode="half_pixel_symmetric"
    )


def drawn(op, dtype=torch.float64):
    """Return an image, the lengths of its resized axes, and a cotangent."""
    rng = np.random.default_rng(0)
    shape = IMAGES[op.n_spatial]
    lengths = shape[2:]
    out = (*shape[:2], *op.output_lengths(lengths))
    image, cotangent = (torch.as_tensor(rng.normal(size=s)).to(dtype) for s in (shape, out))
    return image, lengths, cotangent


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("op", [*nearest(), *weighted()], ids=str)
def test_numbers_are_those_of_lookups(op, dtype, monkeypatch):
    image, lengths, cotangent = drawn(op, dtype)
    close = {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-13}
    for transposed, x in ((False, image), (True, cotangent)):
        by_lookups = dispatch._transposed_lookups if transposed else dispatch._lookups
        expected = by_lookups(op, lengths, x)
        called = calls(monkeypatch)
        native = dispatch._resized_by(op, transposed)(lengths, x)
        assert called[-1][1] is x
        torch.testing.assert_close(native, expected, **close)


def calls(monkeypatch):
    """Return the list to which what PyTorch's functions are called with is added."""
    called = []
    call = dispatch._call_native

    def noted(name, op, lengths, x, transposed):
        called.append((name, x))
        return call(name, op, lengths, x, transposed)

    monkeypatch.setattr(dispatch, "_call_native", noted)
    return called


def test_every_function_is_used(monkeypatch):
    called = calls(monkeypatch)
    for op in (*nearest(), *weighted()):
        image, lengths, _ = drawn(op)
        dispatch._resized_by(op)(lengths, image)
    names = {*dispatch.WEIGHTED.values()}.union(*dispatch.NEAREST.values())
    assert {name for name, _ in called} == names


OTHERS = {
    "other places": {"coordinate_transformation_mode": "asymmetric"},
    "zero where one cell is left": {
        "size": (1, 9), "coordinate_transformation_mode": "pytorch_half_pixel"
    },
    "a factor that leaves a rest": {"size": None, "scale": (1.7, 2)},
    "a crop": {"coordinate_transformation_mode": "tf_crop_and_resize", "roi": (0, 0, 1, 1)},
    "weights without what is outside": {"exclude_outside": True},
    "antialias with what is outside": {"antialias": True},
    "antialias at the corners": {
        "antialias": True, "exclude_outside": True,
        "coordinate_transformation_mode": "align_corners",
    },
    "another kernel": {"mode": "cubic", "cubic_coeff_a": -0.5},
    "the antialiased kernel": {"mode": "cubic", "antialias": True, "exclude_outside": True},
    "axes in another order": {"axes": (3, 2)},
    "axes before the last": {"axes": (1, 2)},
    "two roundings": {
        "mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "ceil"
    },
    "cubic along one axis": {"mode": "cubic", "size": (9,)},
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_looked_up(name, monkeypatch):
    op = resize(2, **{"size": (9, 6), "mode": "linear"} | OTHERS[name])
    image = drawn(interpolate(2, size=(9, 6)))[0]
    lengths = tuple(image.shape[axis] for axis in op.axes)
    called = calls(monkeypatch)
    out = dispatch._resized_by(op)(lengths, image)
    assert not any(x is image for _, x in called)
    torch.testing.assert_close(out, dispatch._lookups(op, lengths, image))


MODES = (
    {"mode": "nearest"},
    {"mode": "bilinear"},
    {"mode": "bicubic"},
    {"mode": "bilinear", "antialias": True},
    {"mode": "bicubic", "align_corners": True},
)


def compare(how, value, dtype="float64", **tolerance):
    x = pt.tensor("x", shape=(None, *value.shape[1:]), dtype=dtype)
    out = pt.nn.interpolate(x, (9, 9), **how)
    gradient = pytensor.grad((out**2).sum(), x)
    with torch.compiler.set_stance("force_eager"):
        compare_mode_and_py(
            "PYTORCH", [x], [out, gradient], [value.astype(dtype)],
            py_mode="FAST_COMPILE", **tolerance,
        )  # fmt: skip


@pytest.mark.parametrize("how", MODES, ids=str)
@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")  # inf - inf
def test_what_has_no_weight_is_not_read(how):
    """PyTorch's functions multiply it by zero, which for NaN and infinity is NaN."""
    value = np.random.default_rng(0).normal(size=(1, 2, 5, 3))
    value[0, 0, 1, 1], value[0, 1, 2, 0] = np.nan, np.inf
    compare(how, value)


@pytest.mark.parametrize("how", MODES, ids=str)
@pytest.mark.parametrize("shape", [(0, 2, 4, 5), (2, 2, 9, 4)], ids=str)
def test_half_precision_and_empty_batches(how, shape):
    value = np.random.default_rng(0).normal(size=shape)
    compare(how, value, "float16", rtol=1e-2, atol=1e-2)
