"""Norms of windows."""

import numbers

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import cast, constant, switch
from pytensor.tensor.conv.basic import Ints, Pairs, flag
from pytensor.tensor.families import family
from pytensor.tensor.math import abs as pt_abs
from pytensor.tensor.math import and_, eq, isinf
from pytensor.tensor.pool.arguments import PYTORCH_NAMES, real_input, window_geometry
from pytensor.tensor.pool.ops import accumulation_dtype, keeps, symbolic_pullback
from pytensor.tensor.pool.windows import WindowOp
from pytensor.tensor.variable import TensorVariable


def norm_of_terms(terms, p, largest, reduce):
    """Norm of order `p` of a list of terms of at least 0, with gradient 0 where they are 0.

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


class LpPool(WindowOp):
    """Norms of order `norm_type` of windows over the last ``len(ws)`` axes; see `WindowOp`."""

    __props__ = ("norm_type", "ws", "stride", "pad", "dilation", "ignore_border")

    def build_inner_graph(self, x):
        out = pt_abs(cast(x, accumulation_dtype(x.type.dtype)))
        # A norm of norms over rows is the norm over rows and columns.
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(out, i)
            taps = self.taps(self.pad_axis(out, i, 0), i, windows)
            if len(taps) == 1:
                out = taps[0]
            else:
                largest = taps[0]
                for tap in taps[1:]:
                    largest = switch(keeps(largest, tap), largest, tap)
                out = norm_of_terms(
                    taps, self.norm_type, largest, lambda terms: sum(terms[1:], start=terms[0])
                )
            out = self.with_length(out, i, windows)
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


def _lp_pool(
    n: int, name: str, input: TensorLike, norm_type: float, kernel_size: Ints,
    stride: Ints | None = None, padding: Pairs = 0, dilation: Ints = 1, ceil_mode: bool = False,
) -> TensorVariable:  # fmt: skip
    """Norm over windows of {last}: the sum of ``abs(x) ** p``, to the power ``1 / p``.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), floating point
    norm_type : float
        The order p, greater than 0.
    kernel_size : {ints}
        Cells of a window along each axis.
    stride : {ints}, optional
        Distance between windows; default `kernel_size`.
    padding : {pairs}
        Cells of 0 added around, less than a window.
    dilation : {ints}
        Distance between neighbouring cells of a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end; as in `max_pool{n}d`.

    Returns
    -------
    TensorVariable, shape (..., {output}), dtype of `input`
        Lengths as in `max_pool{n}d`.  Powers neither overflow nor vanish: the largest cell of a
        window is divided out.  As in ONNX, and unlike in PyTorch, the absolute value is taken
        for odd p too.  The gradient at cells of 0 is 0.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.
    """
    x = real_input(name, input, n, floating=True)
    p = checked_norm_type(name, norm_type)
    floor = not flag(f"{name}: ceil_mode", ceil_mode)
    geometry = window_geometry(
        name, n, kernel_size, stride, padding, dilation, floor, x, PYTORCH_NAMES
    )
    return LpPool(norm_type=p, **geometry)(x)


lp_pool1d, lp_pool2d, lp_pool3d = family(
    _lp_pool,
    "lp_pool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> pt.lp_pool2d(pt.constant([[3.0, -4.0], [0.0, 0.0]]), 2, (1, 2)).eval()
    array([[5.],
           [0.]])
    """,
)
