from math import prod

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.vjp import inline_unchecked
from pytensor.link.onnx.kernels import has_kernel
from pytensor.link.onnx.write.lengths import all_known, pad, split_pairs
from pytensor.link.onnx.write.term import is_empty, maximum, minimum, where
from pytensor.link.onnx.write.windows import positions_of
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.conv.lengths import (
    averaged_cells,
    cells_past_end,
    pool_output_length,
    started_window_count,
    window_count,
    window_extent,
)
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices, lowest
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad
from pytensor.tensor.pool.windows import _fits


@onnx_funcify.register(Pool)
def onnx_funcify_Pool(op, node, x):
    require_windows(op, x)
    leading, spatial, windows, pads = geometry(op, x)
    if not is_native(op, x.dtype, pads, x.builder.opset):
        return pool_by_slices(op, x, spatial, windows)
    # A batch may be empty, the channels of an image not.
    as_images = is_image(x.builder, leading)
    if not as_images:
        x = x.reshape([prod(leading), 1, *spatial])
    counted = op.mode == "average_inc_pad"
    if not all_known([after for _, after in pads]):
        x = pad(x, [(0, after) for _, after in pads], -np.inf)
        pads = [(before, 0) for before, _ in op.pad]
    elif counted and pads != list(op.pad):
        # A window that reaches past the padding is averaged over what lies inside of it.  So the
        # padding becomes part of the tensor, and what lies beyond is the padding not counted.
        x = pad(x, op.pad)
        pads = [(0, max(pads[i][1] - after, 0)) for i, (_, after) in enumerate(op.pad)]
        counted = False
    attributes = window_attributes(op, pads)
    if op.mode == "max":
        x = max_pool(x, attributes)
    else:
        x = x.node("AveragePool", count_include_pad=int(counted), **attributes)
    return x if as_images else x.reshape([*leading, *windows])


def require_windows(op, x):
    """Let mode ONNX refuse an axis on which no window lies; onnxruntime may find one there."""
    if not can_raise(x.builder):
        return
    for length, extent, pad_ in zip(x.lengths[-len(op.ws) :], op.extents, op.pad, strict=True):
        least = extent - sum(pad_) if op.ignore_border else 1 - pad_[0]
        if not isinstance(length, int) and least > 0:
            require(length >= least, AssertionError, _fits(extent, pad_).msg)


def geometry(op, x):
    """Return lengths of the axes before, of the windows', and of the result's; and the padding."""
    n, shape = len(op.ws), x.lengths
    leading, spatial = shape[:-n], shape[-n:]
    windows = output_lengths(op, spatial)
    pads = list(op.pad) if ends_inside(op) else pads_of_last_windows(op, spatial, windows)
    return leading, spatial, windows, pads


def ends_inside(op):
    """Return whether no window reaches past the padded end, as none does with a stride of 1."""
    return op.ignore_border or all(s == 1 for s in op.stride)


def window_attributes(op, pads):
    before, after = split_pairs(pads)
    return {
        "kernel_shape": list(op.ws),
        "strides": list(op.stride),
        "pads": [*before, *after],
        "dilations": dilations(op),
    }


def is_native(op, dtype, pads, opset):
    """Return whether onnxruntime's kernels compute it, with padding that may not all be known."""
    if op.mode == "sum" or len(op.ws) > 3:
        return False
    known = all_known([after for _, after in pads])
    for w, pair in zip(op.ws, pads, strict=True):
        # The kernels want less than the number of a window's cells, whatever the dilation.
        if any(isinstance(p, int) and p >= w for p in pair):
            return False
    if op.mode == "max":
        return has_kernel("MaxPool", dtype) and (known or dtype not in discrete_dtypes)
    # Before operator set 19 averages have no dilation.
    return has_kernel("AveragePool", dtype) and known and (opset >= 19 or dilations(op) is None)


