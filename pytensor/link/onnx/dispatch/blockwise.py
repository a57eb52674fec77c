from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.batched import (
    batch_ndim,
    batch_shape,
    expand_batch,
    onnx_batched,
)
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.basic import constant
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.type import tensor


@onnx_funcify.register(Blockwise)
def onnx_funcify_Blockwise(op, node, *inputs):
    result = onnx_batched(op.core_op, node, *inputs)
    return loop_over_batch(op, node, inputs) if result is None else result


def loop_over_batch(op, node, inputs):
    """Convert the core Op in the body of a Loop, one element of the batch a step."""
    builder = inputs[0].builder
    core_inputs, fgraph = core_graph(op, node)
    read = [(i, b) for i, (v, b) in enumerate(core_inputs) if not isinstance(v, Constant)]
    terms = [flat_batch(node, inputs, i, is_batched) for i, is_batched in read]
    if not batch_ndim(node):
        return builder.inline(fgraph, terms)

    def step(k):
        pairs = zip(terms, read, strict=True)
        return builder.inline(fgraph, [x.gather(k) if batched else x for x, (_, batched) in pairs])

    shape = batch_shape(node, inputs)
    stacked = builder.loop(step, count=shape.reduce_prod())
    return tuple(
        with_batch(op, node, inputs, shape, x, sig)
        for x, sig in zip(stacked, op.outputs_sig, strict=True)
    )


def core_graph(op, node):
    """Return one (variable, whether it has a batch) per input, and the core Op of them."""
    ndim = batch_ndim(node)
    core_inputs = []
    for v in node.inputs:
        is_batched = not all(v.type.broadcastable[:ndim])
        core_shape = v.type.shape[ndim:]
        if isinstance(v, Constant) and not is_batched:
            # Many converters need constants to be constant.
            core_inputs.append((constant(v.data.reshape(v.data.shape[ndim:])), False))
        else:
            core_inputs.append((tensor(dtype=v.type.dtype, shape=core_shape), is_batched))
    variables = [v for v, _ in core_inputs]
    outputs = op.core_op.make_node(*variables).outputs
    inputs = [v for v in variables if not isinstance(v, Constant)]
    return core_inputs, FunctionGraph(inputs, outputs, clone=False)


def flat_batch(node, inputs, i, is_batched):
    """Return input `i` with one axis in place of the batch's, or none where it has no batch."""
    ndim = batch_ndim(node)
    if not ndim:
        return inputs[i]
    if not is_batched:
        return inputs[i].squeeze(*range(ndim))
    x = expand_batch(node, inputs, i)
    if ndim == 1:
        return x
    core = x.sizes(ndim)
    size = x.sizes(end=ndim).reduce_prod(keepdims=True)
    return x.reshape(concat([size, core]))


def with_batch(op, node, inputs, shape, x, sig):
    """Give the stacked results of the core Op the batch's shape.

    After no step at all onnxruntime doesn't know the sizes of an element, but some are the inputs'.
    """
    ndim = batch_ndim(node)
    parts = [shape]
    for axis, dim in enumerate(sig):
        pairs = zip(inputs, op.inputs_sig, strict=True)
        source = next(((y, ndim + s.index(dim)) for y, s in pairs if dim in s), (x, axis + 1))
        parts.append(source[0].length(source[1]))
    return x.reshape(concat(parts))
