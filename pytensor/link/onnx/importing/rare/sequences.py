"""Sequences, which are Python lists of variables, and optional values."""

import pytensor.tensor as pt
from pytensor.link.onnx.importing.alternatives import Rows
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import must_be_known, normalized, size
from pytensor.tensor.basic import constant


class Absent(list):
    """An optional value that there isn't."""


def _position(position, sequence, places):
    """Return a position among `places`; negative ones count from the sequence's end."""
    value = int(must_be_known(position, "the position").reshape(()))
    index = value + len(sequence) if value < 0 else value
    if not 0 <= index < places:
        raise Refused(f"the position {value} is outside of a sequence of {len(sequence)} elements")
    return index


@operator_funcify.register("SequenceConstruct")
def sequence_construct(*elements):
    return list(elements)


@operator_funcify.register("SequenceEmpty")
def sequence_empty(*, dtype=1):
    return []


@operator_funcify.register("SequenceAt")
def sequence_at(sequence, position):
    if isinstance(sequence, Rows):
        part = pt.take(sequence.x, position.reshape(()), axis=sequence.axis)
        return pt.expand_dims(part, sequence.axis) if sequence.keepdims else part
    return sequence[_position(position, sequence, len(sequence))]


@operator_funcify.register("SequenceInsert")
def sequence_insert(sequence, element, position=None):
    for other in sequence[:1]:
        if other.type.dtype != element.type.dtype:
            raise Refused(
                f"the sequence is of {other.type.dtype}, and the element {element.type.dtype}"
            )
    end = len(sequence)
    index = end if position is None else _position(position, sequence, end + 1)
    return [*sequence[:index], element, *sequence[index:]]


@operator_funcify.register("SequenceErase")
def sequence_erase(sequence, position=None):
    position = constant(-1) if position is None else position
    index = _position(position, sequence, len(sequence))
    return [*sequence[:index], *sequence[index + 1 :]]


@operator_funcify.register("SequenceLength")
def sequence_length(sequence):
    if isinstance(sequence, Rows):
        return size(sequence.x, sequence.axis)
    return constant(len(sequence), dtype="int64")


@operator_funcify.register("SplitToSequence")
def split_to_sequence(x, split=None, *, axis=0, keepdims=1):
    axis = normalized(axis, x.type.ndim)
    length = x.type.shape[axis]
    sizes = 1 if split is None else must_be_known(split, "the split")
    if split is None or sizes.ndim == 0:
        if length is None and split is None:
            return Rows(x, axis, bool(keepdims))
        if length is None:
            raise Refused(
                f"PyTensor must know the length of axis {axis}, which says how many parts there are"
            )
        size = int(sizes)
        if size < 1:
            raise Refused(f"its split is {size}; parts have at least one element")
        sizes = [min(size, length - start) for start in range(0, length, size)]
    elif (sizes < 0).any():
        raise Refused(f"the parts {list(sizes)} have a negative length")
    elif length is not None and sum(sizes) != length:
        raise Refused(f"the parts {list(sizes)} don't add up to the axis' length {length}")
    if split is None and not keepdims:
        return [pt.take(x, i, axis=axis) for i in range(length)]
    return list(pt.split(x, [int(n) for n in sizes], axis=axis))


@operator_funcify.register("ConcatFromSequence")
def concat_from_sequence(sequence, *, axis, new_axis=0):
    if isinstance(sequence, Rows):
        return _joined_rows(sequence, axis, new_axis)
    if not sequence:
        raise Refused("the sequence is empty")
    join = pt.stack if new_axis else pt.concatenate
    return join(sequence, axis=axis)


def _joined_rows(rows, axis, new_axis):
    stacked = pt.moveaxis(rows.x, rows.axis, 0)
    if rows.keepdims:
        stacked = pt.expand_dims(stacked, rows.axis + 1)
    axis = normalized(axis, stacked.type.ndim - (not new_axis))
    stacked = pt.moveaxis(stacked, 0, axis)
    return stacked if new_axis else pt.join_dims(stacked, axis, 2)


@operator_funcify.register("SequenceMap")
def sequence_map(node, sequence, *others, body):
    for other in others:
        if isinstance(other, list) and len(other) != len(sequence):
            raise Refused(f"its sequences have {len(sequence)} and {len(other)} elements")
    results = [
        node.importer.convert_body(
            body, element, *(v[i] if isinstance(v, list) else v for v in others)
        )
        for i, element in enumerate(sequence)
    ]
    return tuple(list(values) for values in zip(*results, strict=True)) or tuple(
        [] for _ in body.outputs
    )


@operator_funcify.register("Optional")
def optional(value=None, *, type=None):
    return Absent() if value is None else value


@operator_funcify.register("OptionalHasElement")
def optional_has_element(value=None):
    return constant(value is not None and not isinstance(value, Absent), dtype="bool")


@operator_funcify.register("OptionalGetElement")
def optional_get_element(value):
    if isinstance(value, Absent):
        raise Refused("the optional value is absent")
    return value
