from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import require_dtype
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.topk import TopK

KERNELS = ("float32", "float64", "int32", "int64")


@onnx_funcify.register(TopK)
def onnx_funcify_TopK(op, node, builder, x):
    require_dtype(node, "TopK", KERNELS)
    k = builder.int64s([op.k])
    return builder.add("TopK", x, k, n_outputs=2, axis=op.axis % node.inputs[0].type.ndim)


@onnx_funcify.register(SortOp)
@onnx_funcify.register(ArgSortOp)
def onnx_funcify_SortOp(op, node, builder, x):
    require_dtype(node, "TopK", KERNELS)
    axis = op.axis % node.inputs[0].type.ndim
    length = node.inputs[0].type.shape[axis]
    if length is not None:
        k = builder.int64s([length])
    else:
        k = builder.add("Shape", x, start=axis, end=axis + 1)
    # Ties come out with the lower index first, which is what a stable sort gives.
    values, indices = builder.add("TopK", x, k, n_outputs=2, axis=axis, largest=0)
    return indices if isinstance(op, ArgSortOp) else values
