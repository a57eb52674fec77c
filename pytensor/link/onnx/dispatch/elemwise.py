from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.elemwise import DimShuffle, Elemwise


@onnx_funcify.register(Elemwise)
def onnx_funcify_Elemwise(op, node, builder, *inputs):
    return onnx_funcify(op.scalar_op, node, builder, *inputs)


@onnx_funcify.register(DimShuffle)
def onnx_funcify_DimShuffle(op, node, builder, x):
    if op.drop:
        x = builder.add("Squeeze", x, builder.int64s(op.drop))
    kept = sorted(op.shuffle)
    if kept != list(op.shuffle):
        x = builder.add("Transpose", x, perm=[kept.index(axis) for axis in op.shuffle])
    if op.augment:
        x = builder.add("Unsqueeze", x, builder.int64s(op.augment))
    return x
