"""Core Ops that convert to ONNX nodes which take batches as they are."""

from functools import partial

from pytensor.link.conversions import Conversions
from pytensor.link.onnx.converters import EXTRAS, onnx_funcify
from pytensor.link.onnx.write.term import concat


@partial(Conversions, modules=EXTRAS)
def onnx_batched(op, node, *inputs):
    """Write the ONNX nodes of a `Blockwise` of `op`; None where there are none registered.

    The node is the `Blockwise`'s, or the core Op's own, which has a batch of no axes.
    """
    return None


def register_batched(op_class):
    """Register one converter for `op_class` and for batches of it."""

    def register(converter):
        onnx_funcify.register(op_class, converter)
        onnx_batched.register(op_class, converter)
        return converter

    return register


def batch_shape(node, inputs):
    """Return the shape of a `Blockwise` node's batch as an int64 vector.

    Where a size isn't 1 in a type, it is the result's: PyTensor broadcasts no other sizes.
    """
    parts = []
    for axis in range(batch_ndim(node)):
        static = node.outputs[0].type.shape[axis]
        if static is None:
            pairs = zip(inputs, node.inputs, strict=True)
            static = next(x.length(axis) for x, v in pairs if v.type.shape[axis] is None)
        parts.append(static)
    return inputs[0].builder.vector(parts)


def batch_ndim(node):
    return node.op.batch_ndim(node) if hasattr(node.op, "batch_ndim") else 0


def core_shape(node, i, x):
    """Return the shape of input `i` of a node, without the batch, as an int64 vector."""
    static = node.inputs[i].type.shape[batch_ndim(node) :]
    return x.sizes(batch_ndim(node)) if None in static else x.builder.vector(static)


def expand_batch(node, inputs, i):
    """Expand input `i` to the whole batch, if its batch axes are not all there yet."""
    ndim, x = batch_ndim(node), inputs[i]
    shape, wanted = node.inputs[i].type.shape[:ndim], node.outputs[0].type.shape[:ndim]
    if not any(size == 1 and target != 1 for size, target in zip(shape, wanted, strict=True)):
        return x
    return x.expand(concat([batch_shape(node, inputs), core_shape(node, i, x)]))
