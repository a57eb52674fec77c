"""Fourier transforms, windows and mel filters.  Complex numbers are a last axis of length 2."""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.control_flow import known_scalar, one_element
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.link.onnx.importing.sizes import normalized, what_to_give
from pytensor.tensor.basic import cast
from pytensor.tensor.conv.lengths import window_count

LONGEST = 8192  # a transform of length n is a product with two n-by-n matrices


def _integer(variable, what):
    """Return a number if it is known, else a scalar variable."""
    value = known_scalar(one_element(variable, what))
    return cast(one_element(variable, what), "int64") if value is None else int(value)


def _length(x, axis):
    return x.shape[axis] if x.type.shape[axis] is None else x.type.shape[axis]


def _known(*numbers):
    return all(isinstance(n, int) for n in numbers)


def _library(*numbers):
    """Return NumPy, whose results are constants, where all numbers are known, else `pt`."""
    return np if _known(*numbers) else pt


def _parts(x, complex_allowed):
    """Return the real part, and the imaginary one or None."""
    n_parts = x.type.shape[-1]
    if n_parts not in (1, 2):
        raise Refused("PyTensor must know whether the last axis is 1 (real) or 2 (complex) long")
    if n_parts == 2 and not complex_allowed:
        raise Refused("the standard excludes a one-sided transform of complex numbers")
    return x[..., 0], x[..., 1] if n_parts == 2 else None


def _transform(real, imaginary, length, n_out, inverse=False):
    """Sum over the last axis, whose entries beyond `length` don't count and before it may lack."""
    if _known(length) and length > LONGEST:
        raise Refused(f"a transform of length {length}; {LONGEST} is the longest")
    available = _length(real, -1)
    library = _library(available, length)
    n_in = library.minimum(available, length)
    # Whole turns are taken off as integers, which an angle would lose its digits to
    library = _library(length, n_out) if _known(available) else pt
    turns = library.arange(n_in)[:, None] * library.arange(n_out) % length
    angles = turns * (np.float64(2 * np.pi) / length)
    cosines, sines = (f(angles).astype(real.type.dtype) for f in (library.cos, library.sin))
    real = real[..., :n_in]
    if imaginary is None:
        return real.dot(cosines), real.dot(sines if inverse else -sines)
    imaginary = imaginary[..., :n_in]
    if inverse:
        sines = -sines
    return (
        real.dot(cosines) + imaginary.dot(sines),
        imaginary.dot(cosines) - real.dot(sines),
    )


@operator_funcify.register("DFT")
def dft(x, dft_length=None, axis=None, *, inverse=0, onesided=0):
    axis = -2 if axis is None else _integer(axis, "the axis")
    if not _known(axis):
        text = "the axis is computed when the model runs; PyTensor must know it before"
        raise Refused(text + what_to_give(axis))
    return dft_along(x, dft_length, axis=axis, inverse=inverse, onesided=onesided)


@operator_funcify.register("DFT", before=20)
def dft_along(x, dft_length=None, *, axis=1, inverse=0, onesided=0):
    axis = normalized(axis, x.type.ndim)
    if axis == x.type.ndim - 1:
        raise Refused("its axis is the last one, which holds real and imaginary parts")
    if inverse and onesided and x.type.shape[-1] == 1:
        raise Refused("an inverse one-sided transform of real numbers; it takes complex ones")
    real, imaginary = (
        None if part is None else pt.moveaxis(part, axis, -1)
        for part in _parts(x, inverse or not onesided)
    )
    length = _length(real, -1)
    if dft_length is not None:
        length = _integer(dft_length, "dft_length")
    elif inverse and onesided:
        length = 2 * (length - 1)
    if inverse and onesided:
        result = _real_inverse(real, imaginary, length)[..., None]
        return pt.moveaxis(result, -2, axis)
    n_out = length // 2 + 1 if onesided else length
    result = pt.stack(_transform(real, imaginary, length, n_out, inverse), axis=-1)
    if inverse:
        result = result / _of(length, result)
    return pt.moveaxis(result, -2, axis)