def is_image(builder, leading):
    """Return whether the axes before the windows' are a batch, which may be empty, and channels."""
    has_channels = len(leading) == 2 and (isinstance(leading[1], int) or not builder.exact)
    return has_channels and not is_empty(leading)


def dilations(op):
    """Return the attribute, None for windows without gaps."""
    return list(op.dilation) if any(d != 1 for d in op.dilation) else None


def max_pool(x, attributes):
    """Return maxima; onnxruntime's pass over NaN, and are finite where a window is all -inf."""
    result = x.node("MaxPool", **attributes)
    if not x.is_float or not x.builder.exact:
        return result
    # Of each cell: 0 for -inf, 2 for NaN, 1 for what is between in this order.
    kind = where(x.is_nan(), 2, (x > -np.inf).cast("float32")).node("MaxPool", **attributes)
    result = where(kind == 0, -np.inf, result)
    return where(kind == 2, np.nan, result)


def output_lengths(op, spatial):
    """Return the numbers of windows, as `pool_output_length`."""
    windows = []
    for length, *axis in zip(spatial, op.extents, op.stride, op.pad, strict=True):
        if isinstance(length, int):
            windows.append(pool_output_length(length, *axis, op.ignore_border))
        elif op.ignore_border:
            windows.append(window_count(length, *axis))
        else:
            windows.append(started_window_count(length, *axis, maximum, minimum))
    return windows


def pads_of_last_windows(op, spatial, windows):
    """Return the padding with which every window lies inside."""
    return [
        (axis[-1][0], cells_past_end(*axis, maximum))
        for axis in zip(spatial, windows, op.extents, op.stride, op.pad, strict=True)
    ]


def pool_by_slices(op, x, spatial, windows):
    """Reduce axis by axis, the last first, as PyTensor's own graph does."""
    dtype, ndim, n = x.dtype, x.ndim, len(op.ws)
    # What is summed up in half precision is rounded once.
    x = x.cast(dtype if op.mode == "max" else accumulation_dtype(dtype))
    fill = lowest(dtype) if op.mode == "max" else 0
    pads = pads_of_last_windows(op, spatial, windows)
    for i in reversed(range(n)):
        x, *others = taps(op, x, ndim, i, pads[i], windows[i], fill)
        for new in others:
            x = larger(x, new) if op.mode == "max" else x + new
    if op.mode.startswith("average"):
        x = divide_by_counts(op, x, spatial, windows)
    return x.cast(dtype)


def taps(op, x, ndim, i, pads, windows, fill):
    """Pad pooled axis `i`, and take what the first, the second, ... cell of each window is."""
    axis, stride = ndim - len(op.ws) + i, op.stride[i]
    x = pad(x, [pads], fill, axes=[axis])
    reach = window_extent(windows, stride)
    return [x.slice(offset, reach + offset, axis, stride) for offset in op.tap_offsets(i)]


def larger(x, y):
    """Return the larger one; NaN where either is."""
    if not x.is_float:
        # The kernel of Max is wrong for int64 beyond 2**31.
        # thoughts/upstream/onnxruntime-extrema-of-int64.md
        return where(x > y, x, y)
    return where((x >= y) | x.is_nan(), x, y)


def divide_by_counts(op, x, spatial, windows):
    """Make averages of sums over windows."""
    product = 1
    for i, (length, m) in enumerate(zip(spatial, windows, strict=True)):
        number = averaged_cells(
            positions_of(x.builder, m) * op.stride[i],
            length,
            op.ws[i],
            op.pad[i],
            op.dilation[i],
            include_pad=op.mode == "average_inc_pad",
            smaller=minimum,
            larger=maximum,
        )
        for _ in range(len(op.ws) - 1 - i):
            number = number.unsqueeze(-1)
        product = number * product
    return x / product.cast(x.dtype)


