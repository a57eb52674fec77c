"""Pooling of windows against loops from the definition."""

from itertools import product

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.pool import POOL_MODES, Pool, PoolWithIndices, lp_pool, pool_nd
from tests.utils import REFERENCE_MODE, compare_jax_and_py


def naive_windows(spatial, ws, stride, pad, dilation, ceil):
    """Return, for each place of the output, the image's cells, and how many with its padding."""
    axes = []
    for length, w, s, (lo, hi), d in zip(spatial, ws, stride, pad, dilation, strict=True):
        # ceil mode: windows start on the image or the padding before it, until one has covered
        # the padded end
        windows, start, extent = [], -lo, (w - 1) * d + 1
        while start + extent <= length + hi or (ceil and (not windows or start < length)):
            cells = [start + t * d for t in range(w)]
            inside = [c for c in cells if 0 <= c < length]
            windows.append((inside, sum(c < length + hi for c in cells)))
            if start + extent >= length + hi:
                break
            start += s
        axes.append(windows)
    return axes


def naive_pool(x, ws, ceil, stride, pad, mode, dilation=None):
    """Pool window by window over the last axes; with indices for "indices"."""
    n = len(ws)
    lead, spatial = x.shape[:-n], x.shape[-n:]
    axes = naive_windows(spatial, ws, stride, pad, dilation or (1,) * n, ceil)
    out = np.empty((*lead, *map(len, axes)), "int64" if mode == "indices" else x.dtype)
    flat = x.reshape(*lead, np.prod(spatial))
    for place in product(*(range(len(axis)) for axis in axes)):
        windows = [axis[i] for axis, i in zip(axes, place, strict=True)]
        cells = list(product(*(cells for cells, _ in windows)))
        positions = np.array([np.ravel_multi_index(c, spatial) for c in cells], int)
        values = flat[..., positions]
        if mode == "indices":
            # NaN is the largest for argmax
            out[(..., *place)] = positions[values.argmax(-1)]
        elif mode == "max":
            out[(..., *place)] = values.max(-1)
        else:
            number = {
                "sum": 1,
                "average_exc_pad": len(cells),
                "average_inc_pad": np.prod([count for _, count in windows]),
            }[mode]
            out[(..., *place)] = values.sum(-1) / number
    return out


@st.composite
def poolings(draw, modes=POOL_MODES):
    """Draw an Op and the shape of its image."""
    n = draw(st.integers(1, 3))

    def each(low, high):
        return tuple(draw(st.integers(low, h)) for h in np.broadcast_to(high, n).tolist())

    ws, dilation = each(1, 4 if n < 3 else 2), each(1, 3)
    extents = (np.array(ws) - 1) * dilation + 1
    pad = tuple(zip(each(0, extents - 1), each(0, extents - 1), strict=True))
    op = Pool(
        ws=ws,
        stride=each(1, 5),
        pad=pad,
        dilation=dilation,
        ignore_border=draw(st.booleans()),
        mode=draw(st.sampled_from(modes)),
    )
    # Where an image is as long as the dilation, each window has a cell of it.
    least = [max(int(w) - sum(p), d) for w, p, d in zip(extents, pad, dilation, strict=True)]
    spatial = [low + more for low, more in zip(least, each(0, 4), strict=True)]
    leading = draw(st.lists(st.integers(0, 3), max_size=2))
    return op, (*leading, *spatial)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(poolings(), st.booleans(), st.data())
def test_all_attributes(pooling, static, data):
    op, shape = pooling
    special = [0, 1, 2, 3, -4, np.nan, np.inf, -np.inf] if op.mode == "max" else range(-4, 5)
    value = data.draw(hnp.arrays("float64", shape, elements=st.sampled_from(special)))
    x = pt.tensor("x", shape=shape if static else (None,) * len(shape))
    geometry = (op.ws, not op.ignore_border, op.stride, op.pad)
    expected = [naive_pool(value, *geometry, op.mode, op.dilation)]
    outputs = [op(x)]
    if op.mode == "max":
        outputs += PoolWithIndices(op=op)(x)
        expected += [expected[0], naive_pool(value, *geometry, "indices", op.dilation)]
    results = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for variable, result, wanted in zip(outputs, results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12)
        assert result.dtype == variable.type.dtype
        if static:
            assert variable.type.shape == result.shape


