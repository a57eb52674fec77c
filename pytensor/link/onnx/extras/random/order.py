"""Permutations, and choices without replacement."""

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.extras.random.draws import after_draw, draws_of
from pytensor.link.onnx.write.term import concat


@onnx_funcify.register(ptr.PermutationRV)
def onnx_funcify_PermutationRV(op, node, generator, size, x):
    ndim, n = op.batch_ndim(node), count_choices(op, node, x)
    known = node.outputs[1].type.shape[ndim : ndim + 1]
    draws = draws_of(node, generator, size, [x], [n], known)
    order = order_of_smallest(draws.uniform(), n)
    if op.ndims_params[0]:
        return after_draw(node, generator), take_along_core(op, node, x, order)
    return after_draw(node, generator), order.cast(x.dtype)


@onnx_funcify.register(ptr.ChoiceWithoutReplacement)
def onnx_funcify_ChoiceWithoutReplacement(op, node, generator, size, a, *rest):
    *chances, core_shape = rest
    if not op.ndims_params[0] and node.inputs[2].type.ndim:
        raise ConversionError(
            "choices from a batch of ranges have no converter; choose from one range, "
            "or from a matrix of choices"
        )
    n = count_choices(op, node, a)
    draws = draws_of(node, generator, size, [a, *rest], [n], (None,))
    if chances:
        # Among exponential numbers with the chances as rates, each is the smallest with just its
        # chance; and so is the next one among those that are left.
        scores = draws.exponential() / chances[0].cast("float64")
    else:
        scores = draws.uniform()
    core_shape = core_shape.cast("int64")
    for _ in range(node.inputs[-1].type.ndim - 1):
        core_shape = core_shape.gather(0)
    order = order_of_smallest(scores, core_shape.reduce_prod(0, keepdims=True))
    ndim, core_ndim = op.batch_ndim(node), op.ndims_params[0]
    result = take_along_core(op, node, a, order) if core_ndim else order.cast(op.dtype)
    shape = [order.sizes(end=ndim), core_shape]
    if core_ndim > 1:
        shape.append(a.sizes(ndim + 1))
    return after_draw(node, generator), result.reshape(concat(shape))


def count_choices(op, node, x):
    """Return the number of what is put in order, along an axis or in a range, as a vector."""
    if op.ndims_params[0]:
        return x.length(op.batch_ndim(node))
    return x.cast("int64").flatten().slice(0, 1)


def order_of_smallest(scores, count):
    _, order = scores.node("TopK", count, n_outputs=2, axis=-1, largest=0)
    return order


def take_along_core(op, node, x, order):
    """Take what is at `order` along the first core axis of `x`."""
    ndim, core_ndim = op.batch_ndim(node), op.ndims_params[0]
    if not ndim:
        return x.gather(order)
    x = x.expand([order.sizes(end=ndim), x.sizes(ndim)])
    if core_ndim > 1:
        sizes = concat([order.sizes(), x.sizes(ndim + 1)])
        order = order.unsqueeze(*range(ndim + 1, ndim + core_ndim)).expand(sizes)
    return x.gather_elements(order, axis=ndim)
