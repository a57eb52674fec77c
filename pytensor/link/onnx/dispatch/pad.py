import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.pad_stat import linear_ramp, pad_axes, statistic
from pytensor.link.onnx.write.lengths import split_pairs
from pytensor.tensor.pad import Pad


@onnx_funcify.register(Pad)
def onnx_funcify_Pad(op, node, x, pad_width, *rest):
    builder, ndim, mode = x.builder, x.ndim, op.pad_mode
    dtype, shape = node.outputs[0].type.dtype, node.inputs[0].type.shape
    if not ndim:
        return x.cast(dtype)
    widths = static_widths(op, node.inputs[1], ndim)

    def pads():
        if widths is None:
            return run_time_pairs(pad_width.cast("int64"), ndim)
        before, after = split_pairs(widths)
        return builder.vector([*before, *after])

    if mode == "constant":
        return pad_constant(x.cast(dtype), pads(), rest[0].cast(dtype), node.inputs[2].type.ndim)
    if mode == "edge" or is_plain_reflection(builder, mode, widths, shape):
        return x.cast(dtype).node("Pad", pads(), mode=mode)
    if mode in ("reflect", "symmetric", "wrap"):
        if sizes_are_known(widths, shape):
            return gather(x, mode, widths, shape)
        return builder.inline(op.fgraph, (x, pad_width, *rest))[0]
    return pad_computed(mode, x.cast(dtype), ndim, pads(), rest, widths)


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


def pad_constant(x, pads, value, value_ndim):
    ndim = x.ndim
    if not value_ndim:
        return x.node("Pad", pads, value)
    values = run_time_pairs(value, ndim)
    # One axis after the other, as what pads the later ones covers the corners.
    for axis in range(ndim):
        for place in (axis, ndim + axis):
            only = pads.lift(np.arange(2 * ndim) == place)
            x = x.node("Pad", pads * only, values.gather(place))
    return x


def run_time_pairs(pairs, ndim):
    """Return all befores and then all afters, from what broadcasts to pairs."""
    return pairs.expand([ndim, 2]).transpose(1, 0).flatten()


def pad_computed(mode, x, ndim, pads, rest, widths):
    extra = None
    if rest:
        extra = run_time_pairs(rest[0].cast(x.dtype if mode == "linear_ramp" else "int64"), ndim)
    fill = linear_ramp(ndim, extra) if mode == "linear_ramp" else statistic(mode, ndim, extra)
    skipped = set()
    if widths is not None:
        before, after = split_pairs(widths)
        skipped = {place for place, width in enumerate([*before, *after]) if not width}
    return pad_axes(x, ndim, pads, skipped, fill)


def gather(x, mode, widths, shape):
    """Copy entries from where `mode` puts them, for sizes that are known where something is."""
    for axis, ((before, after), size) in enumerate(zip(widths, shape, strict=True)):
        if before or after:
            positions = np.pad(np.arange(size), (before, after), mode=mode)
            x = x.gather(positions.tolist(), axis=axis)
    return x
