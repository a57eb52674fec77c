import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.nnet.neighbours import NEIB_MODES, images2neibs, neibs2images
from tests.utils import REFERENCE_MODE, compare_jax_and_py

RNG = np.random.default_rng(0)


def patches(images, size, step, mode):
    """One patch after the other, from the definition."""
    (p, q), (s, t) = size, step
    height, width = images.shape[2:]
    if mode == "wrap_centered":
        rows = range(-(p // 2), height - p // 2, s)
        columns = range(-(q // 2), width - q // 2, t)
    else:
        pad = {"half": [p // 2, q // 2], "full": [p - 1, q - 1]}.get(mode, [0, 0])
        images = np.pad(images, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
        height, width = images.shape[2:]
        rows, columns = range(0, height - p + 1, s), range(0, width - q + 1, t)
    return np.array(
        [
            [
                image[(r + i) % height, (c + j) % width]
                for i in range(p)
                for j in range(q)
            ]
            for image in images.reshape(-1, height, width)
            for r in rows
            for c in columns
        ]
    )


CASES = [
    ("valid", (6, 8), (2, 4), None),
    ("valid", (5, 8), (3, 2), (2, 3)),
    ("valid", (3, 4), (3, 4), None),
    ("valid", (1, 1), (1, 1), None),
    ("ignore_borders", (5, 7), (2, 3), None),
    ("ignore_borders", (6, 9), (4, 2), (3, 4)),
    ("half", (5, 6), (3, 2), (2, 2)),
    ("full", (4, 6), (2, 3), (4, 7)),
    ("wrap_centered", (5, 7), (3, 5), (1, 1)),
    ("wrap_centered", (5, 7), (3, 1), (2, 3)),
]


@pytest.mark.parametrize(("mode", "shape", "size", "step"), CASES)
def test_images2neibs(mode, shape, size, step):
    value = RNG.normal(size=(2, 3, *shape))
    expected = patches(value, size, step or size, mode)
    static = images2neibs(pt.constant(value), size, step, mode)
    np.testing.assert_array_equal(static.eval(mode=REFERENCE_MODE), expected)
    images = pt.tensor4("images")
    f = pytensor.function([images], images2neibs(images, size, step, mode), mode=REFERENCE_MODE)
    np.testing.assert_array_equal(f(value), expected)
    assert f(value[:0]).shape == (0, size[0] * size[1])


def test_gradient():
    verify_grad(
        lambda x: images2neibs(x, (3, 2), (2, 3), "ignore_borders"),
        [RNG.normal(size=(2, 1, 6, 7))],
        rng=RNG,
        mode=REFERENCE_MODE,
    )


def test_jax():
    pytest.importorskip("jax")
    images = pt.tensor4("images", shape=(None, 3, 5, 8))
    out = images2neibs(images, (3, 2), (2, 3))
    outputs = [out, pytensor.grad((out**2).sum(), images)]
    compare_jax_and_py([images], outputs, [RNG.normal(size=(2, 3, 5, 8))])


@pytest.mark.parametrize(("mode", "shape"), [("valid", (6, 8)), ("ignore_borders", (7, 11))])
def test_neibs2images(mode, shape):
    value = RNG.normal(size=(2, 3, *shape))
    kept = np.zeros_like(value)
    kept[:, :, :6, :8] = value[:, :, :6, :8]
    neibs = images2neibs(pt.constant(value), (2, 4), mode=mode)
    back = neibs2images(neibs, (2, 4), value.shape, mode)
    np.testing.assert_array_equal(back.eval(mode=REFERENCE_MODE), kept)
    images = pt.tensor4("images")
    back = neibs2images(images2neibs(images, (2, 4), mode=mode), (2, 4), images.shape, mode)
    f = pytensor.function([images], back, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(f(value), kept)


def test_errors():
    x = pt.tensor4("x", shape=(1, 1, 5, None))
    with pytest.raises(ValueError, match=r"patches of 2 at steps of 2 don't tile axis 2"):
        images2neibs(x, (2, 2))
    f = pytensor.function([x], images2neibs(x, (5, 2)), mode=REFERENCE_MODE)
    with pytest.raises(AssertionError, match=r"patches of 2 at steps of 2 don't tile axis 3"):
        f(np.zeros((1, 1, 5, 7)))
    with pytest.raises(ValueError, match=r"mode must be one of .*, got 'same'"):
        images2neibs(x, (1, 1), mode="same")
    with pytest.raises(ValueError, match=r"neib_shape must be odd .* got \(3, 2\)"):
        images2neibs(x, (3, 2), mode="wrap_centered")
    with pytest.raises(ValueError, match="ten4 must have 4 axes, it has 3"):
        images2neibs(pt.tensor3(), (1, 1))
    with pytest.raises(ValueError, match=r"neib_shape must be an int or 2 ints .* \(2, 0\)"):
        images2neibs(x, (2, 0))
    with pytest.raises(ValueError, match=r"mode must be 'valid' or .*, got 'half'"):
        neibs2images(pt.matrix(), (1, 1), (1, 1, 1, 1), "half")


def test_sizes_that_run_time_knows_in_jax():
    pytest.importorskip("jax")
    x = pt.tensor4("x")
    patches = images2neibs(x, (3, 2), (2, 3), mode="ignore_borders")
    compare_jax_and_py([x], [patches], [np.arange(112.0).reshape(2, 1, 8, 7)])


@pytest.mark.parametrize("mode", NEIB_MODES)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_dtype_is_kept(mode, dtype):
    x = pt.tensor4("x", dtype=dtype)
    assert images2neibs(x, (3, 3), mode=mode).type.dtype == dtype
