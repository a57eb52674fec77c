from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.batched import (
    batch_ndim,
    batch_shape,
    expand_batch,
    onnx_batched,
)
from pytensor.link.onnx.write.builder import as_tuple
from pytensor.link.onnx.write.sizes import concat, length
from pytensor.tensor.basic import constant
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.type import tensor


@onnx_funcify.register(Blockwise)
def onnx_funcify_Blockwise(op, node, builder, *inputs):
    result = onnx_batched(op.core_op, node, builder, *inputs)
    return loop_over_batch(op, node, builder, inputs) if result is None else result


def loop_over_batch(op, node, builder, inputs):
    """Convert the core Op in the body of a Loop, one element of the batch a step."""
    ndim = batch_ndim(node)
    core_inputs, fgraph = core_graph(op, node)
    read = [(i, b) for i, (v, b) in enumerate(core_inputs) if not isinstance(v, Constant)]
    names = [flat_batch(builder, node, inputs, i, is_batched) for i, is_batched in read]
    if not ndim:
        return builder.inline(fgraph, names)
    shape = batch_shape(builder, node, inputs)
    count = builder.add("ReduceProd", shape, keepdims=0)
    with builder.subgraph() as body:
        step = body.add_input("step", "int64", ())
        condition = body.add_input("condition", "bool", ())
        elements = [
            builder.add("Gather", name, step, axis=0) if is_batched else name
            for name, (_, is_batched) in zip(names, read, strict=True)
        ]
        results = builder.inline(fgraph, elements)
        builder.output(condition, "bool", ())
        for name, variable in zip(results, fgraph.outputs, strict=True):
            builder.output(name, variable.type.dtype, variable.type.shape)
    stacked = builder.add("Loop", count, "", n_outputs=len(results), body=body)
    return tuple(
        with_batch(builder, op, node, inputs, shape, name, sig)
        for name, sig in zip(as_tuple(stacked), op.outputs_sig, strict=True)
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


def flat_batch(builder, node, inputs, i, is_batched):
    """Return input `i` with one axis in place of the batch's, or none where it has no batch."""
    ndim = batch_ndim(node)
    if not ndim:
        return inputs[i]
    if not is_batched:
        return builder.add("Squeeze", inputs[i], builder.int64s(range(ndim)))
    x = expand_batch(builder, node, inputs, i)
    if ndim == 1:
        return x
    core = builder.add("Shape", x, start=ndim)
    size = builder.add("ReduceProd", builder.add("Shape", x, end=ndim), keepdims=1)
    return builder.add("Reshape", x, builder.add("Concat", size, core, axis=0), allowzero=1)


def with_batch(builder, op, node, inputs, shape, x, sig):
    """Give the stacked results of the core Op the batch's shape.

    After no step at all onnxruntime doesn't know the sizes of an element, but some are the inputs'.
    """
    ndim = batch_ndim(node)
    parts = [shape]
    for axis, dim in enumerate(sig):
        source = next(
            (
                length(builder, name, ndim + s.index(dim))
                for name, s in zip(inputs, op.inputs_sig, strict=True)
                if dim in s
            ),
            None,
        )
        parts.append(source or length(builder, x, axis + 1))
    return builder.add("Reshape", x, concat(builder, parts), allowzero=1)
