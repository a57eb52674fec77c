"""Fold what follows a convolution, channel by channel, into its filters and bias.

All arithmetic is in double precision and rounded once.
"""

import numpy as np


def fold_batch_norm(graph):
    """Fold batch normalization with constant parameters into the convolution before it."""

    def fold(node, channels):
        parameters = [graph.constant(name) for name in node.inputs[1:]]
        if any(p is None for p in parameters):
            return None
        gamma, beta, mean, variance = (p.astype("float64") for p in parameters)
        scale = gamma / np.sqrt(variance + node.attributes["epsilon"])
        return scale, beta - mean * scale

    return _fold_followers(graph, ("BatchNormalization",), fold)


def fold_conv_scale(graph):
    """Fold a factor per channel into the convolution before it."""

    def fold(node, channels):
        factor = _per_channel(graph, node, channels)
        if factor is None:
            return None
        return (1 / factor if node.op_type == "Div" else factor), 0.0

    return _fold_followers(graph, ("Mul", "Div"), fold)


def fold_conv_offset(graph):
    """Fold an offset per channel into the convolution before it, as its bias."""

    def fold(node, channels):
        offset = _per_channel(graph, node, channels)
        if offset is None:
            return None
        if node.op_type == "Sub":
            return 1.0, -offset
        return 1.0, offset, next(n for n in node.inputs if graph.constant(n) is not None)

    return _fold_followers(graph, ("Add", "Sub"), fold)


def _fold_followers(graph, op_types, fold):
    candidates = [node for node in graph.nodes if node.op_type in op_types and not node.domain]
    producers = graph.producers()
    pairs = [(node, _convolution(node, producers)) for node in candidates]
    pairs = [(node, conv) for node, conv in pairs if conv is not None]
    if not pairs:
        return False
    consumers = graph.consumers()
    bypassed = {}
    for node, conv in pairs:
        (output,) = conv.outputs
        if consumers.get(output) != [node] or output in graph.outputs:
            continue
        weights = [graph.constant(name) for name in conv.inputs[1:]]
        if any(w is None for w in weights):
            continue
        with np.errstate(all="ignore"):
            folded = fold(node, weights[0].shape[0])
            rescaled = None if folded is None else _rescaled(weights, *folded[:2])
        if rescaled is not None:
            _replace_weights(graph, conv, *rescaled, *folded[2:])
            bypassed[node] = output
            # The convolution has another reader now, which one round doesn't change.
            consumers.pop(output)
    return graph.bypass(bypassed)


def _convolution(node, producers):
    """Return the Conv whose output `node` reads, but not as a divisor or to subtract; or None."""
    operands = node.inputs[:1] if node.op_type in ("Div", "Sub") else node.inputs[:2]
    for name in operands:
        producer = producers.get(name)
        if producer is not None and producer.op_type == "Conv" and not producer.domain:
            return producer
    return None


def _per_channel(graph, node, channels):
    """Return the constant operand as a number per channel, or None if it is something else."""
    constants = [graph.constant(name) for name in node.inputs]
    array = constants[1] if constants[1] is not None else constants[0]
    whole = graph.shape(node.outputs[0])
    if array is None or whole is None or array.ndim > len(whole):
        return None
    shape = (1,) * (len(whole) - array.ndim) + array.shape
    if shape[1] not in (1, channels) or any(n != 1 for i, n in enumerate(shape) if i != 1):
        return None
    return np.broadcast_to(array.astype("float64").reshape(-1), (channels,))


def _rescaled(weights, scale, offset):
    """Return filters, None where they stay as they are, and bias; None where they overflow.

    Infinite filters have NaN where the image is 0, and so do infinite scales where a filter is.
    """
    filters, *bias = weights
    channels, dtype = filters.shape[0], filters.dtype
    scale = np.broadcast_to(np.asarray(scale, "float64"), (channels,))
    start = bias[0].astype("float64") if bias else np.zeros(channels)
    new_bias = np.asarray(start * scale + offset, dtype=dtype)
    if (scale == 1).all():
        return None, new_bias
    scaled = filters.astype("float64") * scale.reshape(-1, *[1] * (filters.ndim - 1))
    scaled = scaled.astype(dtype)
    is_finite = np.isfinite(scaled).all() and np.isfinite(new_bias).all()
    return (scaled, new_bias) if is_finite else None


def _replace_weights(graph, conv, filters, bias, offset_name=None):
    parameter = graph.parameter_of(conv.inputs[1])
    source = parameter or conv.inputs[1]
    if filters is not None:
        name = graph.add_initializer(f"{source}_folded", filters)
        if parameter is not None:
            graph.origin[name] = parameter
        conv.inputs[1] = name
    stem = source.removesuffix("weight")
    name = f"{stem}bias" if stem != source else f"{source}_bias"
    # A bias that the user wrote as an addition keeps its name.
    has_bias = len(conv.inputs) > 2
    parameter = None if has_bias or offset_name is None else graph.parameter_of(offset_name)
    new = graph.add_initializer(parameter or name, bias)
    if parameter is not None:
        graph.origin[new] = parameter
    conv.inputs[2:] = [new]
