"""Sums, products, extrema and the like."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import (
    cast_inputs,
    fills_output,
    output_dtype,
    where,
)
from pytensor.scalar import basic as ps

FEW = 8


def chain(builder, node, inputs, arithmetic, logical):
    """Combine inputs from the left; each partial result has the dtype that NumPy gives it."""
    result, *rest = inputs
    dtype, *dtypes = (v.type.dtype for v in node.inputs)
    for x, other in zip(rest, dtypes, strict=True):
        common = np.result_type(dtype, other).name
        # onnxruntime rounds to half precision at the end only, unless it's told to.
        # thoughts/upstream/onnxruntime-rounding.md
        work = "float32" if common == "float16" and len(rest) > 1 else common
        operands = builder.cast(result, dtype, work), builder.cast(x, other, work)
        result = builder.add(logical if common == "bool" else arithmetic, *operands)
        result, dtype = builder.cast(result, work, common), common
    return builder.cast(result, dtype, output_dtype(node))


@onnx_funcify.register(ps.Add)
def onnx_funcify_Add(op, node, builder, *inputs):
    dtypes = {v.type.dtype for v in node.inputs}
    # Sum adds from the left too.  A few terms stay apart, for passes to fold some of them.
    if len(inputs) > FEW and len(dtypes) == 1 and dtypes <= {"float32", "float64"}:
        return builder.add("Sum", *inputs)
    return chain(builder, node, inputs, "Add", "Or")


@onnx_funcify.register(ps.Mul)
def onnx_funcify_Mul(op, node, builder, *inputs):
    return chain(builder, node, inputs, "Mul", "And")


@onnx_funcify.register(ps.Neg)
def onnx_funcify_Neg(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype.startswith("uint"):
        return builder.add("Sub", builder.constant(0, dtype), x)
    return builder.add("Neg", x)


@onnx_funcify.register(ps.Sqr)
def onnx_funcify_Sqr(op, node, builder, x):
    return builder.add("And" if output_dtype(node) == "bool" else "Mul", x, x)


@onnx_funcify.register(ps.Abs)
def onnx_funcify_Abs(op, node, builder, x):
    return x if output_dtype(node) == "bool" else builder.add("Abs", x)


@onnx_funcify.register(ps.Sign)
def onnx_funcify_Sign(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype == "int64":
        # The kernel takes 2**31 for negative.
        signs = [builder.add(op, x, builder.constant(0, dtype)) for op in ("Greater", "Less")]
        return builder.add("Sub", *[builder.cast(sign, "bool", dtype) for sign in signs])
    # The float16 kernel says that the sign of NaN is 0.
    work = "float32" if dtype == "float16" else dtype
    return builder.cast(builder.add("Sign", builder.cast(x, dtype, work)), work, dtype)


@onnx_funcify.register(ps.Maximum)
@onnx_funcify.register(ps.Minimum)
def onnx_funcify_Maximum(op, node, builder, *inputs):
    dtype = output_dtype(node)
    largest = isinstance(op, ps.Maximum)
    inputs = cast_inputs(builder, node, inputs, dtype)
    if dtype == "bool":
        return builder.add("Or" if largest else "And", *inputs)
    if dtype == "int64":
        # The kernels take 0 for larger than 2**31, as if the lower halves had a sign.
        chosen = builder.add("Greater" if largest else "Less", *inputs)
        return where(builder, dtype, chosen, *inputs)
    return builder.add_as(dtype, "Max" if largest else "Min", *inputs)


@onnx_funcify.register(ps.Clip)
def onnx_funcify_Clip(op, node, builder, *inputs):
    # PyTensor returns the lower bound where x is below both bounds, even if they are crossed.
    dtype = output_dtype(node)
    x, low, high = cast_inputs(builder, node, inputs, dtype)
    bounds = [builder.constant_value(name) for name in (low, high)]
    # Clip of int64 has the faults of Max and Min.
    # thoughts/upstream/onnxruntime-extrema-of-int64.md
    known = dtype not in ("bool", "int64") and all(b is not None and b.size == 1 for b in bounds)
    if known and fills_output(node, 0) and bounds[0].item() <= bounds[1].item():
        low, high = (builder.constant(b.reshape(())) for b in bounds)
        return builder.add_as(dtype, "Clip", x, low, high)
    above = builder.add_as(dtype, "Greater", x, high, to="bool")
    below = builder.add_as(dtype, "Less", x, low, to="bool")
    return where(builder, dtype, below, low, where(builder, dtype, above, high, x))
