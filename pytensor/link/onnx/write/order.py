"""Integers and booleans in dtypes that onnxruntime can compare."""

import numpy as np

from pytensor.link.onnx.kernels import has_kernel, work_dtype

LOWEST = np.iinfo("int64").min


def sortable(op_type, x):
    """Return `x`, in the same order, in a dtype with a kernel for it."""
    if x.dtype == "uint64" and not has_kernel(op_type, x.dtype):
        # Flipping the highest bit moves 0 to the lowest int64.
        return x.cast("int64") ^ LOWEST
    return x.cast(work_dtype(op_type, x.dtype))


def unsortable(x, dtype):
    """Return what `sortable` made of `dtype`, back in `dtype`."""
    return (x ^ LOWEST if (x.dtype, dtype) == ("int64", "uint64") else x).cast(dtype)
