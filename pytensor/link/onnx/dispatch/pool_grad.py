from math import prod

import numpy as np

from pytensor.link.onnx.dispatch.pool import (
    divide_by_counts,
    output_lengths,
    pads_of_last_windows,
)
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.dispatch.vjp import onnx_pullback
from pytensor.link.onnx.write.lengths import arange, lengths_of, pad, reshape
from pytensor.link.onnx.write.windows import add_windows, gather_windows, window_positions
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.ops import Pool


@onnx_pullback.register(Pool)
def onnx_pullback_Pool(op, node, builder, x, cotangent):
    variable, n = node.inputs[0], len(op.ws)
    dtype, first = variable.type.dtype, variable.type.ndim - n
    if dtype in discrete_dtypes:
        # Zeros of another dtype, which nobody needs fast.
        return builder.inline(node.op.fgraph, (x, cotangent))
    shape = lengths_of(builder, variable, x)
    leading, spatial = shape[:-n], shape[-n:]
    windows = output_lengths(op, spatial)
    pads = pads_of_last_windows(op, spatial, windows)
    cotangent = builder.cast(cotangent, node.inputs[1].type.dtype, dtype)
    if op.mode == "max":
        x = pad(builder, x, dtype, pads, -np.inf)
        cotangent = share_of_maxima(op, builder, x, dtype, cotangent, leading, windows)
        work = dtype
    else:
        work = accumulation_dtype(dtype)
        cotangent = builder.cast(cotangent, dtype, work)
        if op.mode != "sum":
            cotangent = divide_by_counts(op, builder, cotangent, work, spatial, windows)
    axes = [*zip(spatial, pads, windows, op.ws, op.stride, op.dilation, strict=True)]
    result = add_windows(builder, cotangent, work, first, axes, per_tap=op.mode == "max")
    return builder.cast(result, work, dtype)


def share_of_maxima(op, builder, x, dtype, cotangent, leading, windows):
    """Return what each window sends to its cells: its first maximum, or NaN, by rows, gets all.

    From the axis after `leading` on the result has for each pooled axis taps times outputs.
    """
    n, k = len(op.ws), len(leading)
    positions = [
        window_positions(builder, m, w, s, d)
        for m, w, s, d in zip(windows, op.ws, op.stride, op.dilation, strict=True)
    ]
    x = gather_windows(builder, x, k, positions)
    order = [*range(k), *range(k, k + 2 * n, 2), *range(k + 1, k + 2 * n, 2)]
    x = builder.add("Transpose", x, perm=order)
    x = reshape(builder, x, [*leading, *windows, prod(op.ws)])
    last = builder.int64s([-1])
    is_nan = builder.cast(builder.add("IsNaN", x), "bool", "int32")
    any_nan = builder.add("ReduceMax", is_nan, last, keepdims=1)
    winner = builder.add(
        "Where",
        builder.cast(any_nan, "int32", "bool"),
        builder.add("ArgMax", is_nan, axis=-1),
        builder.add("ArgMax", x, axis=-1),
    )
    is_winner = builder.add("Equal", winner, arange(builder, prod(op.ws)).name)
    cotangent = builder.add("Unsqueeze", cotangent, last)
    share = where(builder, dtype, is_winner, cotangent, builder.constant(0, dtype))
    share = reshape(builder, share, [*leading, *windows, *op.ws])
    pairs = [axis for i in range(n) for axis in (k + n + i, k + i)]
    share = builder.add("Transpose", share, perm=[*range(k), *pairs])
    merged = [w * m for w, m in zip(op.ws, windows, strict=True)]
    return reshape(builder, share, [*leading, *merged])
