from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.scalar import arithmetic_dtype
from pytensor.link.onnx.errors import ConversionError
from pytensor.scalar.basic import AND, OR, Add, Maximum, Minimum, Mul
from pytensor.tensor.elemwise import CAReduce

REDUCTIONS = {Add: "ReduceSum", Mul: "ReduceProd", Maximum: "ReduceMax", Minimum: "ReduceMin"}


@onnx_funcify.register(CAReduce)
def onnx_funcify_CAReduce(op, node, builder, x):
    (variable,), (output,) = node.inputs, node.outputs
    axes = range(variable.type.ndim) if op.axis is None else op.axis
    dtype = variable.type.dtype
    scalar_op = op.scalar_op
    logical = isinstance(scalar_op, AND | OR) or (
        dtype == "bool" and isinstance(scalar_op, Maximum | Minimum)
    )
    if logical:
        if dtype != "bool":
            if output.type.dtype != "bool":
                raise ConversionError("ONNX has no bitwise reductions")
            x = builder.add("Not", builder.add("Equal", x, builder.constant(0, dtype)))
        # Booleans can be reduced as such from operator set 20 on.
        work = "bool" if builder.opset >= 20 else "int32"
        reduction = "ReduceMax" if isinstance(scalar_op, OR | Maximum) else "ReduceMin"
        dtype = "bool"
    else:
        reduction = REDUCTIONS.get(type(scalar_op))
        if reduction is None:
            raise ConversionError(f"ONNX has no reduction with {scalar_op}")
        if isinstance(scalar_op, Add | Mul):
            # The accumulator has float64 where onnxruntime's kernels sum float32 pairwise;
            # integers are summed in the output's dtype, which wraps around alike.
            work = output.type.dtype
            if work not in ("float16", "float32", "float64"):
                work = "int64"
        else:
            work = arithmetic_dtype(dtype, ("float16", "float32", "float64", "int32", "int64"))
    x = builder.cast(x, dtype, work)
    if axes:
        x = builder.add(reduction, x, builder.int64s(axes), keepdims=0)
    return builder.cast(x, work, output.type.dtype)
