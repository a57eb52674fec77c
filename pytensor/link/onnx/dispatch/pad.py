import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.pad_stat import linear_ramp, pad_axes, statistic
from pytensor.link.onnx.write.lengths import split_pairs
from pytensor.tensor.pad import Pad


@onnx_funcify.register(Pad)
def onnx_funcify_Pad(op, node, builder, x, pad_width, *rest):
    variable, widths_variable = node.inputs[:2]
    ndim, dtype = variable.type.ndim, node.outputs[0].type.dtype
    if not ndim:
        return builder.cast(x, variable.type.dtype, dtype)
    widths = static_widths(op, widths_variable, ndim)
    mode = op.pad_mode

    def pads():
        if widths is not None:
            before, after = split_pairs(widths)
            return builder.int64s([*before, *after])
        pairs = builder.cast(pad_width, widths_variable.type.dtype, "int64")
        return run_time_pairs(builder, pairs, ndim)

    if mode in ("constant", "edge") or is_plain_reflection(
        builder, mode, widths, variable.type.shape
    ):
        x = builder.cast(x, variable.type.dtype, dtype)
        if mode != "constant":
            return builder.add_as(dtype, "Pad", x, rest=(pads(),), mode=mode)
        return pad_constant(builder, node, x, pads(), rest[0], dtype)
    if mode in ("reflect", "symmetric", "wrap"):
        if sizes_are_known(widths, variable.type.shape):
            return gather(builder, x, mode, widths, variable.type.shape)
        return builder.inline(op.fgraph, (x, pad_width, *rest))[0]
    return pad_computed(op, node, builder, x, pads(), rest, widths)


def static_widths(op, variable, ndim):
    """Return constant (before, after) pairs for all axes, or None."""
    if op.static_pad_width is not None:
        return [tuple(pair) for pair in op.static_pad_width]
    if isinstance(variable, Constant):
        return [tuple(map(int, pair)) for pair in np.broadcast_to(variable.data, (ndim, 2))]
    return None


def is_plain_reflection(builder, mode, widths, shape):
    """Return whether ONNX's reflection of one turn does; onnxruntime refuses shorter axes.

    An axis of open length may turn out to be too short, which counts where `builder.exact`.
    """
    if mode != "reflect" or widths is None:
        return False
    return not any(
        builder.exact if size is None else max(pair) >= max(size, 1)
        for size, pair in zip(shape, widths, strict=True)
        if max(pair)
    )


def sizes_are_known(widths, shape):
    """Return whether both widths and sizes of the axes that are padded are constant."""
    return widths is not None and not any(
        size is None and max(pair) for size, pair in zip(shape, widths, strict=True)
    )


def pad_constant(builder, node, x, pads, value, dtype):
    variable, ndim = node.inputs[2], node.inputs[0].type.ndim
    value = builder.cast(value, variable.type.dtype, dtype)
    if not variable.type.ndim:
        return builder.add("Pad", x, pads, value)
    values = run_time_pairs(builder, value, ndim)
    # One axis after the other, as what pads the later ones covers the corners.
    for axis in range(ndim):
        for place in (axis, ndim + axis):
            only = builder.constant(np.arange(2 * ndim) == place, "int64")
            fill = builder.add("Gather", values, builder.constant(place, "int64"))
            x = builder.add("Pad", x, builder.add("Mul", pads, only), fill)
    return x


def run_time_pairs(builder, pairs, ndim):
    """Return all befores and then all afters, from what broadcasts to pairs."""
    pairs = builder.add("Expand", pairs, builder.int64s([ndim, 2]))
    return builder.add(
        "Reshape", builder.add("Transpose", pairs, perm=[1, 0]), builder.int64s([-1])
    )


def pad_computed(op, node, builder, x, pads, rest, widths):
    variable, ndim, dtype = node.inputs[0], node.inputs[0].type.ndim, node.outputs[0].type.dtype
    x = builder.cast(x, variable.type.dtype, dtype)
    extra = None
    if rest:
        to = dtype if op.pad_mode == "linear_ramp" else "int64"
        extra = run_time_pairs(builder, builder.cast(rest[0], node.inputs[2].type.dtype, to), ndim)
    if op.pad_mode == "linear_ramp":
        fill = linear_ramp(builder, dtype, ndim, extra)
    else:
        fill = statistic(builder, dtype, op.pad_mode, ndim, extra)
    skipped = set()
    if widths is not None:
        before, after = split_pairs(widths)
        skipped = {place for place, width in enumerate([*before, *after]) if not width}
    return pad_axes(builder, x, ndim, pads, skipped, fill)


def gather(builder, x, mode, widths, shape):
    """Copy entries from where `mode` puts them, for sizes that are known where something is."""
    for axis, ((before, after), size) in enumerate(zip(widths, shape, strict=True)):
        if before or after:
            positions = np.pad(np.arange(size), (before, after), mode=mode)
            x = builder.add("Gather", x, builder.int64s(positions), axis=axis)
    return x
