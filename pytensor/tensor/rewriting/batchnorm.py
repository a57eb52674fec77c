"""Fold batch normalization into convolutions: `pytensor.tensor.conv` registers it."""

from pytensor.graph.rewriting.basic import copy_stack_trace, node_rewriter
from pytensor.tensor.batchnorm import BatchNormalization
from pytensor.tensor.conv.ops import Conv, ConvTranspose
from pytensor.tensor.math import add
from pytensor.tensor.moments import inverse_std
from pytensor.tensor.rewriting.basic import register_specialize


@register_specialize
@node_rewriter([BatchNormalization])
def local_fold_batch_normalization_into_convolution(fgraph, node):
    """Rewrite ``batch_normalization(conv(x, w) + b, ...)`` -> ``conv(x, w * scale) + offset``.

    The scale and the offset of every channel are computed from the parameters, which may be shared
    variables, in each call: far fewer numbers than the image has.  Only where nothing else reads
    the convolution's output, which a gradient does.  Not in half precision, in which the scaled
    filters could overflow.  The transposed convolution is treated in the same way, unless it has
    groups.
    """
    x, gamma, beta, mean, variance = node.inputs
    ndim, dtype = x.type.ndim, x.type.dtype
    if not node.op.is_per_channel(ndim) or dtype not in ("float32", "float64"):
        return None
    found = _convolution_and_biases(fgraph, x)
    if found is None:
        return None
    conv, biases = found
    scale = gamma * inverse_std(variance, node.op.epsilon)
    for bias in biases:
        mean = mean - bias.dimshuffle(1)
    offset = beta - mean * scale
    image, filters = conv.inputs
    # Which axis of the filters the output's channels are along
    along = [0, "x"] if isinstance(conv.op, Conv) else ["x", 0]
    scaled = filters * scale.dimshuffle(*along, *["x"] * (ndim - 2))
    out = conv.op(image, scaled) + offset.dimshuffle("x", 0, *["x"] * (ndim - 2))
    if not node.outputs[0].type.is_super(out.type):
        return None
    copy_stack_trace(node.outputs[0], out)
    return [out]


def _convolution_and_biases(fgraph, x):
    """Return the node of a convolution that `x` is the output of, and what is added per channel.

    None where there is no such node, or where something else reads its output or the sum.
    """
    if len(fgraph.clients[x]) != 1 or x.owner is None:
        return None
    if _can_be_scaled(x.owner.op):
        return x.owner, []
    if x.owner.op != add:
        return None
    biases = [v for v in x.owner.inputs if _is_per_channel(v)]
    others = [v for v in x.owner.inputs if not _is_per_channel(v)]
    if len(others) != 1 or others[0].owner is None or len(fgraph.clients[others[0]]) != 1:
        return None
    (conv,) = others
    return (conv.owner, biases) if _can_be_scaled(conv.owner.op) else None


def _can_be_scaled(op):
    return isinstance(op, Conv) or (isinstance(op, ConvTranspose) and op.num_groups == 1)


def _is_per_channel(variable):
    return all(variable.type.shape[a] == 1 for a in range(variable.type.ndim) if a != 1)