@pytest.mark.slow
def test_ties():
    """The first in row-major order wins, which is neither the first column's nor the last."""
    windows = [[[0, 5], [5, 0]], [[0, 5], [5, 5]], [[5, 5], [5, 5]]]
    expected = [[[0, 1], [0, 0]], [[0, 1], [0, 0]], [[1, 0], [0, 0]]]
    x = pt.tensor4("x")
    gradient = pytensor.grad(pt.pool_2d(x, (2, 2)).sum(), x)
    _, indices = pt.nn.max_pool2d(x, 2, return_indices=True)
    value = np.array(windows, dtype="float64")[:, None]
    result, index = compare_jax_and_py([x], [gradient, indices], [value])
    np.testing.assert_array_equal(result[:, 0], expected)
    assert index.ravel().tolist() == [np.argmax(window) for window in expected]


@pytest.mark.slow
def test_overlapping_windows_of_equal_values():
    x = pt.tensor4("x")
    out = pt.pool_2d(x, (3, 2), True, (1, 1), (1, 0))
    weights = np.arange(1.0, 5 * 5 + 1).reshape(5, 5)
    compare_jax_and_py([x], pytensor.grad((out * weights).sum(), x), [np.ones((1, 1, 5, 6))])


@pytest.mark.slow
def test_nan_propagates():
    value = np.arange(24.0).reshape(1, 1, 4, 6)
    value[0, 0, 1, 2] = np.nan
    x = pt.tensor4("x")
    out = pt.pool_2d(x, (2, 3), pad=(1, 0), stride=(1, 3))
    out, gradient = compare_jax_and_py([x], [out, pt.grad(out.sum(), x)], [value])
    np.testing.assert_array_equal(np.isnan(out[0, 0]), [[0, 0], [1, 0], [1, 0], [0, 0], [0, 0]])
    assert gradient[0, 0, 1, 2] == 2


def test_derivative_is_differentiable():
    rng = np.random.default_rng(5)
    x, direction = rng.permutation(12).reshape(3, 4) / 4, rng.normal(size=(3, 4))
    op = Pool(
        ws=(2, 3),
        stride=(1, 2),
        pad=((1, 0), (0, 1)),
        dilation=(1, 1),
        ignore_border=True,
        mode="max",
    )
    verify_grad(lambda v: op.derivative(pt.constant(x), v), [direction], mode=REFERENCE_MODE)


@pytest.mark.slow
def test_indices_where_all_is_minus_infinity():
    x = pt.tensor("x", shape=(None, None))
    values, indices = pt.nn.max_pool2d(x, (3, 2), (2, 2), ((1, 1), (1, 0)), return_indices=True)
    dilated = pt.nn.max_pool1d(x, 2, 1, ((2, 0),), dilation=3, return_indices=True)[1]
    outputs = [values, indices, dilated, pt.grad(values.sum(), x)]
    value = np.full((4, 5), -np.inf)
    _, index, of_gaps, gradient = compare_jax_and_py([x], outputs, [value])
    np.testing.assert_array_equal(index, [[0, 1, 3], [5, 6, 8]])
    # With gaps in a window, its first cell on the image isn't the image's first.
    np.testing.assert_array_equal(of_gaps[0], [1, 2, 0, 1])
    # A window that starts on padding propagates nothing.
    assert gradient.sum() == 2


