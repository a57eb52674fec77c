from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.math import matmul
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot


@onnx_funcify.register(Blockwise)
def onnx_funcify_Blockwise(op, node, builder, *inputs):
    if isinstance(op.core_op, Dot):
        return matmul(builder, node, *inputs)
    raise ConversionError(f"{NO_CONVERTER} for batches of this Op")
