from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import require_dtype
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.resize import Resize


@onnx_funcify.register(Resize)
def onnx_funcify_Resize(op, node, builder, x):
    require_dtype(node, "Resize", ("float16", "float32", "int32", "int8", "uint8"))
    if op.coordinate_transformation_mode == "half_pixel_symmetric" and builder.opset < 19:
        raise ConversionError("half_pixel_symmetric needs opset_version 19 or later")
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
