import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE


def naive_adaptive(x, sizes, reduce):
    """Pool by the definition, over the last axes."""
    n = len(sizes)
    out = np.empty((*x.shape[:-n], *sizes), "int64" if reduce is np.argmax else x.dtype)
    spatial = x.shape[-n:]
    for place in np.ndindex(*sizes):
        cells = tuple(
            slice(i * length // m, -(-(i + 1) * length // m))
            for i, m, length in zip(place, sizes, spatial, strict=True)
        )
        window = x[(..., *cells)].reshape(*x.shape[:-n], -1)
        if reduce is np.argmax:
            positions = np.arange(np.prod(spatial)).reshape(spatial)[cells].ravel()
            out[(..., *place)] = positions[window.argmax(-1)]
        else:
            out[(..., *place)] = reduce(window, axis=-1)
    return out


@pytest.mark.slow
@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.data(), st.booleans())
def test_against_definition(data, static):
    n = data.draw(st.integers(1, 3))
    spatial = data.draw(st.lists(st.integers(1, 7), min_size=n, max_size=n))
    sizes = data.draw(st.lists(st.one_of(st.none(), st.integers(1, 9)), min_size=n, max_size=n))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    value = rng.integers(0, 5, (2, *spatial)).astype("float64")
    if data.draw(st.booleans()):
        value[rng.random(value.shape) < 0.1] = np.nan
    x = pt.tensor("x", shape=value.shape if static else (None,) * value.ndim)
    average = getattr(pt.nn, f"adaptive_avg_pool{n}d")(x, tuple(sizes))
    maxima, indices = getattr(pt.nn, f"adaptive_max_pool{n}d")(x, tuple(sizes), True)
    outputs = [average, maxima, indices]
    full = [length if m is None else m for m, length in zip(sizes, spatial, strict=True)]
    results = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for reduce, out, result in zip((np.mean, np.max, np.argmax), outputs, results, strict=True):
        np.testing.assert_allclose(result, naive_adaptive(value, full, reduce), rtol=1e-12)
        if static:
            assert out.type.shape == result.shape


def test_gradient_of_ties():
    x = pt.matrix("x")
    gradient = pytensor.grad(pt.nn.adaptive_max_pool2d(x, 1).sum(), x)
    result = gradient.eval({x: np.array([[1.0, 7], [7, 7]])}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, [[0, 1], [0, 0]])


def test_global():
    value = np.random.default_rng(1).normal(size=(0, 2, 3, 4))
    assert pt.nn.global_avg_pool(value).eval(mode=REFERENCE_MODE).shape == (0, 2, 1, 1)
    value = np.random.default_rng(1).normal(size=(2, 3, 2, 5, 4))
    for function, reduce in [(pt.nn.global_max_pool, np.max), (pt.nn.global_avg_pool, np.mean)]:
        result = function(value).eval(mode=REFERENCE_MODE)
        np.testing.assert_allclose(result, reduce(value, axis=(2, 3, 4), keepdims=True))
    integers = np.arange(-12, 12, dtype="int8").reshape(2, 3, 4)
    assert pt.nn.global_max_pool(integers).eval(mode=REFERENCE_MODE).dtype == "int8"
