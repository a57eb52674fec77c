from math import frexp

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.resize import Resize


@onnx_funcify.register(Resize)
def onnx_funcify_Resize(op, node, builder, x):
    if not is_native(op, node.inputs[0].type, builder.opset):
        return builder.inline(op.fgraph, (x,))
    shape = node.inputs[0].type.shape
    n = op.n_spatial
    rest = len(shape) - n
    scales, sizes, axes = "", "", None
    if op.scale is not None:
        scales = builder.constant([1.0] * rest + list(op.scale), dtype="float32")
    elif None not in shape[:rest]:
        sizes = builder.int64s([*shape[:rest], *op.size])
    elif None not in shape[rest:] and not any(
        new % old for new, old in zip(op.size, shape[rest:], strict=True)
    ):
        # Whole factors are exact, and understood by runtimes that know no `axes`.
        factors = [new / old for new, old in zip(op.size, shape[rest:], strict=True)]
        scales = builder.constant([1.0] * rest + factors, dtype="float32")
    else:
        sizes, axes = builder.int64s(op.size), list(range(rest, len(shape)))
    inputs = [x, "", scales, sizes] if sizes else [x, "", scales]
    return builder.add(
        "Resize",
        *inputs,
        axes=axes,
        mode=op.mode,
        coordinate_transformation_mode=op.coordinate_transformation_mode,
        nearest_mode=op.nearest_mode or None,
    )


def is_native(op, x_type, opset):
    """Whether onnxruntime's Resize computes it, from the same cells."""
    coordinates = op.coordinate_transformation_mode
    if x_type.dtype not in ("float16", "float32"):
        return False
    if coordinates == "half_pixel_symmetric" and opset < 19:
        return False
    if op.mode == "linear":
        return True
    # onnxruntime's coordinates have single precision: rounded, they are those of another cell
    # if a factor isn't a power of two, which shows on long axes.
    if op.scale is not None:
        factors = op.scale
    else:
        lengths = x_type.shape[-op.n_spatial :]
        factors = [new / old if old else 0.0 for new, old in zip(op.size, lengths, strict=True)]
    return all(
        frexp(factor)[0] == 0.5 and (factor == 1 or coordinates != "align_corners")
        for factor in factors
    )
