"""Checks of the arguments of pooling."""

from pytensor.scalar import discrete_dtypes
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.conv.basic import pairs_per_axis, per_axis
from pytensor.tensor.conv.lengths import pool_output_length, window_extent
from pytensor.tensor.variable import TensorVariable

THEANO_NAMES = {"ws": "ws", "pad": "pad", "ceil": "ignore_border=False"}
PYTORCH_NAMES = {"ws": "kernel_size", "pad": "padding", "ceil": "ceil_mode=True"}


def real_input(name: str, input: TensorLike, n: int, *, floating: bool = False) -> TensorVariable:
    """Check an input that has `n` axes at least."""
    input = as_tensor_variable(input)
    if input.type.ndim < n:
        raise ValueError(
            f"{name}: the input must have at least {n} axes, to pool over {n}; it has "
            f"{input.type.ndim}"
        )
    dtype = input.type.dtype
    if dtype.startswith(("bool", "complex")):
        raise TypeError(f"{name}: the input must be of real numbers, got {dtype}; cast it first")
    if floating and dtype in discrete_dtypes:
        raise TypeError(f"{name}: the input must be floating-point, got {dtype}; cast it first")
    return input


def pad_pairs(name, value, n):
    """Return cells (before, after) each axis, of an int, one int per axis, or pairs."""
    pairs = pairs_per_axis(value, n)
    if pairs is None:
        raise ValueError(
            f"{name} must be an int of at least 0, or for each of {n} axes such an int or a "
            f"(before, after) pair; got {value!r}"
        )
    return pairs


def window_geometry(name, n, input, names, *, window, stride, padding, dilation, floor):
    """Return the properties that all windows have, checked."""
    ws = per_axis(f"{name}: {names['ws']}", window, n, 1)
    stride = ws if stride is None else per_axis(f"{name}: stride", stride, n, 1)
    dilation = per_axis(f"{name}: dilation", dilation, n, 1)
    pad = pad_pairs(f"{name}: {names['pad']}", padding, n)
    extents = [*map(window_extent, ws, dilation)]
    for extent, pair in zip(extents, pad, strict=True):
        if max(pair) >= extent:
            raise ValueError(
                f"{name}: {names['pad']} must be smaller than the window, got "
                f"{names['pad']}={padding} for {names['ws']}={window}, dilation={dilation}"
            )
    for axis, length in enumerate(input.type.shape[input.type.ndim - n :]):
        if length is None:
            continue
        if pool_output_length(length, extents[axis], stride[axis], pad[axis], floor) < 1:
            raise ValueError(
                f"{name}: {names['ws']}={window} makes a window (size {extents[axis]}) larger "
                f"than the padded image (size {length}, padding {pad[axis]}) along pooled axis "
                f"{axis}; use a smaller window, more padding or {names['ceil']}"
            )
    return {
        "ws": ws,
        "stride": stride,
        "pad": pad,
        "dilation": dilation,
        "ignore_border": bool(floor),
    }
