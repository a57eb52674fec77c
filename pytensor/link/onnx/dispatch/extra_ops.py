from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import require_dtype
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.extra_ops import CumOp


@onnx_funcify.register(CumOp)
def onnx_funcify_CumOp(op, node, builder, x):
    if op.mode != "add":
        raise ConversionError("ONNX has no cumulative product")
    require_dtype(node, "CumSum", ("float32", "float64", "int32", "int64"))
    return builder.add("CumSum", x, builder.constant(op.axis, "int64"))
