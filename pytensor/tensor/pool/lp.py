"""Norms of windows."""

import numbers
from typing import Any

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import cast, constant, switch
from pytensor.tensor.conv.basic import Ints, Pairs, flag
from pytensor.tensor.math import abs as pt_abs
from pytensor.tensor.math import and_, eq, isinf
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.arguments import PYTORCH_NAMES, real_input, window_geometry
from pytensor.tensor.pool.ops import largest, symbolic_pullback
from pytensor.tensor.pool.windows import STEPS, WindowOp
from pytensor.tensor.variable import TensorVariable


def norm_of_terms(terms, p, largest, reduce):
    """Return the norm of order `p` of terms of at least 0, with gradient 0 where they are 0.

    The largest of them is taken out, for powers to neither overflow nor vanish; `reduce` adds the
    powers up.
    """
    dtype = largest.type.dtype
    one = constant(np.asarray(1, dtype))
    largest = disconnected_grad(largest)
    scale = switch(and_(largest > 0, ~isinf(largest)), largest, one)
    powers = []
    for term in terms:
        zero = eq(term, 0)
        # The derivative of a power of less than 1 isn't finite at 0.
        power = switch(zero, one, term / scale) ** constant(np.asarray(p, dtype))
        powers.append(switch(zero, 0 * one, power))
    total = reduce(powers)
    zero = eq(total, 0)
    root = switch(zero, one, total) ** constant(np.asarray(1 / p, dtype))
    return switch(zero, 0 * one, scale * root)


def add_up(terms):
    """Return the sum of a list of variables."""
    return sum(terms[1:], start=terms[0])


class LpPool(WindowOp):
    """Norms of order `norm_type` of windows over the last ``len(ws)`` axes; see `WindowOp`."""

    __props__ = ("norm_type", "ws", "stride", "pad", "dilation", "ignore_border")

    def build_inner_graph(self, x, steps=STEPS):
        out = pt_abs(cast(x, accumulation_dtype(x.type.dtype)))
        # A norm of norms over rows is the norm over rows and columns.
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(out, i)
            taps = self.taps(self.pad_axis(out, i, 0, steps), i, windows)
            if len(taps) == 1:
                out = taps[0]
            else:
                out = norm_of_terms(taps, self.norm_type, largest(taps)[0], add_up)
            out = self.with_length(steps.after_axis(out), i, windows)
        return [cast(out, x.type.dtype)]

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]


def checked_norm_type(name: str, norm_type: float) -> float:
    if (
        not isinstance(norm_type, numbers.Real)
        or isinstance(norm_type, bool)
        or not 0 < norm_type < float("inf")
    ):
        raise ValueError(f"{name}: norm_type must be a finite positive number, got {norm_type!r}")
    return float(norm_type)


def lp_pool(
    x: TensorLike, norm_type: float, kernel_size: tuple[int, ...] | list[int],
    stride: Ints | None = None, padding: Pairs = 0, dilation: Ints = 1, ceil_mode: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the norms of windows of the last ``len(kernel_size)`` axes, as in ONNX.

    A norm is the sum of ``abs(x) ** p``, to the power ``1 / p``.  PyTorch's, without the absolute
    value and with other sums past the end, are `pytensor.tensor.nn.lp_pool2d`.

    Parameters
    ----------
    x : tensor_like, shape ``(..., *lengths)``, floating point
    norm_type : float
        The order p, greater than 0.
    kernel_size : tuple of int
        Cells of a window along each axis.
    stride, padding, dilation, ceil_mode
        As for `pytensor.tensor.nn.max_pool2d`, for ``len(kernel_size)`` axes; padding counts as 0.

    Returns
    -------
    TensorVariable, shape ``(..., *output)``, dtype of `x`
        Powers neither overflow nor vanish: the largest cell of a window is divided out.  The
        gradient at cells of 0 is 0.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.tensor.pool import lp_pool
    >>> lp_pool(pt.constant([3.0, -4.0, 0.0, 0.0]), 1, (2,)).eval()
    array([7., 0.])
    """
    n = len(kernel_size)
    x = real_input("lp_pool", x, n, floating=True)
    p = checked_norm_type("lp_pool", norm_type)
    floor = not flag("lp_pool: ceil_mode", ceil_mode)
    geometry = window_geometry(
        "lp_pool", n, x, PYTORCH_NAMES, window=kernel_size, stride=stride, padding=padding,
        dilation=dilation, floor=floor,
    )  # fmt: skip
    op: Any = LpPool(norm_type=p, **geometry)
    return op(x)
