from math import prod

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.dispatch.vjp import inline_unchecked
from pytensor.link.onnx.kernels import has_kernel
from pytensor.link.onnx.write.lengths import (
    all_known,
    arange,
    expand_dims,
    ints,
    is_empty,
    lengths_of,
    maximum,
    minimum,
    pad,
    reshape,
    split_pairs,
    vector,
)
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
def onnx_funcify_Pool(op, node, builder, x):
    (variable,) = node.inputs
    dtype = variable.type.dtype
    require_windows(op, builder, variable, x)
    leading, spatial, windows, pads = geometry(op, builder, variable, x)
    if not is_native(op, dtype, pads, builder.opset):
        return pool_by_slices(op, builder, x, variable, spatial, windows)
    # A batch may be empty, the channels of an image not.
    as_images = is_image(builder, leading)
    if not as_images:
        x = reshape(builder, x, [prod(leading), 1, *spatial])
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
    if op.mode == "max":
        x = max_pool(builder, x, dtype, window_attributes(op, pads))
    else:
        attributes = window_attributes(op, pads)
        x = builder.add("AveragePool", x, count_include_pad=int(counted), **attributes)
    return x if as_images else reshape(builder, x, [*leading, *windows])


def require_windows(op, builder, variable, x):
    """Let mode ONNX refuse an axis on which no window lies; onnxruntime may find one there."""
    if not can_raise(builder):
        return
    lengths = lengths_of(builder, variable, x)[-len(op.ws) :]
    for length, extent, pad_ in zip(lengths, op.extents, op.pad, strict=True):
        least = extent - sum(pad_) if op.ignore_border else 1 - pad_[0]
        if not isinstance(length, int) and least > 0:
            require(builder, (length >= least).name, AssertionError, _fits(extent, pad_).msg)


def geometry(op, builder, variable, x):
    """Return lengths of the axes before, of the windows', and of the result's; and the padding."""
    n = len(op.ws)
    shape = lengths_of(builder, variable, x)
    leading, spatial = shape[:-n], shape[-n:]
    windows = output_lengths(op, spatial)
    inside = ends_inside(op)
    pads = list(op.pad) if inside else pads_of_last_windows(op, spatial, windows)
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


def max_pool(builder, x, dtype, common):
    """Return maxima; onnxruntime's pass over NaN, and are finite where a window is all -inf."""
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


def pool_by_slices(op, builder, x, variable, spatial, windows):
    """Reduce axis by axis, the last first, as PyTensor's own graph does."""
    dtype, n = variable.type.dtype, len(op.ws)
    # What is summed up in half precision is rounded once.
    work = dtype if op.mode == "max" else accumulation_dtype(dtype)
    x = builder.cast(x, dtype, work)
    fill = lowest(dtype) if op.mode == "max" else 0
    pads = pads_of_last_windows(op, spatial, windows)
    for i in reversed(range(n)):
        x, *others = taps(op, builder, x, work, variable.type.ndim, i, pads[i], windows[i], fill)
        for new in others:
            if op.mode == "max":
                x = larger(builder, work, x, new)
            else:
                x = builder.add_as(work, "Add", x, new)
    if op.mode.startswith("average"):
        x = divide_by_counts(op, builder, x, work, spatial, windows)
    return builder.cast(x, work, dtype)


def taps(op, builder, x, dtype, ndim, i, pads, windows, fill):
    """Pad pooled axis `i`, and take what the first, the second, ... cell of each window is."""
    axis, stride = ndim - len(op.ws) + i, op.stride[i]
    x = pad(builder, x, dtype, [pads], fill, axes=[axis])
    reach = window_extent(windows, stride)
    return [
        builder.add(
            "Slice",
            x,
            builder.int64s([offset]),
            vector(builder, [reach + offset]),
            builder.int64s([axis]),
            builder.int64s([stride]),
        )
        for offset in op.tap_offsets(i)
    ]


def larger(builder, dtype, x, y):
    """Return the larger one; NaN where either is."""
    if dtype in discrete_dtypes:
        # The kernel of Max is wrong for int64 beyond 2**31.
        # thoughts/upstream/onnxruntime-extrema-of-int64.md
        return where(builder, dtype, builder.add_as(dtype, "Greater", x, y, to="bool"), x, y)
    keep = builder.add("Or", builder.add("GreaterOrEqual", x, y), builder.add("IsNaN", x))
    return builder.add("Where", keep, x, y)


def divide_by_counts(op, builder, x, dtype, spatial, windows):
    """Make averages of sums over windows."""
    product = 1
    for i, (length, m) in enumerate(zip(spatial, windows, strict=True)):
        number = averaged_cells(
            arange(builder, m) * op.stride[i],
            length,
            op.ws[i],
            op.pad[i],
            op.dilation[i],
            include_pad=op.mode == "average_inc_pad",
            smaller=minimum,
            larger=maximum,
        )
        for _ in range(len(op.ws) - 1 - i):
            number = expand_dims(number, -1)
        product = number * product
    return builder.add_as(dtype, "Div", x, builder.cast(product.name, "int64", dtype))


