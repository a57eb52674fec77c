import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from tests.utils import REFERENCE_MODE


def test_inverse_of_pooling():
    value = 1 + np.random.default_rng(0).permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8) / 7
    x = pt.tensor("x", shape=value.shape)
    maxima, indices = pt.nn.max_pool2d(x, (2, 3), return_indices=True)
    out = pt.nn.max_unpool2d(maxima, indices, (2, 3), output_size=x.shape)
    kept = pt.nn.max_unpool2d(maxima, indices, (2, 3), output_size=(7, 8))
    assert kept.type.shape[-2:] == (7, 8)
    result, shape, other = pytensor.function([x], [out, out.shape, kept], mode=REFERENCE_MODE)(
        value
    )
    assert tuple(shape) == result.shape == value.shape
    np.testing.assert_array_equal(other, result)
    expected = np.zeros_like(value)
    for place in np.ndindex(2, 3, 3, 2):
        *image, i, j = place
        window = value[(*image, slice(2 * i, 2 * i + 2), slice(3 * j, 3 * j + 3))]
        a, b = np.unravel_index(window.argmax(), window.shape)
        expected[(*image, 2 * i + a, 3 * j + b)] = window.max()
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_default_lengths(n):
    shape = (2, 3, 2)[:n]
    indices = np.arange(np.prod(shape)).reshape(shape)[None]
    unpool = getattr(pt.nn, f"max_unpool{n}d")
    pad = ((1, 0), (1, 1), (0, 0))[:n]
    arguments = (indices, (3, 4, 2)[:n], (2, 1, 3)[:n], pad)
    out = unpool(indices.astype("float32"), *arguments)
    assert out.type.shape == (1, *(4, 4, 5)[:n])
    x = pt.tensor("x", shape=(None,) * (n + 1), dtype="float32")
    result = unpool(x, *arguments).eval({x: indices.astype("float32")}, mode=REFERENCE_MODE)
    assert result.shape == out.type.shape
    assert result.dtype == "float32"


@pytest.mark.parametrize("mode", [REFERENCE_MODE, "JAX"])
def test_indices_of_another_shape(mode):
    """NumPy broadcasts a length of 1, and JAX takes the first indices."""
    if mode == "JAX":
        pytest.importorskip("jax")
    x, indices = pt.matrix("x"), pt.lmatrix("indices")
    f = pytensor.function([x, indices], pt.nn.max_unpool1d(x, indices, 2), mode=mode)
    for lengths in [(1, 3), (2, 1), (2, 2)]:
        with pytest.raises((ValueError, AssertionError), match="hape"):
            f(np.ones((2, 3)), np.ones(lengths, "int64"))


def test_of_equal_indices_the_last_stays():
    indices = np.array([[[1, 3], [1, 0]]])
    value = np.array([[[5.0, 6], [7, 8]]])

    def unpool(x):
        return pt.nn.max_unpool2d(x, indices, 2, 1, output_size=(2, 3))

    x = pt.tensor3("x")
    result = unpool(x).eval({x: value}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, [[[8, 7, 0], [6, 0, 0]]])
    verify_grad(unpool, [value], mode=REFERENCE_MODE)
    gradient = pytensor.grad((unpool(x) ** 2).sum(), x)
    result = gradient.eval({x: value}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, [[[0, 12], [14, 16]]])
    verify_grad(lambda x: pytensor.grad((unpool(x) ** 3).sum(), x), [value], mode=REFERENCE_MODE)


# Mode JAX alone, which checks nothing, has no error; Numba's is in `tests.link.numba`.
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "ONNX", "jax_mode"])
@pytest.mark.parametrize("index", [-1, 4])
def test_indices_outside_of_the_output(index, mode):
    if mode == "jax_mode":
        mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode()
    if mode == "ONNX":
        pytest.importorskip("onnxruntime")
    x, indices = pt.vector("x"), pt.lvector("indices")
    out = pt.nn.max_unpool1d(x, indices, 2)
    for result in (out, pytensor.grad((out**2).sum(), x)):
        f = pytensor.function([x, indices], result, mode=mode)
        f(np.ones(2), np.array([3, 0]))
        with pytest.raises((IndexError, ValueError)):
            f(np.ones(2), np.array([0, index]))
