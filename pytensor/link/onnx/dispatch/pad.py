from pytensor.graph.basic import Constant
from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import split_pairs
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.pad import Pad

MODES = ("constant", "edge", "reflect")


@onnx_funcify.register(Pad)
def onnx_funcify_Pad(op, node, builder, x, pad_width, *rest):
    variable = node.inputs[0]
    widths = op.static_pad_width
    if widths is None and isinstance(node.inputs[1], Constant):
        widths = node.inputs[1].data.tolist()
    if widths is None:
        raise ConversionError("the pad widths must be constant")
    if op.pad_mode not in MODES or op.reflect_type == "odd":
        raise ConversionError(f"only the pad modes {', '.join(MODES)} are supported")
    ndim = variable.type.ndim
    widths = [tuple(pair) for pair in widths]
    if len(widths) == 1:
        widths = widths * ndim
    before, after = split_pairs(widths)
    pads = builder.int64s([*before, *after])
    dtype = node.outputs[0].type.dtype
    x = builder.cast(x, variable.type.dtype, dtype)
    if op.pad_mode != "constant":
        return builder.add("Pad", x, pads, mode=op.pad_mode)
    value = node.inputs[2]
    if value.type.ndim:
        raise ConversionError("one fill value for all axes is supported")
    value = builder.cast(rest[0], value.type.dtype, dtype)
    return builder.add("Pad", x, pads, value)
