"""Pooling over the last axes of a tensor."""

import numpy as np

from pytensor.gradient import DisconnectedType, disconnected_grad, disconnected_type
from pytensor.raise_op import Assert
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.basic import alloc, arange, as_tensor_variable, cast, constant, switch
from pytensor.tensor.conv.basic import per_axis
from pytensor.tensor.math import isnan, maximum, minimum, or_
from pytensor.tensor.shape import Shape_i, specify_shape
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.vjp import SymbolicPullback

_window_fits = Assert(
    "pooling: the window is larger than the padded image; use a smaller window, more padding or "
    "ignore_border=False"
)

POOL_MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def pool_output_length(length, window, stride, pad, ignore_border):
    """Number of windows along one axis of `length` (an integer) with padding `pad`.

    Without `ignore_border` a last window may reach past the padded end, but each window starts
    on the image or on the padding before it, so that none is empty.
    """
    padded = length + pad[0] + pad[1]
    if ignore_border:
        return max((padded - window) // stride + 1, 0)
    windows = max(-((window - padded) // stride), 0) + 1
    if (windows - 1) * stride >= length + pad[0]:
        windows -= 1
    return windows


def _symbolic_output_length(length, window, stride, pad, ignore_border):
    """`pool_output_length` for a symbolic `length`."""
    padded = length + (pad[0] + pad[1])
    if ignore_border:
        windows = (padded - window) // stride + 1
    else:
        windows = maximum(-((window - padded) // stride), 0) + 1
        windows = minimum(windows, (length + (pad[0] - 1)) // stride + 1)
    return _window_fits(windows, windows >= 1)


class Pool(TensorSymbolicOp):
    """Reduce windows over the last ``len(ws)`` axes.

    All four modes are separable: the inner graph reduces one axis after the other, each as a
    handful of strided slices.  Among equal maxima the first in row-major order wins, and takes
    the whole gradient.

    Parameters
    ----------
    ws, stride : tuple of int, one per pooled axis
    pad : tuple of (int, int)
        Before and after each pooled axis.  It counts as -inf for ``"max"``, as 0 otherwise.
    ignore_border : bool
        Whether to leave out windows that reach past the padded end.
    mode : one of POOL_MODES
    """

    __props__ = ("ws", "stride", "pad", "ignore_border", "mode")

    def output_spatial_shape(self, spatial_shape):
        """Output lengths for integer input lengths; an error where no window fits."""
        lengths = []
        for axis, (length, w, s, p) in enumerate(
            zip(spatial_shape, self.ws, self.stride, self.pad, strict=True)
        ):
            windows = pool_output_length(length, w, s, p, self.ignore_border)
            if windows < 1:
                raise ValueError(
                    f"pooling: the window (size {w}) is larger than the padded image (size "
                    f"{length}, padding {p}) along pooled axis {axis}; use a smaller window, "
                    f"more padding or ignore_border=False"
                )
            lengths.append(windows)
        return tuple(lengths)

    def build_inner_graph(self, x):
        n = len(self.ws)
        static = x.type.shape[-n:]
        if None not in static:
            self.output_spatial_shape(static)
        out = x
        # The last axis first: then a tie across rows is settled after that within each row, which
        # makes the winner the first in row-major order.
        for i in reversed(range(n)):
            out = self._pool_axis(out, x.type.ndim - n + i, i)
        return [out]

    def infer_shape(self, node, shapes):
        # JAX knows lengths while it traces as long as they are made by plain arithmetic: no
        # broadcasting checks as the inner graph's shapes have, no minimum as ceil mode needs.
        (shape,) = shapes
        (out,) = node.outputs
        n = len(self.ws)
        if self.ignore_border:
            spatial = [
                (length + lo + hi - w) // s + 1
                for length, w, s, (lo, hi) in zip(
                    shape[-n:], self.ws, self.stride, self.pad, strict=True
                )
            ]
        else:
            spatial = [Shape_i(axis)(out) for axis in range(out.type.ndim - n, out.type.ndim)]
        return [(*shape[:-n], *spatial)]

    def _pool_axis(self, x, axis, i):
        window, stride, pad = self.ws[i], self.stride[i], self.pad[i]
        length = x.type.shape[axis]
        if length is None:
            length = x.shape[axis]
            windows = _symbolic_output_length(length, window, stride, pad, self.ignore_border)
            after = maximum((windows - 1) * stride + window - length - pad[0], 0)
        else:
            windows = pool_output_length(length, window, stride, pad, self.ignore_border)
            after = max((windows - 1) * stride + window - length - pad[0], 0)
        padded = self._pad_axis(x, axis, pad[0], after, length)

        def tap(offset):
            where = slice(offset, offset + stride * (windows - 1) + 1, stride)
            return padded[(slice(None),) * axis + (where,)]

        out = tap(0)
        for offset in range(1, window):
            if self.mode == "max":
                new = tap(offset)
                # `switch` and not `maximum`: a tie's gradient goes to one of the two
                keep = disconnected_grad(or_(out >= new, isnan(out)))
                out = switch(keep, out, new)
            else:
                out = out + tap(offset)
        if self.mode.startswith("average"):
            counts = self._counts(length, windows, window, stride, pad)
            shape = [-1 if a == axis else 1 for a in range(x.type.ndim)]
            out = out / cast(counts, x.type.dtype).reshape(shape)
        static_shape = list(x.type.shape)
        static_shape[axis] = windows if isinstance(windows, int) else None
        return specify_shape(out, static_shape)

    def _pad_axis(self, x, axis, before, after, length):
        if before == 0 and isinstance(after, int) and after == 0:
            return x
        if self.mode != "max":
            fill = 0
        elif x.type.dtype in discrete_dtypes:
            fill = np.iinfo(x.type.dtype).min
        else:
            fill = -np.inf
        shape = list(x.shape)
        shape[axis] = length + before + after
        buffer = alloc(constant(np.asarray(fill, dtype=x.type.dtype)), *shape)
        inside = (slice(None),) * axis + (slice(before, before + length),)
        return set_subtensor(buffer[inside], x)

    def _counts(self, length, windows, window, stride, pad):
        """How many cells each window's average is over."""
        start = arange(windows) * stride
        if self.mode == "average_inc_pad":
            return minimum(start + window, length + pad[0] + pad[1]) - start
        return minimum(start + window, pad[0] + length) - maximum(start, pad[0])

    def pullback(self, inputs, outputs, cotangents):
        (x,) = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type()]
        return [SymbolicPullback(op=self)(x, cotangent)]


def pool_nd(input, ws, ignore_border=False, stride=None, pad=0, mode="max"):
    """Pool over the last ``len(ws)`` axes; see `pool_2d` for the arguments."""
    input = as_tensor_variable(input)
    n = len(ws)
    if input.type.ndim < n:
        raise ValueError(
            f"pooling over {n} axes needs an input of at least as many, got {input.type.ndim}"
        )
    if mode not in POOL_MODES:
        raise ValueError(f"pooling: mode must be one of {', '.join(POOL_MODES)}; got {mode!r}")
    if input.type.dtype.startswith(("bool", "complex")):
        raise TypeError(f"pooling needs real numbers, got {input.type.dtype}; cast it first")
    if mode.startswith("average") and input.type.dtype in discrete_dtypes:
        raise TypeError(
            f"pooling: averages need floating-point input, got {input.type.dtype}; cast it first"
        )
    ws = per_axis("pooling: ws", ws, n, 1)
    stride = ws if stride is None else per_axis("pooling: stride", stride, n, 1)
    pad = per_axis("pooling: pad", pad, n, 0)
    for w, p in zip(ws, pad, strict=True):
        if p >= w:
            raise ValueError(
                f"pooling: pad must be smaller than the window, got pad={pad} for ws={ws}"
            )
    pairs = tuple((p, p) for p in pad)
    op = Pool(ws=ws, stride=stride, pad=pairs, ignore_border=bool(ignore_border), mode=mode)
    return op(input)


def pool_2d(input, ws, ignore_border=False, stride=None, pad=(0, 0), mode="max"):
    """Pool the last two axes of `input`, with the arguments and defaults of Theano.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    ws : int or (int, int)
        Window along height and width.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the default,
        keeps those that start inside (ceil mode): 5 rows with a window of 2 give 3 rows.
    stride : int or (int, int), optional
        Distance between windows; default `ws`.
    pad : int or (int, int)
        Cells added on both sides of height and of width, each less than the window.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`
        Differentiable; among equal maxima the first in row-major order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If an average of integers is asked for.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.arange(12.0).reshape(3, 4))
    >>> pt.pool_2d(x, (2, 2)).eval()
    array([[ 5.,  7.],
           [ 9., 11.]])
    """
    return pool_nd(input, per_axis("pooling: ws", ws, 2, 1), ignore_border, stride, pad, mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False):
    """Maximum over windows of the last two axes, with the argument names of PyTorch.

    See `pool_2d` for shapes and errors; `ceil_mode` is the opposite of its `ignore_border`.
    """
    return pool_2d(input, kernel_size, not ceil_mode, stride, padding, "max")


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
):
    """Average over windows of the last two axes, with the argument names of PyTorch.

    See `pool_2d` for shapes and errors; `ceil_mode` is the opposite of its `ignore_border`.
    """
    mode = "average_inc_pad" if count_include_pad else "average_exc_pad"
    return pool_2d(input, kernel_size, not ceil_mode, stride, padding, mode)
