import numpy as np

from pytensor.link.onnx.ir import Value


def _slice(node, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes
    steps = np.ones(len(starts), int) if steps is None else steps
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        start, end, step = int(start), int(end), int(step)
        # Below the first element a negative end means "to the beginning", which is None here.
        if step < 0 and end < -x.shape[axis]:
            end = None
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


def _reshape(node, x, shape):
    if not node.attributes.get("allowzero"):
        shape = [x.shape[i] if size == 0 else size for i, size in enumerate(shape)]
    return x.reshape(shape)


def _divide(node, x, y):
    if x.dtype.kind != "f":
        raise NotImplementedError
    return x / y


EVALUATE = {
    "Add": lambda node, x, y: x + y,
    "Cast": lambda node, x: x.astype(node.attributes["to"]),
    "Concat": lambda node, *xs: np.concatenate(xs, axis=node.attributes["axis"]),
    "Div": _divide,
    "Equal": lambda node, x, y: x == y,
    "Exp": lambda node, x: np.exp(x),
    "Expand": lambda node, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape))),
    "Gather": lambda node, x, index: np.take(x, index, axis=node.attributes.get("axis", 0)),
    "Identity": lambda node, x: x,
    "Mul": lambda node, x, y: x * y,
    "Neg": lambda node, x: -x,
    "Not": lambda node, x: ~x,
    "Reciprocal": lambda node, x: np.reciprocal(x),
    "Reshape": _reshape,
    "Shape": lambda node, x: np.array(
        x.shape[node.attributes.get("start", 0) : node.attributes.get("end")], dtype="int64"
    ),
    "Slice": _slice,
    "Sqrt": lambda node, x: np.sqrt(x),
    "Squeeze": lambda node, x, axes: x.squeeze(tuple(axes)),
    "Sub": lambda node, x, y: x - y,
    "Transpose": lambda node, x: x.transpose(node.attributes.get("perm")),
    "Unsqueeze": lambda node, x, axes: np.expand_dims(x, tuple(axes)),
    "Where": lambda node, c, x, y: np.where(c, x, y),
}
LARGE = 4096


def fold_constants(graph):
    """Compute nodes whose inputs are constants, unless that makes the file much larger."""
    changed = False
    kept = []
    for node in graph.nodes:
        result = _fold(graph, node)
        if result is None:
            kept.append(node)
            continue
        (name,) = node.outputs
        graph.initializers[name] = result
        graph.values[name] = Value(result.dtype.name, result.shape)
        origins = {graph.parameter_of(i) for i in node.inputs} - {None}
        if len(origins) == 1:
            graph.origin[name] = origins.pop()
        changed = True
    graph.nodes = kept
    return changed


def _fold(graph, node):
    evaluate = EVALUATE.get(node.op_type)
    if evaluate is None or node.domain or node.outputs[0] in graph.outputs:
        return None
    inputs = [graph.constant(name) for name in node.inputs]
    if any(value is None for value in inputs):
        return None
    try:
        with np.errstate(all="ignore"):
            result = np.array(evaluate(node, *inputs), order="C")
    except (NotImplementedError, ValueError, IndexError):
        # What is wrong is an error when it is run, which in a branch it may never be.
        return None
    if result.size > LARGE and result.nbytes > 2 * sum(value.nbytes for value in inputs):
        return None
    return result
