import sys

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import (
    require_dtype,
    require_static,
    split_pairs,
)
from pytensor.tensor.conv.ops import Conv


@onnx_funcify.register(Conv)
def onnx_funcify_Conv(op, node, builder, x, filters):
    require_dtype(node, "Conv", ("float16", "float32"))
    kernel_shape = require_static(
        node.inputs[1], range(2, 2 + op.n_spatial), "the filters' spatial shape"
    )
    if op.filter_flip and any(length > 1 for length in kernel_shape):
        filters = mirror(builder, filters, range(2, 2 + op.n_spatial))
    begin, end = split_pairs(op.pads(kernel_shape))
    return builder.add(
        "Conv",
        x,
        filters,
        kernel_shape=kernel_shape,
        strides=list(op.subsample),
        dilations=list(op.filter_dilation),
        pads=[*begin, *end],
        group=op.num_groups,
    )


def mirror(builder, x, axes):
    """Reverse `x` along `axes`; folded away where `x` is constant."""
    axes = list(axes)
    return builder.add(
        "Slice",
        x,
        builder.int64s([-1] * len(axes)),
        builder.int64s([-sys.maxsize] * len(axes)),
        builder.int64s(axes),
        builder.int64s([-1] * len(axes)),
    )
