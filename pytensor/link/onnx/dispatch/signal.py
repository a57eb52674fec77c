from pytensor.graph.basic import Constant
from pytensor.link.onnx.dispatch.math import sum_dtype
from pytensor.link.onnx.write.batched import batch_ndim, register_batched
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.tensor.signal.conv import Convolve1d


@register_batched(Convolve1d)
def onnx_funcify_Convolve1d(op, node, x, kernel, full_mode):
    # A sum for each entry, of just the products that are in it: products with padding wouldn't be
    # zero next to an infinity.
    ndim, dtype = batch_ndim(node), node.outputs[0].type.dtype
    work = sum_dtype(dtype)
    x, kernel = x.cast(dtype).cast(work), kernel.cast(dtype).cast(work)
    length, width = x.size(-1), kernel.size(-1)
    start, end = bounds(node, full_mode, length, width)
    entries = start.node("Range", end, 1).unsqueeze(1)
    index = entries - x.builder.arange(width)
    is_inside = (index >= 0) & (index < length)
    windows = x.gather(where(is_inside, index, 0), axis=ndim)
    products = where(is_inside, windows * kernel.unsqueeze(-2), 0)
    return products.reduce_sum(ndim + 1).cast(dtype)


def bounds(node, full_mode, length, width):
    """Return the first and the end of the entries that are wanted, of the full convolution's."""
    full_end = length + width - 1
    valid_start, valid_end = minimum(length, width) - 1, maximum(length, width)
    mode = node.inputs[2]
    if isinstance(mode, Constant):
        return (length.lift(0), full_end) if mode.data.all() else (valid_start, valid_end)
    full_mode = full_mode.reshape([])
    return where(full_mode, 0, valid_start), where(full_mode, full_end, valid_end)