def _real_inverse(real, imaginary, length):
    """Return the real signal of which half a spectrum is given."""
    n_half = length // 2 + 1
    real, imaginary = (None if v is None else v[..., :n_half] for v in (real, imaginary))
    n = _length(real, -1)
    library = _library(n, length)
    positions = library.arange(n)
    # All but the first and, of even lengths, the last stand for their conjugates too
    weights = 2 - library.equal(positions % length, 0) - library.equal(2 * positions, length)
    weights = weights.astype(real.type.dtype)
    real, imaginary = (None if v is None else v * weights for v in (real, imaginary))
    result, _ = _transform(real, imaginary, length, length, inverse=True)
    return result / _of(length, result)


def _of(number, like):
    """Return a number in the dtype of a tensor."""
    dtype = like.type.dtype
    return np.asarray(number, dtype=dtype) if _known(number) else cast(number, dtype)


@operator_funcify.register("STFT")
def stft(signal, frame_step, window=None, frame_length=None, *, onesided=1):
    step, n_samples = _integer(frame_step, "frame_step"), _length(signal, 1)
    if frame_length is not None:
        length = _integer(frame_length, "frame_length")
    else:
        length = n_samples if window is None else _length(window, 0)
    n_frames = window_count(n_samples, length, step, (0, 0))
    library = _library(n_frames, step, length)
    positions = library.arange(n_frames)[:, None] * step + library.arange(length)
    parts = [
        None if part is None else part[:, positions] for part in _parts(signal, not onesided)
    ]
    if window is not None:
        parts = [None if part is None else part * window for part in parts]
    n_out = length // 2 + 1 if onesided else length
    return pt.stack(_transform(*parts, length, n_out), axis=-1)


WINDOWS = {
    "HannWindow": (0.5, 0.5, 0.0),
    "HammingWindow": (25 / 46, 21 / 46, 0.0),
    "BlackmanWindow": (0.42, 0.5, 0.08),
}


@operator_funcify.register(*WINDOWS)
def window(node, size, *, output_datatype=1, periodic=1):
    constant, once, twice = map(np.float64, WINDOWS[node.op_type])
    size = cast(one_element(size, "the size"), "int64")
    period = cast(size if periodic else size - 1, "float64")
    angles = pt.arange(size) * (np.float64(2 * np.pi) / period)
    result = constant - once * pt.cos(angles) + twice * pt.cos(2 * angles)
    return cast(result, dtype_name(ir.DataType(output_datatype)))


@operator_funcify.register("MelWeightMatrix")
def mel_weight_matrix(
    num_mel_bins,
    dft_length,
    sample_rate,
    lower_edge_hertz,
    upper_edge_hertz,
    *,
    output_datatype=1,
):
    numbers = num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz
    numbers = [one_element(v, "an input") for v in numbers]
    n_bands, dft_length, sample_rate = (cast(v, "int64") for v in numbers[:3])
    lowest, highest = (cast(v, "float64") for v in numbers[3:])
    mel = np.float64(2595)
    low, high = (mel * pt.log10(1 + edge / np.float64(700)) for edge in (lowest, highest))
    edges = low + pt.arange(n_bands + 2) * ((high - low) / (n_bands + 2))
    hertz = np.float64(700) * (np.float64(10) ** (edges / mel) - 1)
    bins = cast(pt.floor((dft_length + 1) * hertz / sample_rate), "int64")
    lower, centre, upper = bins[:-2], bins[1:-1], bins[2:]
    position = pt.arange(dft_length // 2 + 1)[:, None]
    rising = (position - lower) / pt.maximum(centre - lower, 1)
    falling = (upper - position) / pt.maximum(upper - centre, 1)
    result = pt.maximum(pt.minimum(rising, falling), np.float64(0))
    # Even that of a triangle whose sides are no bin wide
    result = pt.switch(pt.eq(position, centre), np.float64(1), result)
    return cast(result, dtype_name(ir.DataType(output_datatype)))
