import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.kernels import WIDER, has_kernel
from pytensor.link.onnx.write.formula import ceil
from pytensor.tensor.basic import ARange


@onnx_funcify.register(ARange)
def onnx_funcify_ARange(op, node, start, stop, step):
    values = [v.data if isinstance(v, Constant) else None for v in node.inputs]
    if None not in values:
        bounds = (value.item() for value in values)
        return start.builder.constant(np.arange(*bounds, dtype=op.dtype))
    bounds = start, stop, step
    if any(bound.is_float for bound in bounds):
        return float_arange(*(bound.cast("float64") for bound in bounds), op.dtype)
    dtypes = [bound.dtype for bound in bounds]
    if any(dtype.endswith("int64") for dtype in dtypes) and not is_small(values[0]):
        start, stop, step = (bound.cast("int64") for bound in bounds)
        # The start comes later, as the kernel takes the difference of the bounds in floats.
        return (start.lift(0).node("Range", stop - start, step) + start).cast(op.dtype)
    fits = all(dtype == op.dtype or op.dtype in WIDER.get(dtype, ()) for dtype in dtypes)
    work = op.dtype if fits and has_kernel("Range", op.dtype) else "int64"
    start, *rest = (bound.cast(work) for bound in bounds)
    return start.node("Range", *rest).cast(op.dtype)


def is_small(value):
    return value is not None and abs(value.item()) < 2**32


def float_arange(start, stop, step, to):
    """Compute `numpy.arange`, which takes the first two entries as given and goes on from there."""
    count = ceil((stop - start) / step)
    work = "float32" if to == "float16" else to
    first, second = (x.cast(to).cast(work) for x in (start, start + step))
    numbers = start.builder.arange(count.cast("int64")).cast(work)
    return (first + numbers * (second - first)).cast(to)
