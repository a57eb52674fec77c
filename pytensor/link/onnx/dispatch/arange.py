import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs
from pytensor.link.onnx.kernels import WIDER, has_kernel
from pytensor.link.onnx.write.order import FLOATS
from pytensor.link.onnx.write.sizes import count_to
from pytensor.tensor.basic import ARange


@onnx_funcify.register(ARange)
def onnx_funcify_ARange(op, node, builder, *bounds):
    values = [v.data if isinstance(v, Constant) else None for v in node.inputs]
    if None not in values:
        bounds = (value.item() for value in values)
        return builder.constant(np.arange(*bounds, dtype=op.dtype))
    dtypes = [v.type.dtype for v in node.inputs]
    if any(dtype in FLOATS for dtype in dtypes):
        return float_arange(builder, node, bounds, op.dtype)
    if any(dtype.endswith("int64") for dtype in dtypes) and not is_small(values[0]):
        return arange_from_zero(builder, node, bounds, op.dtype)
    fits = all(dtype == op.dtype or op.dtype in WIDER.get(dtype, ()) for dtype in dtypes)
    work = op.dtype if fits and has_kernel("Range", op.dtype) else "int64"
    bounds = cast_inputs(builder, node, bounds, work)
    return builder.cast(builder.add("Range", *bounds), work, op.dtype)


def is_small(value):
    return value is not None and abs(value.item()) < 2**32


def arange_from_zero(builder, node, bounds, to):
    """Add the start afterwards, as the kernel takes the difference of the bounds in floats."""
    start, stop, step = cast_inputs(builder, node, bounds, "int64")
    zero = builder.constant(0, "int64")
    result = builder.add("Range", zero, builder.add("Sub", stop, start), step)
    return builder.cast(builder.add("Add", result, start), "int64", to)


def float_arange(builder, node, bounds, to):
    """Compute `numpy.arange`, which takes the first two entries as given and goes on from there."""
    start, stop, step = cast_inputs(builder, node, bounds, "float64")
    n = builder.add("Ceil", builder.add("Div", builder.add("Sub", stop, start), step))
    work = "float32" if to == "float16" else to
    first, second = (
        builder.cast(builder.cast(x, "float64", to), to, work)
        for x in (start, builder.add("Add", start, step))
    )
    numbers = builder.cast(count_to(builder, builder.cast(n, "float64", "int64")), "int64", work)
    delta = builder.add("Sub", second, first)
    offsets = builder.add("Mul", numbers, delta)
    return builder.cast(builder.add("Add", first, offsets), work, to)
