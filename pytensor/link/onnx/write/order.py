"""Integers and booleans as dtypes that onnxruntime can compare."""

import numpy as np

from pytensor.link.onnx.kernels import has_kernel, work_dtype

FLOATS = ("float16", "float32", "float64")
LOWEST = np.iinfo("int64").min


def sortable(builder, op_type, x, dtype):
    """Return `x`, in the same order, in a dtype with a kernel for it; and that dtype."""
    if dtype == "uint64" and not has_kernel(op_type, dtype):
        # Flipping the highest bit moves 0 to the lowest int64.
        x = builder.cast(x, dtype, "int64")
        return builder.add("BitwiseXor", x, builder.constant(LOWEST, "int64")), "int64"
    work = work_dtype(op_type, dtype)
    return builder.cast(x, dtype, work), work


def unsortable(builder, x, work, dtype):
    """Return what `sortable` made of `dtype`, back in `dtype`."""
    if dtype == "uint64" and work == "int64":
        x = builder.add("BitwiseXor", x, builder.constant(LOWEST, "int64"))
    return builder.cast(x, work, dtype)
