import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.pool import POOL_MODES, pool_nd
from tests.utils import REFERENCE_MODE, compare_jax_and_py


def naive_pool(x, ws, ceil, stride, pad, mode):
    """Window by window over the last two axes, from the definition."""
    lead, spatial = x.shape[:-2], x.shape[-2:]
    starts = []
    for length, w, s, p in zip(spatial, ws, stride, pad, strict=True):
        # ceil mode: windows start inside the image or the padding before it, until one has
        # covered the padded end
        starts.append([])
        start = -p
        while start + w <= length + p or (ceil and start < length):
            starts[-1].append(start)
            if start + w >= length + p:
                break
            start += s
    out = np.empty((*lead, len(starts[0]), len(starts[1])), x.dtype)
    for i, a in enumerate(starts[0]):
        for j, b in enumerate(starts[1]):
            cells = x[..., max(a, 0) : a + ws[0], max(b, 0) : b + ws[1]].reshape(*lead, -1)
            if mode == "max":
                out[..., i, j] = cells.max(-1)
                continue
            out[..., i, j] = cells.sum(-1)
            if mode == "average_exc_pad":
                out[..., i, j] /= cells.shape[-1]
            elif mode == "average_inc_pad":
                ends = [
                    min(start + w, length + p)
                    for start, w, length, p in zip((a, b), ws, spatial, pad, strict=True)
                ]
                out[..., i, j] /= (ends[0] - a) * (ends[1] - b)
    return out


# window, ceil, stride, pad
CASES = [
    ((2, 3), False, None, (0, 0)),
    ((2, 3), True, None, (0, 0)),
    ((3, 2), False, (1, 2), (1, 0)),
    ((3, 5), True, (2, 3), (1, 2)),
    ((1, 2), False, (3, 4), (0, 1)),
    ((2, 2), True, (3, 5), (0, 0)),
    ((5, 5), False, (1, 1), (2, 2)),
]


@pytest.mark.parametrize(("ws", "ceil", "stride", "pad"), CASES)
@pytest.mark.parametrize("mode", POOL_MODES)
def test_against_definition(ws, ceil, stride, pad, mode):
    rng = np.random.default_rng(0)
    # All below zero: zeros from padding would win a maximum
    value = -1 - rng.permutation(2 * 7 * 8).reshape(2, 1, 7, 8).astype("float64")
    expected = naive_pool(value, ws, ceil, stride or ws, pad, mode)

    def pool(x):
        return pt.pool_2d(x, ws, not ceil, stride, pad, mode)

    x = pt.tensor4("x")
    f = pytensor.function([x], [pool(x), pool(x).shape], mode=REFERENCE_MODE)
    out, shape = f(value)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert tuple(shape) == expected.shape
    known = pool(pt.constant(value))
    assert known.type.shape == expected.shape
    np.testing.assert_allclose(known.eval(mode=REFERENCE_MODE), expected, rtol=1e-12)
    verify_grad(pool, [value[:1] / 10], rng=rng, mode=REFERENCE_MODE)


@pytest.mark.parametrize("ignore_border", [True, False])
@pytest.mark.parametrize("static", [True, False])
def test_shape_without_computation(ignore_border, static):
    x = pt.tensor4("x", shape=(2, 3, 7, 8) if static else (None,) * 4)
    out = pt.pool_2d(x, (3, 2), ignore_border, (2, 3), (1, 0))
    f = pytensor.function([x], out.shape, mode="FAST_COMPILE")
    assert tuple(f(np.ones((2, 3, 7, 8)))) == (2, 3, 4, 3)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # The first in row-major order, which is neither the first column's nor the last
        ([[0, 5], [5, 0]], [[0, 1], [0, 0]]),
        ([[0, 5], [5, 5]], [[0, 1], [0, 0]]),
        ([[5, 5], [5, 5]], [[1, 0], [0, 0]]),
    ],
)
def test_ties(window, expected):
    x = pt.tensor4("x")
    gradient = pytensor.grad(pt.pool_2d(x, (2, 2)).sum(), x)
    (result,) = compare_jax_and_py([x], gradient, [np.array([[window]], dtype="float64")])
    np.testing.assert_array_equal(result[0, 0], expected)


def test_overlapping_windows_of_equal_values():
    x = pt.tensor4("x")
    out = pt.pool_2d(x, (3, 2), True, (1, 1), (1, 0))
    weights = np.arange(1.0, 5 * 5 + 1).reshape(5, 5)
    compare_jax_and_py([x], pytensor.grad((out * weights).sum(), x), [np.ones((1, 1, 5, 6))])