@onnx_funcify.register(PoolWithIndices)
def onnx_funcify_PoolWithIndices(op, node, builder, x):
    (variable,), pool = node.inputs, op.op
    dtype = variable.type.dtype
    if isinstance(pool, Pool):
        require_windows(pool, builder, variable, x)
    # onnxruntime's kernel has no place for NaN and -inf, nor for half precision.
    # thoughts/upstream/onnxruntime-nan-and-infinity.md
    exact = builder.exact and dtype not in discrete_dtypes
    if exact or not isinstance(pool, Pool) or dtype == "float16":
        return inline_unchecked(builder, node, (x,))
    leading, spatial, windows, pads = geometry(pool, builder, variable, x)
    known = all_known([after for _, after in pads])
    if not known or not is_native(pool, dtype, pads, builder.opset):
        return inline_unchecked(builder, node, (x,))
    as_images = is_image(builder, leading)
    if not as_images:
        x = reshape(builder, x, [prod(leading), 1, *spatial])
    values, indices = builder.add("MaxPool", x, n_outputs=2, **window_attributes(pool, pads))
    # ONNX counts on through batch and channels.
    cells = ints(builder, 1) * prod(spatial)
    indices = builder.add("Mod", indices, cells.name)
    if as_images:
        return values, indices
    return tuple(reshape(builder, v, [*leading, *windows]) for v in (values, indices))


@onnx_funcify.register(LpPool)
def onnx_funcify_LpPool(op, node, builder, x):
    # The kernel takes powers as they are, which overflow.
    p, n, (variable,) = op.norm_type, len(op.ws), node.inputs
    require_windows(op, builder, variable, x)
    fits = ends_inside(op) and all(max(pair) < w for pair, w in zip(op.pad, op.ws, strict=True))
    native = has_kernel("LpPool", variable.type.dtype) and p.is_integer() and n <= 3
    if builder.exact or not (native and fits and variable.type.ndim == n + 2):
        return inline_unchecked(builder, node, (x,))
    attributes = window_attributes(op, op.pad)
    return builder.add_as(variable.type.dtype, "LpPool", x, p=int(p), **attributes)


@onnx_funcify.register(AdaptivePool)
def onnx_funcify_AdaptivePool(op, node, builder, x):
    (variable,), n = node.inputs, len(op.output_size)
    dtype, ndim = variable.type.dtype, variable.type.ndim
    lengths = variable.type.shape[-n:]
    average = op.mode == "average"
    native = n <= 3 and ndim == n + 2 and (average or not builder.exact)
    if native and all(m == 1 for m in op.output_size):
        kind = "GlobalAveragePool" if average else "GlobalMaxPool"
        if has_kernel(kind, dtype):
            return builder.add(kind, x)
    if native and average and has_kernel("AveragePool", dtype) and None not in lengths:
        sizes = op.output_lengths(lengths)
        if all(length % m == 0 for length, m in zip(lengths, sizes, strict=True)):
            windows = [length // m for length, m in zip(lengths, sizes, strict=True)]
            return builder.add("AveragePool", x, kernel_shape=windows, strides=windows)
    return inline_unchecked(builder, node, (x,))


@onnx_funcify.register(MaxUnpool)
def onnx_funcify_MaxUnpool(op, node, builder, x, indices, *unknown):
    variable, n = node.inputs[0], len(op.lengths)
    dtype = variable.type.dtype
    require_places(builder, indices)
    unknown = [ints(builder, reshape(builder, name, [1])) for name in unknown]
    lengths = op.all_lengths(unknown)
    shape = lengths_of(builder, variable, x)
    leading, rows, entries = shape[:-n], prod(shape[:-n]), prod(shape[-n:])
    x = reshape(builder, x, [rows, entries])
    indices = reshape(builder, indices, [rows, entries])
    cells = builder.add(
        "Expand", builder.constant(0, dtype), vector(builder, [rows, prod(lengths)])
    )
    cells = builder.add("ScatterElements", cells, indices, x, axis=1)
    return reshape(builder, cells, [*leading, *lengths])


@onnx_funcify.register(MaxUnpoolGrad)
def onnx_funcify_MaxUnpoolGrad(op, node, builder, cotangent, indices, *unknown):
    require_places(builder, indices)
    return inline_unchecked(builder, node, (cotangent, indices, *unknown))


def require_places(builder, indices):
    """Let mode ONNX refuse indices that are counted from the end, as the Op does."""
    if can_raise(builder):
        condition = builder.add("GreaterOrEqual", indices, builder.constant(0, "int64"))
        require(builder, condition, IndexError, "max_unpool: an index is negative")


@onnx_funcify.register(GatherAtMaxima)
def onnx_funcify_GatherAtMaxima(op, node, builder, *inputs):
    return inline_unchecked(builder, node, inputs)
