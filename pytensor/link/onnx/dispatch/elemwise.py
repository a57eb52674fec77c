from pytensor.link.onnx.converters import onnx_funcify
from pytensor.scalar.as_written import AsWritten
from pytensor.scalar.basic import Composite, ScalarInnerGraphOp
from pytensor.tensor.elemwise import DimShuffle, Elemwise


@onnx_funcify.register(Elemwise)
def onnx_funcify_Elemwise(op, node, *inputs):
    scalar_op = op.scalar_op
    if isinstance(scalar_op, ScalarInnerGraphOp):
        # Its graph may be of other dtypes, which PyTensor replaces by the inputs' dtypes.
        scalar_op = op.make_scalar_node(*node.inputs).op
    outputs = onnx_funcify(scalar_op, node, *inputs)
    shapes = {v.type.broadcastable for v in (*node.inputs, *node.outputs)}
    if not isinstance(op.scalar_op, Composite) or len(shapes) == 1:
        return outputs
    # An output has the common shape of all inputs, even of those that it doesn't depend on.
    for x in inputs:
        shape = x.sizes()
        outputs = tuple(output.expand(shape) for output in outputs)
    return outputs


@onnx_funcify.register(AsWritten)
def onnx_funcify_AsWritten(op, node, *inputs):
    return onnx_funcify(op.scalar_op, node, *inputs)


@onnx_funcify.register(DimShuffle)
def onnx_funcify_DimShuffle(op, node, x):
    if op.drop:
        x = x.squeeze(*op.drop)
    kept = sorted(op.shuffle)
    x = x.transpose(*(kept.index(axis) for axis in op.shuffle))
    return x.unsqueeze(*op.augment) if op.augment else x
