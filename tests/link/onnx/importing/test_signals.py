"""Fourier transforms, windows and random numbers through `from_onnx`."""

import numpy as np
import pytest
from onnx import helper

from pytensor import function, grad
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_pytensor,
    normal,
    one_node,
    parsed,
)


def dft_model(shape, length=None, axis=None, **attributes):
    """Build a model of opset 20, whose length and axis are constants."""
    given = {"n": length, "axis": axis}
    known = {name: np.array(value) for name, value in given.items() if value is not None}
    inputs = ", ".join(["x", *(name if name in known else "" for name in given)]).rstrip(", ")
    text = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    node = f"DFT{f'<{text}>' if text else ''}({inputs})"
    return parsed(f"(float{list(shape)} x) => (y) {{ y = {node} }}", **known)


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1]


def as_real(x):
    return np.stack([x.real, x.imag], axis=-1)


@pytest.mark.parametrize("length", [None, 4, 7, 9])
@pytest.mark.parametrize("axis", [None, 0, -3])
def test_dft(axis, length):
    x = normal(5, 6, 7, 1)
    along = {None: 2, 0: 0, -3: 1}[axis]
    model = dft_model(x.shape, length, axis)
    (y,) = in_pytensor(model, [x])
    np.testing.assert_allclose(y, as_real(np.fft.fft(x[..., 0], length, along)), atol=1e-5)
    x = normal(5, 6, 7, 2)
    (y,) = in_pytensor(dft_model(x.shape, length, axis), [x])
    np.testing.assert_allclose(y, as_real(np.fft.fft(as_complex(x), length, along)), atol=1e-5)
    (y,) = in_pytensor(dft_model(x.shape, length, axis, inverse=1), [x])
    np.testing.assert_allclose(y, as_real(np.fft.ifft(as_complex(x), length, along)), atol=1e-5)


@pytest.mark.parametrize("length", [None, 5, 8, 13])
def test_one_sided_dft(length):
    x = normal(3, 8, 1)
    (y,) = in_pytensor(dft_model(x.shape, length, onesided=1), [x])
    np.testing.assert_allclose(y, as_real(np.fft.rfft(x[..., 0], length)), atol=1e-5)
    x = normal(3, 5, 2)
    (y,) = in_pytensor(dft_model(x.shape, length, onesided=1, inverse=1), [x])
    np.testing.assert_allclose(y[..., 0], np.fft.irfft(as_complex(x), length), atol=1e-5)


def test_dft_of_a_signal_of_open_length():
    x = normal(2, 6, 1)
    (y,) = in_pytensor(parsed("(float[n, m, 1] x) => (y) { y = DFT(x) }"), [x])
    np.testing.assert_allclose(y, as_real(np.fft.fft(x[..., 0])), atol=1e-5)


STFT = """(float[2, 20, 1] x) => (float[2, frames, bins, 2] y) <int64 step = {3}, int64 size = {8}>
{ window = HannWindow(size) y = STFT<onesided = %d>(x, step, window) }"""


@pytest.mark.parametrize("onesided", [0, 1])
def test_stft(onesided):
    imported = from_onnx(parsed(STFT % onesided))
    assert imported.outputs["y"].type.shape == (2, 5, 5 if onesided else 8, 2)
    compare(parsed(STFT % onesided), [normal(2, 20, 1)], atol=1e-5)


def test_gradient_of_the_power_of_a_spectrum():
    imported = from_onnx(parsed(STFT % 0))
    (x,), (y,) = imported.inputs.values(), imported.outputs.values()
    value = normal(2, 20, 1)
    gradient = function([x], grad((y**2).sum(), x), mode=PYTHON)(value)
    # Parseval: the power of a frame's spectrum is 8 times that of the frame
    window = np.sin(np.pi * np.arange(8) / 8) ** 2
    weights = sum(np.pad(window**2, (3 * i, 12 - 3 * i)) for i in range(5))
    np.testing.assert_allclose(gradient[..., 0], 16 * weights * value[..., 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op_type", ["HannWindow", "HammingWindow", "BlackmanWindow"])
def test_windows_in_double_precision(op_type):
    size = np.array(9)
    double = one_node(op_type, [size], types=["float64"], output_datatype=11)
    assert in_pytensor(double, [size])[0].dtype == "float64"


def draws(op_type, result, inputs=(), **attributes):
    """Return two draws of one function, whose generator is updated."""
    model = one_node(op_type, inputs, types=[result], **attributes)
    imported = from_onnx(model)
    (y,) = imported.outputs.values()
    assert len(imported.updates) == 1
    variables = list(imported.inputs.values())
    options = {"mode": PYTHON, "on_unused_input": "ignore"}
    draw = function(variables, y, updates=imported.updates, **options)
    first, second = draw(*inputs), draw(*inputs)
    assert first.dtype == result
    assert (first != second).any()
    (again,) = in_pytensor(model, inputs)
    return first, again


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_numbers(dtype):
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    options = {"shape": [40, 50], "dtype": number, "seed": 3.0}
    first, again = draws("RandomNormal", dtype, mean=5.0, scale=0.5, **options)
    np.testing.assert_array_equal(first, again)
    assert first.shape == (40, 50)
    np.testing.assert_allclose([first.mean(), first.std()], [5, 0.5], atol=0.05)
    first, _ = draws("RandomUniform", dtype, low=-1.0, high=3.0, **options)
    np.testing.assert_allclose([first.min(), first.max(), first.mean()], [-1, 3, 1], atol=0.1)


def test_random_numbers_like_a_tensor():
    like = normal(30, 40)
    first, again = draws("RandomNormalLike", "float32", [like])
    assert first.shape == (30, 40)
    assert (first != again).any()  # without a seed, each import has its own
    first, _ = draws("RandomUniformLike", "float64", [like], dtype=11)
    assert 0 <= first.min() < 0.05


def test_bernoulli_and_multinomial():
    p = np.linspace(0, 1, 2000, dtype="float32").reshape(40, 50)
    first, _ = draws("Bernoulli", "int64", [p], dtype=7, seed=1.0)
    assert set(np.unique(first)) == {0, 1}
    np.testing.assert_allclose(first[:20].mean(), 0.25, atol=0.05)
    weights = np.log(np.array([[1, 2, 5], [4, 4, 0]], dtype="float32") + 1e-30)
    first, _ = draws("Multinomial", "int32", [weights], sample_size=2000, seed=1.0)
    assert first.shape == (2, 2000)
    shares = [np.bincount(row, minlength=3) / 2000 for row in first]
    np.testing.assert_allclose(shares, [[0.125, 0.25, 0.625], [0.5, 0.5, 0]], atol=0.05)
