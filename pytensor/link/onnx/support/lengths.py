"""Lengths of axes and arrays of positions, as integers where known and in the model otherwise."""

import operator

import numpy as np

from pytensor.link.onnx.support import sizes
from pytensor.link.onnx.support.kernels import work_dtype


def _operator(op_type, evaluate, neutral=None):
    return lambda self, other: self._compute(op_type, evaluate, self, other, neutral)


def _reflected(op_type, evaluate, neutral=None):
    return lambda self, other: self._compute(op_type, evaluate, other, self, neutral)


class Ints:
    """An int64 or bool array that is known, or that the model computes.

    Arithmetic on it adds nodes where an operand isn't known.  Quotients must not be negative:
    NumPy rounds those down, ONNX towards zero.  `value` is an array, or the name of the value that
    holds it.
    """

    def __init__(self, builder, value):
        self.builder = builder
        self.value = value if isinstance(value, str) else np.asarray(value)

    @property
    def is_known(self):
        return not isinstance(self.value, str)

    @property
    def name(self):
        return self.builder.constant(self.value) if self.is_known else self.value

    def _compute(self, op_type, evaluate, left, right, neutral=None):
        other = right if left is self else left
        if neutral is not None and isinstance(other, int) and other == neutral:
            return self
        operands = [as_ints(self.builder, v) for v in (left, right)]
        if all(v.is_known for v in operands):
            return Ints(self.builder, evaluate(*(v.value for v in operands)))
        return Ints(self.builder, self.builder.add(op_type, *(v.name for v in operands)))

    __add__ = _operator("Add", operator.add, 0)
    __radd__ = _reflected("Add", operator.add, 0)
    __sub__ = _operator("Sub", operator.sub, 0)
    __rsub__ = _reflected("Sub", operator.sub)
    __mul__ = _operator("Mul", operator.mul, 1)
    __rmul__ = _reflected("Mul", operator.mul, 1)
    __floordiv__ = _operator("Div", operator.floordiv, 1)
    __mod__ = _operator("Mod", operator.mod)
    __lt__ = _operator("Less", operator.lt)
    __and__ = _operator("And", operator.and_)
    equals = _operator("Equal", operator.eq)
    maximum = _operator("Max", np.maximum)
    minimum = _operator("Min", np.minimum)

    def where(self, this, other):
        """Return `this` where this array is true, else `other`; both `Ints` or int."""
        this, other = (as_ints(self.builder, v) for v in (this, other))
        if self.is_known and this.is_known and other.is_known:
            return Ints(self.builder, np.where(self.value, this.value, other.value))
        return Ints(self.builder, self.builder.add("Where", self.name, this.name, other.name))

    def expand_dims(self, axis):
        if self.is_known:
            return Ints(self.builder, np.expand_dims(self.value, axis))
        axes = self.builder.int64s([axis])
        return Ints(self.builder, self.builder.add("Unsqueeze", self.value, axes))


def as_ints(builder, value):
    return value if isinstance(value, Ints) else Ints(builder, np.int64(value))


def lengths_of(builder, variable, name):
    """Return the shape of `variable`: an int where it is fixed, else `Ints` of one element."""
    lengths = []
    for axis in range(variable.type.ndim):
        size = builder.dims.size(variable, axis)
        if size.is_fixed:
            lengths.append(size.factor)
        else:
            lengths.append(Ints(builder, sizes.length(builder, name, axis)))
    return lengths


def all_known(lengths):
    return all(isinstance(length, int) for length in lengths)


def maximum(a, b):
    return a.maximum(b) if isinstance(a, Ints) else max(a, b)


def minimum(a, b):
    return a.minimum(b) if isinstance(a, Ints) else min(a, b)


def arange(builder, length):
    """Return 0, 1, ... up to `length`, an int or `Ints` of one element."""
    if isinstance(length, int):
        return Ints(builder, np.arange(length, dtype="int64"))
    return Ints(builder, sizes.count_to(builder, sizes.scalar(builder, length.name)))


def vector(builder, lengths):
    """Name of the int64 vector of these lengths."""
    parts = [length if isinstance(length, int) else length.name for length in lengths]
    return sizes.vector(builder, parts)


def reshape(builder, x, lengths):
    if 0 not in lengths and sum(isinstance(length, Ints) for length in lengths) < 2:
        target = [length if isinstance(length, int) else -1 for length in lengths]
        return builder.add("Reshape", x, builder.int64s(target))
    return builder.add("Reshape", x, vector(builder, lengths), allowzero=1)


def pad(builder, x, dtype, pairs, fill=0, axes=None):
    """Add cells before and after each of `axes`, by default the last, as many as `pairs` says."""
    if all(isinstance(n, int) and n == 0 for pair in pairs for n in pair):
        return x
    before, after = zip(*pairs, strict=True)
    work = work_dtype("Pad", dtype)
    padded = builder.add(
        "Pad",
        builder.cast(x, dtype, work),
        vector(builder, [*before, *after]),
        builder.constant(fill, work),
        builder.int64s(range(-len(pairs), 0) if axes is None else axes),
    )
    return builder.cast(padded, work, dtype)


def matmul_or_zeros(builder, dtype, x, y, inner):
    """Multiply matrices; zeros where `inner`, the length that is summed over, is 0.

    onnxruntime leaves sums over no terms uninitialized.
    """
    result = builder.add_as(dtype, "MatMul", x, y)
    if isinstance(inner, int) and inner > 0:
        return result
    is_empty = as_ints(builder, inner).equals(0)
    return builder.add("Where", is_empty.name, builder.constant(0, dtype), result)


def one_if_empty(length):
    """Return 1 where an axis of this length is empty, else 0."""
    if isinstance(length, int):
        return int(length == 0)
    return length.equals(0).where(1, 0)


def crop(builder, x, starts, lengths, axes):
    """Take `lengths` cells from `starts` on along `axes`."""
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    axes = builder.int64s(axes)
    return builder.add("Slice", x, vector(builder, starts), vector(builder, ends), axes)
