"""Dropout: distributions, masks, generators; without one it is in `torch_cases`."""

import warnings

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE

FUNCTIONS = {
    "dropout": ((), 0), "dropout1d": ((4,), 1), "dropout2d": ((3, 4), 2),
    "dropout3d": ((2, 3, 4), 3), "alpha_dropout": ((), 0), "feature_alpha_dropout": ((3, 4), 2),
}  # fmt: skip


def drawn(name, p, shape=(40, 50), dtype="float64", seed=0):
    """Return a result of ones, and the gradient of its sum."""
    x = pt.tensor("x", shape=(*shape, *[None] * len(FUNCTIONS[name][0])), dtype=dtype)
    with warnings.catch_warnings(action="error"):
        out = getattr(pt.nn, name)(x, p, True, rng=pt.random.shared_rng(seed=seed))
    gradient = pytensor.grad(out.sum(), x)
    assert out.type.dtype == gradient.type.dtype == dtype
    f = pytensor.function([x], [out, gradient], mode=REFERENCE_MODE)
    return f(np.ones((*shape, *FUNCTIONS[name][0]), dtype))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_mask_and_its_gradient(name):
    out, gradient = drawn(name, 0.25)
    axes = tuple(range(2, out.ndim))
    np.testing.assert_array_equal(out.min(axis=axes), out.max(axis=axes))
    kept = out == out.max()
    # 2,000 draws: four standard deviations
    assert abs(kept.mean() - 0.75) < 0.04
    np.testing.assert_array_equal(gradient[~kept], 0)
    if "alpha" not in name:
        np.testing.assert_allclose(np.unique(out), [0, 1 / 0.75])
        np.testing.assert_allclose(gradient[kept], 1 / 0.75)
        return
    # Of a normal distribution, mean and variance stay 0 and 1
    scale = gradient[kept].flat[0]
    shift = out[kept].flat[0] - scale
    lowest = out[~kept].flat[0]
    np.testing.assert_allclose(0.75 * shift + 0.25 * lowest, 0, atol=1e-12)
    second = 0.75 * (scale**2 + shift**2) + 0.25 * lowest**2
    np.testing.assert_allclose(second, 1)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_dtype_stays(dtype):
    for name in ("dropout", "alpha_dropout"):
        assert drawn(name, 0.5, dtype=dtype)[0].dtype == dtype


def test_the_next_generator_draws_another_mask():
    rng = pt.random.shared_rng(seed=0)
    next_rng, out = pt.nn.dropout(pt.ones(50), rng=rng, return_next_rng=True)
    f = pytensor.function([], out, updates={rng: next_rng}, mode=REFERENCE_MODE)
    assert (f() != f()).any()
    g = pytensor.function([], pt.nn.dropout(pt.ones(50), rng=rng), mode=REFERENCE_MODE)
    np.testing.assert_array_equal(g(), g())


def test_where_nothing_is_drawn():
    x, rng = pt.vector(), pt.random.shared_rng(seed=0)
    assert pt.nn.dropout(x, training=False) is x
    assert pt.nn.dropout(x, 0) is x
    assert pt.nn.alpha_dropout(x) is x
    assert pt.nn.dropout(x, training=False, rng=rng, return_next_rng=True) == (rng, x)
    same, out = pt.nn.dropout(x, 1, rng=rng, return_next_rng=True)
    assert same is rng
    np.testing.assert_array_equal(out.eval({x: [1.0, 2.0]}, mode=REFERENCE_MODE), [0, 0])


def test_dropped_entries_may_be_infinite():
    rng = pt.random.shared_rng(seed=0)
    out = pt.nn.dropout(pt.full(50, np.inf), rng=rng).eval(mode=REFERENCE_MODE)
    assert set(out) == {0, np.inf}


def test_bad_arguments():
    x, rng = pt.vector(), pt.random.shared_rng(seed=0)
    with pytest.raises(ValueError, match=r"dropout: rng is missing.*shared_rng"):
        pt.nn.dropout(x)
    with pytest.raises(TypeError, match="dropout: rng must be a random generator variable"):
        pt.nn.dropout(x, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"p must be a number from 0 to 1, got 1\.5"):
        pt.nn.dropout(x, 1.5, rng=rng)
    with pytest.raises(ValueError, match="training must be True or False"):
        pt.nn.dropout(x, 0.5, "yes", rng=rng)
    with pytest.raises(ValueError, match="dropout2d: x must have 4 axes, got 3"):
        pt.nn.dropout2d(pt.tensor3(), rng=rng)
    with pytest.raises(TypeError, match="dropout: x must be floating point, got int64"):
        pt.nn.dropout(pt.lvector(), rng=rng)
