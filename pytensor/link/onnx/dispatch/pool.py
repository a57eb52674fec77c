from math import prod

import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import require_dtype, split_pairs
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.pool import Pool, pool_output_length


@onnx_funcify.register(Pool)
def onnx_funcify_Pool(op, node, builder, x):
    require_dtype(node, *POOLS[op.mode])
    variable, n = node.inputs[0], len(op.ws)
    missing = n + 2 - variable.type.ndim
    if missing < 0:
        raise ConversionError(
            f"ONNX pools tensors with {n + 2} axes, got {variable.type.ndim}; reshape them first"
        )
    pads, ceil_mode = onnx_pads(op, variable.type.shape[-n:])
    if missing:
        x = builder.add("Unsqueeze", x, builder.int64s(range(missing)))
    common = {
        "kernel_shape": list(op.ws),
        "strides": list(op.stride),
        "ceil_mode": int(ceil_mode) or None,
    }
    if op.mode == "average_inc_pad" and (ceil_mode or pads != list(op.pad)):
        # A window that reaches past the padding is averaged over what lies inside of it.  So the
        # padding becomes part of the tensor, and what lies beyond is the padding not counted.
        if ceil_mode and any(map(any, op.pad)):
            raise ConversionError(
                "averages that count padding, with ignore_border=False, need a static image shape"
            )
        x = pad_zeros(builder, x, node.inputs[0].type.dtype, [(0, 0), (0, 0), *op.pad])
        pads = [
            (before - op.pad[i][0], max(after - op.pad[i][1], 0))
            for i, (before, after) in enumerate(pads)
        ]
        counted = 0
    else:
        counted = int(op.mode in ("average_inc_pad", "sum"))
    before, after = split_pairs(pads)
    common["pads"] = [*before, *after]
    if op.mode == "max":
        x = builder.add("MaxPool", x, **common)
    else:
        x = builder.add("AveragePool", x, count_include_pad=counted, **common)
        if op.mode == "sum":
            volume = builder.constant(prod(op.ws), node.inputs[0].type.dtype)
            x = builder.add("Mul", x, volume)
    return builder.add("Squeeze", x, builder.int64s(range(missing))) if missing else x


POOLS = {
    "max": ("MaxPool", ("float16", "float32", "float64", "int8", "uint8")),
    "sum": ("AveragePool", ("float16", "float32")),
    "average_inc_pad": ("AveragePool", ("float16", "float32")),
    "average_exc_pad": ("AveragePool", ("float16", "float32")),
}


def onnx_pads(op, spatial_shape):
    """Padding for ONNX's floor mode, and whether its ceil mode is needed nevertheless.

    Without `ignore_border` the last windows may reach past the padding.  Where the image's shape
    is known this is more padding, which every runtime understands; ceil mode isn't.
    """
    if op.ignore_border:
        return list(op.pad), False
    pads = []
    for length, w, s, p in zip(spatial_shape, op.ws, op.stride, op.pad, strict=True):
        if length is None and s > 1:
            if op.mode == "sum":
                raise ConversionError("sums with ignore_border=False need a static image shape")
            return list(op.pad), True
        if length is None:
            pads.append(p)
        else:
            windows = pool_output_length(length, w, s, p, False)
            pads.append((p[0], max((windows - 1) * s + w - length - p[0], 0)))
    return pads, False


def pad_zeros(builder, x, dtype, pairs):
    if not any(map(any, pairs)):
        return x
    before, after = split_pairs(pairs)
    return builder.add(
        "Pad", x, builder.int64s([*before, *after]), builder.constant(np.zeros((), dtype))
    )
