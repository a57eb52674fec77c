import sys

from pytensor.graph.basic import Constant
from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.subtensor import (
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    get_constant_idx,
    indices_from_subtensor,
)


@onnx_funcify.register(Subtensor)
def onnx_funcify_Subtensor(op, node, builder, x, *index_names):
    indices = indices_from_subtensor(node.inputs[1:], op.idx_list)
    sliced = [
        (axis, index)
        for axis, index in enumerate(indices)
        if isinstance(index, slice) and index != slice(None)
    ]
    if sliced:
        x = slice_axes(builder, x, sliced)
    # From the last axis to the first, so that the numbers of those still to come stay right.
    for axis, index in reversed(list(enumerate(indices))):
        if not isinstance(index, slice):
            x = builder.add("Gather", x, index_name(builder, index), axis=axis)
    return x


def slice_axes(builder, x, sliced):
    """Slice along several axes; NumPy and ONNX agree on negative and on too large bounds."""
    starts, ends, steps = [], [], []
    for _, index in sliced:
        step = 1 if index.step is None else constant_index(index.step)
        if step is None:
            raise ConversionError("the step of a slice must be constant")
        starts.append(index.start if index.start is not None else (0 if step > 0 else -1))
        # With a negative step, an end of -1 would be the last element: no end is far below.
        ends.append(
            index.stop if index.stop is not None else (sys.maxsize if step > 0 else -sys.maxsize)
        )
        steps.append(step)
    return builder.add(
        "Slice",
        x,
        bounds(builder, starts),
        bounds(builder, ends),
        builder.int64s([axis for axis, _ in sliced]),
        builder.int64s(steps),
    )


def constant_index(index):
    if isinstance(index, int):
        return index
    return int(index.data) if isinstance(index, Constant) else None


def index_name(builder, index):
    value = constant_index(index)
    if value is not None:
        return builder.constant(value, "int64")
    return builder.cast(builder.name_of(index), index.type.dtype, "int64")


def bounds(builder, entries):
    """A vector of slice bounds, constant if all of them are."""
    values = [constant_index(entry) for entry in entries]
    if None not in values:
        return builder.int64s(values)
    parts = [
        builder.int64s([value])
        if value is not None
        else builder.add("Unsqueeze", index_name(builder, entry), builder.int64s([0]))
        for value, entry in zip(values, entries, strict=True)
    ]
    return parts[0] if len(parts) == 1 else builder.add("Concat", *parts, axis=0)


@onnx_funcify.register(AdvancedSubtensor)
def onnx_funcify_AdvancedSubtensor(op, node, builder, x, *index_names):
    indices = indices_from_subtensor(node.inputs[1:], op.idx_list)
    advanced = [axis for axis, index in enumerate(indices) if not isinstance(index, slice)]
    if len(advanced) != 1:
        raise ConversionError("indexing with several arrays at once is not supported")
    (axis,) = advanced
    index = indices[axis]
    if index.type.dtype == "bool":
        raise ConversionError(
            "boolean masks are not supported; the exported graph needs sizes that don't "
            "depend on values"
        )
    sliced = [
        (i, entry)
        for i, entry in enumerate(indices)
        if isinstance(entry, slice) and entry != slice(None)
    ]
    if sliced:
        x = slice_axes(builder, x, sliced)
    name = builder.cast(builder.name_of(index), index.type.dtype, "int64")
    return builder.add("Gather", x, name, axis=axis)


@onnx_funcify.register(IncSubtensor)
def onnx_funcify_IncSubtensor(op, node, builder, x, y, *index_names):
    variable, value = node.inputs[:2]
    axis, positions = _one_constant_index(op, node)
    ndim = variable.type.ndim
    front = [axis, *(i for i in range(ndim) if i != axis)]
    back = [front.index(i) for i in range(ndim)]
    dropped = isinstance(positions, int)
    y = builder.cast(y, value.type.dtype, variable.type.dtype)
    missing = ndim - dropped - value.type.ndim
    if missing:
        y = builder.add("Unsqueeze", y, builder.int64s(range(missing)))
    if dropped:
        y = builder.add("Unsqueeze", y, builder.int64s([0]))
        positions = [positions]
    if axis:
        x = builder.add("Transpose", x, perm=front)
        y = y if dropped else builder.add("Transpose", y, perm=front)
    old = builder.add("Gather", x, builder.int64s(positions), axis=0)
    if op.set_instead_of_inc:
        y = builder.add("Expand", y, builder.add("Shape", old))
    else:
        y = builder.add("Add", old, y)
    indices = builder.constant([[position] for position in positions], "int64")
    result = builder.add("ScatterND", x, indices, y)
    return builder.add("Transpose", result, perm=back) if axis else result


def _one_constant_index(op, node):
    """The axis that is written to, and the position or positions along it."""
    x = node.inputs[0]
    try:
        indices = get_constant_idx(op.idx_list, [x, *node.inputs[2:]])
    except NotScalarConstantError as error:
        raise ConversionError("only constant indices can be written to") from error
    axes = [axis for axis, index in enumerate(indices) if index != slice(None)]
    lengths = [x.type.shape[axis] for axis in axes]
    if len(axes) != 1 or None in lengths:
        raise ConversionError("one axis, of known length, can be written to at a time")
    index = indices[axes[0]]
    return axes[0], range(lengths[0])[index]