def test_nan_propagates():
    value = np.arange(24.0).reshape(1, 1, 4, 6)
    value[0, 0, 1, 2] = np.nan
    x = pt.tensor4("x")
    (out,) = compare_jax_and_py([x], pt.pool_2d(x, (2, 3), pad=(1, 0), stride=(1, 3)), [value])
    np.testing.assert_array_equal(np.isnan(out[0, 0]), [[0, 0], [1, 0], [1, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float32"])
@pytest.mark.parametrize("mode", ["max", "sum"])
# PyTensor's own Ops say so when they have no C code for half precision
@pytest.mark.filterwarnings("ignore:Disabling C code")
def test_dtypes(dtype, mode):
    x = pt.tensor4("x", dtype=dtype)
    value = np.arange(20).reshape(1, 1, 4, 5).astype(dtype)
    if dtype != "uint8":
        value = -value
    out = pt.pool_2d(x, (2, 2), stride=(1, 2), pad=1, mode=mode)
    assert out.type.dtype == dtype
    f = pytensor.function([x], out, mode=REFERENCE_MODE)
    expected = naive_pool(value, (2, 2), True, (1, 2), (1, 1), mode)
    np.testing.assert_array_equal(f(value), expected)


def test_pytorch_names():
    value = np.random.default_rng(1).normal(size=(1, 2, 5, 7))
    for out, reference in [
        (pt.max_pool2d(value, 3, 2, 1), ((3, 3), False, (2, 2), (1, 1), "max")),
        (pt.max_pool2d(value, (2, 3), ceil_mode=True), ((2, 3), True, (2, 3), (0, 0), "max")),
        (pt.avg_pool2d(value, 3, 2, 1), ((3, 3), False, (2, 2), (1, 1), "average_inc_pad")),
        (
            pt.avg_pool2d(value, 3, 2, 1, count_include_pad=False),
            ((3, 3), False, (2, 2), (1, 1), "average_exc_pad"),
        ),
    ]:
        np.testing.assert_allclose(
            out.eval(mode=REFERENCE_MODE), naive_pool(value, *reference), rtol=1e-12
        )


def test_other_ranks():
    value = np.arange(-12.0, 0).reshape(2, 6)
    out = pool_nd(value, (4,), True, (2,), 1).eval(mode=REFERENCE_MODE)
    np.testing.assert_array_equal(out, [[-10, -8, -7], [-4, -2, -1]])
    cube = np.random.default_rng(2).normal(size=(3, 4, 5))
    out = pool_nd(cube, (3, 2, 5), True).eval(mode=REFERENCE_MODE)
    np.testing.assert_array_equal(out[0, :, 0], [cube[:, :2].max(), cube[:, 2:].max()])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ws": (2, 2), "mode": "mean"}, ValueError, "mode must be one of max, sum"),
        ({"ws": 0}, ValueError, "ws must be"),
        ({"ws": (2, 2, 2)}, ValueError, "ws must be"),
        ({"ws": 2, "stride": 0}, ValueError, "stride must be"),
        ({"ws": 2, "stride": (1, 1.5)}, ValueError, "stride must be"),
        ({"ws": 2, "pad": -1}, ValueError, "pad must be"),
        ({"ws": (3, 2), "pad": (2, 2)}, ValueError, "pad must be smaller than the window"),
        ({"ws": (5, 2), "ignore_border": True}, ValueError, "window .*larger than the padded"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message) as raised:
        pt.pool_2d(np.ones((1, 1, 4, 6)), **arguments)
    assert "\n" not in str(raised.value)


def test_bad_inputs():
    with pytest.raises(TypeError, match="averages need floating-point input, got int64"):
        pt.pool_2d(pt.tensor4(dtype="int64"), 2, mode="average_inc_pad")
    with pytest.raises(ValueError, match="needs an input of at least as many"):
        pt.pool_2d(pt.vector(), 2)
    with pytest.raises(TypeError, match="bool"):
        pt.pool_2d(pt.tensor4(dtype="bool"), 2)


def test_window_larger_than_image_at_run_time():
    x = pt.tensor4("x")
    out = pt.pool_2d(x, (3, 2), True, stride=(2, 2))
    f = pytensor.function([x], out, mode=REFERENCE_MODE)
    with pytest.raises(AssertionError, match="window is larger than the padded image"):
        f(np.ones((1, 1, 2, 5)))
