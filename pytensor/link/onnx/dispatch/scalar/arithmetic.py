"""Sums, products, extrema and the like."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import fills_output, output_dtype
from pytensor.link.onnx.write.term import where
from pytensor.scalar import basic as ps

FEW = 8


def chain(node, inputs, arithmetic, logical):
    """Combine inputs from the left; each partial result has the dtype that NumPy gives it."""
    result, *rest = inputs
    for x in rest:
        common = np.result_type(result.dtype, x.dtype).name
        # onnxruntime rounds to half precision at the end only, unless it's told to.
        # thoughts/upstream/onnxruntime-rounding.md
        work = "float32" if common == "float16" and len(rest) > 1 else common
        op_type = logical if common == "bool" else arithmetic
        result = result.cast(work).node(op_type, x.cast(work)).cast(common)
    return result.cast(output_dtype(node))


@onnx_funcify.register(ps.Add)
def onnx_funcify_Add(op, node, *inputs):
    dtypes = {x.dtype for x in inputs}
    # Sum adds from the left too.  A few terms stay apart, for passes to fold some of them.
    if len(inputs) > FEW and len(dtypes) == 1 and dtypes <= {"float32", "float64"}:
        return inputs[0].node("Sum", *inputs[1:])
    return chain(node, inputs, "Add", "Or")


@onnx_funcify.register(ps.Mul)
def onnx_funcify_Mul(op, node, *inputs):
    return chain(node, inputs, "Mul", "And")


@onnx_funcify.register(ps.Neg)
def onnx_funcify_Neg(op, node, x):
    return -x


@onnx_funcify.register(ps.Sqr)
def onnx_funcify_Sqr(op, node, x):
    return x & x if x.dtype == "bool" else x * x


@onnx_funcify.register(ps.Abs)
def onnx_funcify_Abs(op, node, x):
    return x if x.dtype == "bool" else abs(x)


@onnx_funcify.register(ps.Sign)
def onnx_funcify_Sign(op, node, x):
    if x.dtype == "int64":
        # The kernel takes 2**31 for negative.
        positive, negative = x > 0, x < 0
        return positive.cast(x.dtype) - negative.cast(x.dtype)
    # The float16 kernel says that the sign of NaN is 0.
    work = "float32" if x.dtype == "float16" else x.dtype
    return x.cast(work).node("Sign").cast(x.dtype)


@onnx_funcify.register(ps.Maximum)
@onnx_funcify.register(ps.Minimum)
def onnx_funcify_Maximum(op, node, *inputs):
    x, *rest = (x.cast(output_dtype(node)) for x in inputs)
    largest = isinstance(op, ps.Maximum)
    if x.dtype == "bool":
        return x.node("Or" if largest else "And", *rest)
    if x.dtype == "int64":
        # The kernels take 0 for larger than 2**31, as if the lower halves had a sign.
        (y,) = rest
        return where(x > y if largest else x < y, x, y)
    return x.node("Max" if largest else "Min", *rest)


@onnx_funcify.register(ps.Clip)
def onnx_funcify_Clip(op, node, *inputs):
    # PyTensor returns the lower bound where x is below both bounds, even if they are crossed.
    x, low, high = (x.cast(output_dtype(node)) for x in inputs)
    bounds = low.data, high.data
    # Clip of int64 has the faults of Max and Min.
    # thoughts/upstream/onnxruntime-extrema-of-int64.md
    known = x.dtype not in ("bool", "int64") and all(b is not None and b.size == 1 for b in bounds)
    if known and fills_output(node, 0) and bounds[0].item() <= bounds[1].item():
        return x.node("Clip", *(b.reshape(()) for b in bounds))
    above, below = x > high, x < low
    return where(below, low, where(above, high, x))
