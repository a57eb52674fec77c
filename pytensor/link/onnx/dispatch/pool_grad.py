from math import prod

import numpy as np

from pytensor.link.onnx.dispatch.pool import (
    divide_by_counts,
    output_lengths,
    pads_of_last_windows,
)
from pytensor.link.onnx.dispatch.vjp import onnx_pullback
from pytensor.link.onnx.write.lengths import pad
from pytensor.link.onnx.write.term import where
from pytensor.link.onnx.write.windows import add_windows, gather_windows, window_positions
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.ops import Pool


@onnx_pullback.register(Pool)
def onnx_pullback_Pool(op, node, x, cotangent):
    if not x.is_float:
        # Zeros of another dtype, which nobody needs fast.
        return x.builder.inline(node.op.fgraph, (x, cotangent))
    dtype, shape, n = x.dtype, x.lengths, len(op.ws)
    leading, spatial = shape[:-n], shape[-n:]
    windows = output_lengths(op, spatial)
    pads = pads_of_last_windows(op, spatial, windows)
    cotangent = cotangent.cast(dtype)
    if op.mode == "max":
        cotangent = share_of_maxima(op, pad(x, pads, -np.inf), cotangent, leading, windows)
    else:
        cotangent = cotangent.cast(accumulation_dtype(dtype))
        if op.mode != "sum":
            cotangent = divide_by_counts(op, cotangent, spatial, windows)
    axes = [*zip(spatial, pads, windows, op.ws, op.stride, op.dilation, strict=True)]
    return add_windows(cotangent, len(leading), axes, per_tap=op.mode == "max").cast(dtype)


def share_of_maxima(op, x, cotangent, leading, windows):
    """Return what each window sends to its cells: its first maximum, or NaN, by rows, gets all.

    From the axis after `leading` on the result has for each pooled axis taps times outputs.
    """
    n, k, builder = len(op.ws), len(leading), x.builder
    positions = [
        window_positions(builder, m, w, s, d)
        for m, w, s, d in zip(windows, op.ws, op.stride, op.dilation, strict=True)
    ]
    x = gather_windows(x, k, positions)
    x = x.transpose(*range(k), *range(k, k + 2 * n, 2), *range(k + 1, k + 2 * n, 2))
    x = x.reshape([*leading, *windows, prod(op.ws)])
    is_nan = x.is_nan().cast("int32")
    any_nan = is_nan.reduce_max(-1, keepdims=True).cast("bool")
    winner = where(any_nan, is_nan.node("ArgMax", axis=-1), x.node("ArgMax", axis=-1))
    is_winner = winner == builder.arange(prod(op.ws))
    share = where(is_winner, cotangent.unsqueeze(-1), 0)
    share = share.reshape([*leading, *windows, *op.ws])
    pairs = [axis for i in range(n) for axis in (k + n + i, k + i)]
    merged = [w * m for w, m in zip(op.ws, windows, strict=True)]
    return share.transpose(*range(k), *pairs).reshape([*leading, *merged])