@pytest.mark.slow
def test_half_precision_does_not_overflow():
    value = np.full((1, 1, 4, 6), 60000, "float16")
    x = pt.tensor4("x", dtype="float16")
    outputs = [
        pt.nn.avg_pool2d(x, (2, 3)),
        pt.nn.global_avg_pool(x),
        pt.nn.adaptive_avg_pool2d(x, (3, 2)),
        lp_pool(x / 2, 4, (1, 2)),
    ]
    for out in compare_jax_and_py([x], outputs, [value])[:3]:
        np.testing.assert_array_equal(out, np.full(out.shape, 60000, "float16"))


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
        ({"ws": (2, 2), "mode": "mean"}, ValueError, "pool_2d: mode must be one of max, sum"),
        ({"ws": 0}, ValueError, "pool_2d: ws must be"),
        ({"ws": (2, 2, 2)}, ValueError, "pool_2d: ws must be"),
        ({"ws": 2, "stride": 0}, ValueError, "stride must be"),
        ({"ws": 2, "stride": (1, 1.5)}, ValueError, "stride must be"),
        ({"ws": 2, "pad": -1}, ValueError, "pad must be"),
        ({"ws": 2, "pad": ((0, 1, 1), 0)}, ValueError, "pad must be"),
        ({"ws": (3, 2), "pad": (2, 2)}, ValueError, "pad must be smaller than the window"),
        ({"ws": (5, 2), "ignore_border": True}, ValueError, "window .*larger than the padded"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message) as raised:
        pt.pool_2d(np.ones((1, 1, 4, 6)), **arguments)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: pt.nn.max_pool1d(x, 2, dilation=0), "max_pool1d: dilation must be"),
        (lambda x: pt.nn.max_pool2d(x, 2, ceil_mode=(1, 2)), "max_pool2d: ceil_mode must be True"),
        (lambda x: pt.nn.lp_pool2d(x, 2, 2, ceil_mode=np.nan), "lp_pool2d: ceil_mode must be True"),
        (lambda x: pt.nn.avg_pool1d(x, 2, count_include_pad=2), "count_include_pad must be True"),
        (lambda x: pt.nn.avg_pool2d(x, 2, divisor_override=0), "divisor_override must be an int"),
        (lambda x: pt.nn.max_pool3d(x, 1, return_indices=None), "return_indices must be True or"),
        (lambda x: pt.nn.adaptive_max_pool2d(x, 2, "no"), "return_indices must be True or False"),
        (lambda x: pt.pool_2d(x, (2, 2), (2, 2)), "pool_2d: ignore_border must be True or False"),
        (lambda x: pt.nn.max_pool2d(x, 2, padding=2), "padding must be smaller than the window"),
        (lambda x: pool_nd(x, (3, 2), True, dilation=(2, 1)), "pool_nd: ws=.*size 5"),
        (lambda x: lp_pool(x, 2, (3, 2), dilation=(2, 1)), "lp_pool: kernel_size=.*size 5"),
        (lambda x: pt.nn.lp_pool2d(x, 0, 2), "norm_type must be a finite positive number, got 0"),
        (lambda x: lp_pool(x, True, (2, 2)), "norm_type must be"),
        (lambda x: pt.nn.global_lp_pool(x, np.inf), "global_lp_pool: norm_type must be"),
        (lambda x: pt.nn.global_max_pool(x[0, 0]), "must have axes after batch and channels"),
        (lambda x: pt.nn.adaptive_avg_pool2d(x, 0), "adaptive_avg_pool2d: output_size must be"),
        (lambda x: pt.nn.adaptive_max_pool2d(x, (1, 2, 3)), "output_size must be"),
        (lambda x: pt.nn.adaptive_max_pool2d(x[..., :0], 2), "no cells along pooled axis 1"),
        (lambda x: pt.nn.max_unpool2d(x, x[0].astype("int64"), 2), "indices must have shape"),
        (lambda x: pt.nn.max_unpool2d(x, x.astype("int8"), 2, output_size="a"), "output_size must"),
        (lambda x: pt.nn.max_unpool1d(x, x.astype("int64"), 1, 1, 3), "lengths must be at least 1"),
    ],
)
def test_bad_arguments_of_other_functions(call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call(pt.tensor("x", shape=(1, 1, 4, 6)))
    assert "\n" not in str(raised.value)


def test_bad_inputs():
    with pytest.raises(TypeError, match="must be floating-point, got int64"):
        pt.pool_2d(pt.tensor4(dtype="int64"), 2, mode="average_inc_pad")
    with pytest.raises(ValueError, match="must have at least 2 axes"):
        pt.pool_2d(pt.vector(), 2)
    with pytest.raises(TypeError, match="got bool"):
        pt.pool_2d(pt.tensor4(dtype="bool"), 2)
    with pytest.raises(TypeError, match="got complex64"):
        pt.nn.adaptive_max_pool2d(pt.tensor4(dtype="complex64"), 2)
    with pytest.raises(TypeError, match="indices must be integers"):
        pt.nn.max_unpool2d(pt.tensor4(), pt.tensor4(), 2)


def test_window_larger_than_image_at_run_time():
    x = pt.tensor4("x")
    out = pt.pool_2d(x, (3, 2), True, stride=(2, 2))
    f = pytensor.function([x], out, mode=REFERENCE_MODE)
    with pytest.raises(AssertionError, match="larger than the padded image"):
        f(np.ones((1, 1, 2, 5)))


def test_gradient_is_the_derivative_of_the_inner_graph():
    op = Pool(
        ws=(2, 3), stride=(3, 1), pad=((1, 0), (1, 2)), dilation=(2, 1), ignore_border=False,
        mode="sum",
    )  # fmt: skip
    x = pt.tensor3("x")
    rng = np.random.default_rng(8)
    value = rng.integers(0, 4, (2, 7, 5)).astype("float64")
    (out,) = op.build_inner_graph(x)
    g = pt.constant(rng.normal(size=out.eval({x: value}, mode=REFERENCE_MODE).shape))
    own = op.gradient(x, g)
    derived = pytensor.grad(None, x, known_grads={out: g})
    own, derived = pytensor.function([x], [own, derived], mode=REFERENCE_MODE)(value)
    np.testing.assert_allclose(own, derived, rtol=1e-12)
