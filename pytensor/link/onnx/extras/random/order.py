"""Permutations, and choices without replacement."""

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.extras.random.draws import draws_of, next_key, terms_of
from pytensor.link.onnx.write.sizes import length


@onnx_funcify.register(ptr.PermutationRV)
def onnx_funcify_PermutationRV(op, node, builder, key, size, x):
    variable, ndim = node.inputs[2], op.batch_ndim(node)
    n = number_of_things(op, node, builder, x)
    known = node.outputs[1].type.shape[ndim : ndim + 1]
    draws = draws_of(node, builder, key, size, [x], [n], known)
    order = order_of_smallest(builder, draws.uniform().name, n)
    if op.ndims_params[0]:
        result = take_along_core(op, node, builder, x, order)
    else:
        result = builder.cast(order, "int64", variable.type.dtype)
    return next_key(node, key), result


@onnx_funcify.register(ptr.ChoiceWithoutReplacement)
def onnx_funcify_ChoiceWithoutReplacement(op, node, builder, key, size, a, *rest):
    *chances, core_shape = rest
    variable, core_variable = node.inputs[2], node.inputs[-1]
    if not op.ndims_params[0] and variable.type.ndim:
        raise ConversionError(
            "choices from a batch of ranges have no converter; choose from one range, "
            "or from a matrix of choices"
        )
    n = number_of_things(op, node, builder, a)
    draws = draws_of(node, builder, key, size, [a, *rest], [n], (None,))
    if chances:
        # Among exponential numbers with the chances as rates, each is the smallest with just its
        # chance; and so is the next one among those that are left.
        scores = draws.exponential() / terms_of(node, builder, [a, *rest])[1]
    else:
        scores = draws.uniform()
    core_shape = builder.cast(core_shape, core_variable.type.dtype, "int64")
    for _ in range(core_variable.type.ndim - 1):
        core_shape = builder.add("Gather", core_shape, builder.constant(0, "int64"), axis=0)
    count = builder.add("ReduceProd", core_shape, builder.int64s([0]), keepdims=1)
    order = order_of_smallest(builder, scores.name, count)
    if op.ndims_params[0]:
        result = take_along_core(op, node, builder, a, order)
    else:
        result = builder.cast(order, "int64", op.dtype)
    ndim = op.batch_ndim(node)
    shape = [builder.add("Shape", order, end=ndim), core_shape]
    if op.ndims_params[0] > 1:
        shape.append(builder.add("Shape", a, start=ndim + 1))
    shape = builder.add("Concat", *shape, axis=0)
    return next_key(node, key), builder.add("Reshape", result, shape, allowzero=1)


def number_of_things(op, node, builder, x):
    """Return a vector of the number of things put in order: those along an axis, or a range."""
    if op.ndims_params[0]:
        return length(builder, x, op.batch_ndim(node))
    n = builder.cast(x, node.inputs[2].type.dtype, "int64")
    n = builder.add("Reshape", n, builder.int64s([-1]))
    return builder.add("Slice", n, builder.int64s([0]), builder.int64s([1]))


def order_of_smallest(builder, scores, count):
    _, order = builder.add("TopK", scores, count, n_outputs=2, axis=-1, largest=0)
    return order


def take_along_core(op, node, builder, x, order):
    """Take what lies at `order` along the first core axis of `x`."""
    ndim, core_ndim = op.batch_ndim(node), op.ndims_params[0]
    if not ndim:
        return builder.add("Gather", x, order, axis=0)
    batch = builder.add("Shape", order, end=ndim)
    core = builder.add("Shape", x, start=ndim)
    x = builder.add("Expand", x, builder.add("Concat", batch, core, axis=0))
    if core_ndim > 1:
        rest = builder.add("Shape", x, start=ndim + 1)
        shape = builder.add("Concat", builder.add("Shape", order), rest, axis=0)
        axes = builder.int64s(range(ndim + 1, ndim + core_ndim))
        order = builder.add("Expand", builder.add("Unsqueeze", order, axes), shape)
    return builder.add("GatherElements", x, order, axis=ndim)
