from pytensor.graph.basic import Constant
from pytensor.link.onnx.dispatch.math import cast_through, sum_dtype
from pytensor.link.onnx.write.batched import batch_ndim, register_batched
from pytensor.link.onnx.write.sizes import count_to, size
from pytensor.tensor.signal.conv import Convolve1d


@register_batched(Convolve1d)
def onnx_funcify_Convolve1d(op, node, builder, x, kernel, full_mode):
    # A sum for each entry, of just the products that are in it: products with padding wouldn't be
    # zero beside an infinity.
    add, ndim = builder.add, batch_ndim(node)
    dtype = node.outputs[0].type.dtype
    work = sum_dtype(dtype)
    x, kernel = (
        cast_through(builder, name, v.type.dtype, dtype, work)
        for name, v in zip((x, kernel), node.inputs, strict=False)
    )
    zero, one = builder.constant(0, "int64"), builder.constant(1, "int64")
    length, width = (size(builder, name, -1) for name in (x, kernel))
    start, end = bounds(builder, node, full_mode, length, width)
    entries = add("Unsqueeze", add("Range", start, end, one), builder.int64s([1]))
    taps = count_to(builder, width)
    index = add("Sub", entries, taps)
    is_inside = add("And", add("GreaterOrEqual", index, zero), add("Less", index, length))
    windows = add("Gather", x, add("Where", is_inside, index, zero), axis=ndim)
    products = builder.add_as(work, "Mul", windows, add("Unsqueeze", kernel, builder.int64s([-2])))
    products = add("Where", is_inside, products, builder.constant(0, work))
    axes = [builder.int64s([ndim + 1])]
    total = builder.add_as(work, "ReduceSum", products, rest=axes, keepdims=0)
    return builder.cast(total, work, dtype)


def bounds(builder, node, full_mode, length, width):
    """Return the first and the end of the entries that are wanted, of the full convolution's."""
    add, one = builder.add, builder.constant(1, "int64")
    zero = builder.constant(0, "int64")
    full_end = add("Sub", add("Add", length, width), one)
    shorter, longer = add("Min", length, width), add("Max", length, width)
    valid_start = add("Sub", shorter, one)
    mode = node.inputs[2]
    if isinstance(mode, Constant):
        return (zero, full_end) if mode.data.all() else (valid_start, longer)
    mode = add("Reshape", full_mode, builder.int64s([]))
    return add("Where", mode, zero, valid_start), add("Where", mode, full_end, longer)
