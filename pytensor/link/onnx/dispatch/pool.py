from math import prod

import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.lengths import (
    all_known,
    arange,
    lengths_of,
    maximum,
    minimum,
    pad,
    reshape,
    vector,
)
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.dispatch.util import split_pairs
from pytensor.link.onnx.kernels import has_kernel
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.pool import Pool, pool_output_length


@onnx_funcify.register(Pool)
def onnx_funcify_Pool(op, node, builder, x):
    (variable,), n = node.inputs, len(op.ws)
    dtype = variable.type.dtype
    shape = lengths_of(builder, variable, x)
    leading, spatial = shape[:-n], shape[-n:]
    windows = output_lengths(op, spatial)
    # With a stride of 1 the last window ends where the padding does.
    floor = op.ignore_border or all(s == 1 for s in op.stride)
    if not is_native(op, dtype, floor or all_known(windows)):
        return pool_by_slices(op, builder, x, variable, spatial, windows)
    # A batch may be empty, the channels of an image not.
    has_channels = len(leading) == 2 and (isinstance(leading[1], int) or not builder.exact)
    as_images = has_channels and 0 not in leading
    if not as_images:
        x = reshape(builder, x, [prod(leading), 1, *spatial])
    pads = list(op.pad) if floor else pads_of_last_windows(op, spatial, windows)
    counted = op.mode == "average_inc_pad"
    if not all_known([after for _, after in pads]):
        x = pad(builder, x, dtype, [(0, after) for _, after in pads], -np.inf)
        pads = [(before, 0) for before, _ in op.pad]
    elif counted and pads != list(op.pad):
        # A window that reaches past the padding is averaged over what lies inside of it.  So the
        # padding becomes part of the tensor, and what lies beyond is the padding not counted.
        x = pad(builder, x, dtype, op.pad)
        pads = [(0, max(pads[i][1] - after, 0)) for i, (_, after) in enumerate(op.pad)]
        counted = False
    before, after = split_pairs(pads)
    common = {
        "kernel_shape": list(op.ws),
        "strides": list(op.stride),
        "pads": [*before, *after],
    }
    if op.mode == "max":
        x = max_pool(builder, x, dtype, common)
    else:
        x = builder.add("AveragePool", x, count_include_pad=int(counted), **common)
    return x if as_images else reshape(builder, x, [*leading, *windows])


def is_native(op, dtype, fixed):
    """Whether onnxruntime's kernels compute it, with padding that is `fixed` or not."""
    if op.mode == "sum" or len(op.ws) > 3:
        return False
    if op.mode == "max":
        return has_kernel("MaxPool", dtype) and (fixed or dtype not in discrete_dtypes)
    return has_kernel("AveragePool", dtype) and fixed


def max_pool(builder, x, dtype, common):
    """Maxima; onnxruntime's pass over NaN, and are finite where all of the window is -inf."""
    result = builder.add("MaxPool", x, **common)
    if dtype in discrete_dtypes or not builder.exact:
        return result
    # Of each cell: 0 for -inf, 2 for NaN, 1 for what is between in this order.
    kind = builder.add("Greater", x, builder.constant(-np.inf, dtype))
    kind = builder.cast(kind, "bool", "float32")
    kinds = [builder.constant(number, "float32") for number in range(3)]
    kind = builder.add("Where", builder.add("IsNaN", x), kinds[2], kind)
    kind = builder.add("MaxPool", kind, **common)
    for number, value in ((0, -np.inf), (2, np.nan)):
        replaced = builder.add("Equal", kind, kinds[number])
        result = builder.add("Where", replaced, builder.constant(value, dtype), result)
    return result


def output_lengths(op, spatial):
    """Numbers of windows, as `pool_output_length`."""
    windows = []
    for length, w, s, p in zip(spatial, op.ws, op.stride, op.pad, strict=True):
        if isinstance(length, int):
            windows.append(pool_output_length(length, w, s, p, op.ignore_border))
            continue
        padded = length + sum(p)
        if op.ignore_border:
            windows.append((padded - w) // s + 1)
        else:
            last = maximum((padded + (s - 1 - w)) // s, 0)
            windows.append(minimum(last, (length + (p[0] - 1)) // s) + 1)
    return windows


def pads_of_last_windows(op, spatial, windows):
    """Padding with which every window lies inside."""
    return [
        (before, maximum((m - 1) * s + w - length - before, 0))
        for length, m, w, s, (before, _) in zip(
            spatial, windows, op.ws, op.stride, op.pad, strict=True
        )
    ]


def pool_by_slices(op, builder, x, variable, spatial, windows):
    """Reduce axis by axis, the last first, as PyTensor's own graph does."""
    dtype, n = variable.type.dtype, len(op.ws)
    fill = 0
    if op.mode == "max":
        fill = np.iinfo(dtype).min if dtype in discrete_dtypes else -np.inf
    pads = pads_of_last_windows(op, spatial, windows)
    for i in reversed(range(n)):
        axis, stride = variable.type.ndim - n + i, op.stride[i]
        x = pad(builder, x, dtype, [pads[i]], fill, axes=[axis])
        reach = (windows[i] - 1) * stride + 1
        slices = [
            builder.add(
                "Slice",
                x,
                builder.int64s([offset]),
                vector(builder, [reach + offset]),
                builder.int64s([axis]),
                builder.int64s([stride]),
            )
            for offset in range(op.ws[i])
        ]
        x = slices[0]
        for new in slices[1:]:
            if op.mode == "max":
                x = larger(builder, dtype, x, new)
            else:
                x = builder.add_as(dtype, "Add", x, new)
        if op.mode.startswith("average"):
            x = divide_by_counts(op, builder, x, dtype, i, spatial[i], windows[i])
    return x


def larger(builder, dtype, x, y):
    """The larger one; NaN where either is."""
    if dtype in discrete_dtypes:
        # The kernel of Max is wrong for int64 beyond 2**31.
        return where(builder, dtype, builder.add_as(dtype, "Greater", x, y, to="bool"), x, y)
    keep = builder.add("Or", builder.add("GreaterOrEqual", x, y), builder.add("IsNaN", x))
    return builder.add("Where", keep, x, y)


def divide_by_counts(op, builder, x, dtype, i, length, windows):
    """Make averages of sums over windows along the pooled axis `i`."""
    counts = counts_of_windows(op, builder, i, length, windows)
    counts = builder.cast(counts.name, "int64", dtype)
    counts = reshape(builder, counts, [windows] + [1] * (len(op.ws) - 1 - i))
    return builder.add_as(dtype, "Div", x, counts)


def counts_of_windows(op, builder, i, length, windows):
    """How many cells each window's average is over."""
    before, after = op.pad[i]
    start = arange(builder, windows) * op.stride[i]
    end = start + op.ws[i]
    if op.mode == "average_inc_pad":
        return end.minimum(length + (before + after)) - start
    return end.minimum(length + before) - start.maximum(before)
