from math import prod

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Size
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i


@onnx_funcify.register(Shape)
def onnx_funcify_Shape(op, node, x):
    return x.sizes()


@onnx_funcify.register(Shape_i)
def onnx_funcify_Shape_i(op, node, x):
    return x.size(op.i)


@onnx_funcify.register(Reshape)
def onnx_funcify_Reshape(op, node, x, shape):
    requested = x.builder.dims.elements(node.inputs[1])
    constant = constant_shape(x.builder, node, requested)
    if constant is not None:
        return reshape_to_constant(x, constant)
    return x.reshape(shape.cast("int64"))


@onnx_funcify.register(JoinDims)
def onnx_funcify_JoinDims(op, node, x):
    sizes = x.builder.dims.sizes(node.inputs[0])
    return reshape_dims(node, x, op.output_shapes(sizes, Size(-1)))


@onnx_funcify.register(SplitDims)
def onnx_funcify_SplitDims(op, node, x, shape):
    variable, shape_variable = node.inputs
    sizes = x.builder.dims.sizes(variable)
    parts = x.builder.dims.elements(shape_variable)
    known = None if parts is None else [*sizes[: op.axis], *parts, *sizes[op.axis + 1 :]]
    return reshape_dims(node, x, known, shape)


def reshape_dims(node, x, requested, parts=None):
    """Reshape where all sizes except `parts`' are the input's."""
    constant = constant_shape(x.builder, node, requested)
    if constant is not None:
        return reshape_to_constant(x, constant)
    op, ndim = node.op, node.inputs[0].type.ndim
    first = op.start_axis if isinstance(op, JoinDims) else op.axis
    last = first + (op.n_axes if isinstance(op, JoinDims) else 1)
    pieces = []
    if first:
        pieces.append(x.sizes(0, first))
    if parts is None:
        pieces.append(x.sizes(first, last).reduce_prod(keepdims=True))
    else:
        pieces.append(parts.cast("int64"))
    if last < ndim:
        pieces.append(x.sizes(last, ndim))
    return x.reshape(concat(pieces))


def reshape_to_constant(x, shape):
    if shape == [0, -1]:
        # What is left over can't be told if the copied size is 0.
        return x.node("Flatten", axis=1)
    return x.node("Reshape", shape)


def constant_shape(builder, node, requested):
    """Return ONNX's constant for the shape of a reshape, or None where it must be computed.

    A size that isn't fixed can be said in two ways: 0 copies the input's size at the same
    position, and one -1 takes what is left over.  With both, onnxruntime refuses inputs of size 0,
    which working out the shape in the model doesn't.
    """
    x, output = node.inputs[0], node.outputs[0]
    if 0 in output.type.shape:
        # A literal zero needs the attribute that forbids copying.
        return None
    if requested is None:
        requested = [None] * output.type.ndim
    shape = []
    for axis, (wanted, static) in enumerate(zip(requested, output.type.shape, strict=True)):
        if static is not None:
            shape.append(static)
        elif wanted is not None and wanted.is_fixed and wanted.factor > 0:
            shape.append(wanted.factor)
        elif wanted is not None and axis < x.type.ndim and wanted == builder.dims.size(x, axis):
            shape.append(0)
        else:
            shape.append(-1)
    if shape.count(-1) > 1:
        return None
    if builder.exact and -1 in shape and not is_known_to_fit(builder, node, requested):
        return None
    if builder.exact and 0 in shape and -1 in shape and not is_flattened(builder, x, requested):
        # NumPy refuses what the user left open just as well.
        left_open = Size(-1) in requested and not isinstance(node.op, JoinDims)
        return shape if left_open else None
    return shape


def is_known_to_fit(builder, node, requested):
    """Return whether a size may be inferred that has been given: a wrong one must be an error."""
    if isinstance(node.op, JoinDims) or Size(-1) in requested:
        return True
    sizes = builder.dims.sizes(node.inputs[0])
    if None in requested or None in sizes:
        return False
    return prod(requested, start=Size(1)) == prod(sizes, start=Size(1))


def is_flattened(builder, x, requested):
    """Return whether a reshape keeps the first axis and merges all others."""
    if len(requested) != 2:
        return False
    first, *rest = builder.dims.sizes(x)
    return requested[0] == first and requested[1] == prod(rest, start=Size(1))
