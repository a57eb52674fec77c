"""Fourier transforms in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor import fft

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)
# PyTensor calls NumPy so.
without_axes = pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")


@without_axes
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("lengths", [(6,), (5,), (2, 3, 2, 5)])
def test_fourier_transforms(lengths, norm):
    x = pt.tensor("x", shape=(None,) * (1 + len(lengths)))
    there = fft.rfft(x, norm)
    back = fft.irfft(there * 2, norm, is_odd=bool(lengths[-1] % 2))
    outputs = [there, back, *(pt.grad((y**3).sum(), x) for y in (there, back))]
    compare([x], outputs, [rng.normal(size=(2, *lengths))])


@without_axes
@pytest.mark.parametrize("op", [fft.rfft_op, fft.irfft_op])
def test_fourier_transforms_of_lengths_that_an_input_decides(op):
    """Of a part of the array, and of one with zeros behind it."""
    x, lengths = pt.matrix("x") if op is fft.rfft_op else pt.tensor3("x"), pt.lvector("lengths")
    for n in (3, 8):
        compare([x, lengths], op(x, lengths), [rng.normal(size=(2, 5, 2)[: x.ndim]), np.array([n])])


@without_axes
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fourier_transforms_of_other_dtypes(dtype):
    x = pt.matrix("x", dtype=dtype)
    there = fft.rfft_op(x, [6])
    compare([x], [there, fft.irfft_op(there, [6])], [rng.normal(size=(2, 6)).astype(dtype)])


@pytest.mark.parametrize("transform", [fft.rfft, fft.irfft])
def test_fourier_transforms_of_integers_are_refused(transform):
    """They would be cut to integers, as their types say."""
    x = pt.tensor3("x", dtype="int32")
    with pytest.raises(NotImplementedError, match=r"of x: .* int32 to integers; cast"):
        pytensor.function([x], transform(x), mode=jax_mode())


@pytest.mark.parametrize("dtypes", [("int32", "int32"), ("int64", "int8"), ("int32", "float32")])
def test_convolutions_of_integers(dtypes):
    """JAX convolves integers in floating point."""
    x, kernel = (pt.vector(dtype=dtype) for dtype in dtypes)
    values = [np.array([2**24 + 1, 5, 2**24 + 3], dtypes[0]), np.array([3, 7], dtypes[1])]
    if dtypes[0] == "int64":
        values[0][0] = 2**54 + 1
    outputs = [pt.signal.convolve1d(x, kernel, mode=mode) for mode in ("full", "valid")]
    compare([x, kernel], outputs, values)