@onnx_funcify.register(PoolWithIndices)
def onnx_funcify_PoolWithIndices(op, node, x):
    pool, builder = op.op, x.builder
    if isinstance(pool, Pool):
        require_windows(pool, x)
    # onnxruntime's kernel has no place for NaN and -inf, nor for half precision.
    # thoughts/upstream/onnxruntime-nan-and-infinity.md
    exact = builder.exact and x.is_float
    if exact or not isinstance(pool, Pool) or x.dtype == "float16":
        return inline_unchecked(node, (x,))
    leading, spatial, windows, pads = geometry(pool, x)
    known = all_known([after for _, after in pads])
    if not known or not is_native(pool, x.dtype, pads, builder.opset):
        return inline_unchecked(node, (x,))
    as_images = is_image(builder, leading)
    if not as_images:
        x = x.reshape([prod(leading), 1, *spatial])
    values, indices = x.node("MaxPool", n_outputs=2, **window_attributes(pool, pads))
    # ONNX counts on through batch and channels.
    indices = indices % prod(spatial)
    if as_images:
        return values, indices
    return tuple(v.reshape([*leading, *windows]) for v in (values, indices))


@onnx_funcify.register(LpPool)
def onnx_funcify_LpPool(op, node, x):
    # The kernel takes powers as they are, which overflow.
    p, n = op.norm_type, len(op.ws)
    require_windows(op, x)
    fits = ends_inside(op) and all(max(pair) < w for pair, w in zip(op.pad, op.ws, strict=True))
    native = has_kernel("LpPool", x.dtype) and p.is_integer() and n <= 3
    if x.builder.exact or not (native and fits and x.ndim == n + 2):
        return inline_unchecked(node, (x,))
    return x.node("LpPool", p=int(p), **window_attributes(op, op.pad))


@onnx_funcify.register(AdaptivePool)
def onnx_funcify_AdaptivePool(op, node, x):
    n = len(op.output_size)
    lengths = node.inputs[0].type.shape[-n:]
    average = op.mode == "average"
    native = n <= 3 and x.ndim == n + 2 and (average or not x.builder.exact)
    if native and all(m == 1 for m in op.output_size):
        kind = "GlobalAveragePool" if average else "GlobalMaxPool"
        if has_kernel(kind, x.dtype):
            return x.node(kind)
    if native and average and has_kernel("AveragePool", x.dtype) and None not in lengths:
        sizes = op.output_lengths(lengths)
        if all(length % m == 0 for length, m in zip(lengths, sizes, strict=True)):
            windows = [length // m for length, m in zip(lengths, sizes, strict=True)]
            return x.node("AveragePool", kernel_shape=windows, strides=windows)
    return inline_unchecked(node, (x,))


@onnx_funcify.register(MaxUnpool)
def onnx_funcify_MaxUnpool(op, node, x, indices, *unknown):
    n, shape = len(op.lengths), x.lengths
    require_places(indices)
    lengths = op.all_lengths([length.reshape([1]) for length in unknown])
    leading, rows, entries = shape[:-n], prod(shape[:-n]), prod(shape[-n:])
    x, indices = x.reshape([rows, entries]), indices.reshape([rows, entries])
    cells = x.lift(0).expand([rows, prod(lengths)])
    return cells.scatter_elements(indices, x, axis=1).reshape([*leading, *lengths])


@onnx_funcify.register(MaxUnpoolGrad)
def onnx_funcify_MaxUnpoolGrad(op, node, cotangent, indices, *unknown):
    require_places(indices)
    return inline_unchecked(node, (cotangent, indices, *unknown))


def require_places(indices):
    """Let mode ONNX refuse indices that are counted from the end, as the Op does."""
    if can_raise(indices.builder):
        require(indices >= 0, IndexError, "max_unpool: an index is negative")


@onnx_funcify.register(GatherAtMaxima)
def onnx_funcify_GatherAtMaxima(op, node, *inputs):
    return inline_unchecked(node, inputs)
