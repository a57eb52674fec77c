"""Lengths of axes and arrays of positions, as integers where known and in the model otherwise."""

import numpy as np

from pytensor.link.onnx.kernels import work_dtype
from pytensor.link.onnx.write import sizes
from pytensor.link.onnx.write.term import Term


def ints(builder, value):
    """Return int64 numbers, or the name of a value that holds some, as a term."""
    if isinstance(value, Term):
        return value
    return Term(builder, value if isinstance(value, str) else np.int64(value), "int64")


def lengths_of(builder, variable, name):
    """Return the shape of `variable`: an int where it is fixed, else a term of one element."""
    lengths = []
    for axis in range(variable.type.ndim):
        size = builder.dims.size(variable, axis)
        if size.is_fixed:
            lengths.append(size.factor)
        else:
            lengths.append(ints(builder, sizes.length(builder, name, axis)))
    return lengths


def is_empty(lengths):
    """Return whether a shape is known to have no elements."""
    return any(isinstance(length, int) and length == 0 for length in lengths)


def split_pairs(pairs):
    """Separate (before, after) pairs into ONNX's list of befores and list of afters."""
    before, after = zip(*pairs, strict=True)
    return [int(pad) for pad in before], [int(pad) for pad in after]


def all_known(lengths):
    return all(isinstance(length, int) for length in lengths)


def maximum(a, b):
    """Return the larger one of two ints or terms."""
    return _of_two("Max", np.maximum, max, a, b)


def minimum(a, b):
    """Return the smaller one of two ints or terms."""
    return _of_two("Min", np.minimum, min, a, b)


def _of_two(op_type, evaluate, of_ints, a, b):
    return a.combine(op_type, evaluate, a, b) if isinstance(a, Term) else of_ints(a, b)


def where(condition, this, other):
    """Return the term `this` where a term holds, else `other`; both terms or ints."""
    return condition.combine("Where", np.where, condition, this, other)


def expand_dims(term, axis):
    """Return a term with one more axis, of size 1."""
    if term.is_known:
        return Term(term.builder, np.expand_dims(term.value, axis), term.dtype)
    return term.apply("Unsqueeze", Term(term.builder, term.builder.int64s([axis])))


def arange(builder, length):
    """0, 1, ... up to `length`, an int or a term of one element."""
    if isinstance(length, int):
        return ints(builder, np.arange(length, dtype="int64"))
    return ints(builder, sizes.count_to(builder, sizes.scalar(builder, length.name)))


def vector(builder, lengths):
    """Name of the int64 vector of these lengths."""
    parts = [length if isinstance(length, int) else length.name for length in lengths]
    return sizes.vector(builder, parts)


def reshape(builder, x, lengths):
    if not is_empty(lengths) and sum(isinstance(length, Term) for length in lengths) < 2:
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
    """Product of matrices, zeros where `inner`, the length that is summed over, is 0.

    onnxruntime leaves sums over no terms uninitialized.
    """
    result = builder.add_as(dtype, "MatMul", x, y)
    if isinstance(inner, int) and inner > 0:
        return result
    no_terms = ints(builder, inner) == 0
    return builder.add("Where", no_terms.name, builder.constant(0, dtype), result)


def one_if_empty(length):
    """1 where an axis of this length is empty, else 0."""
    if isinstance(length, int):
        return int(length == 0)
    return where(length == 0, 1, 0)


def crop(builder, x, starts, lengths, axes):
    """Take `lengths` cells from `starts` on along `axes`."""
    ends = [start + length for start, length in zip(starts, lengths, strict=True)]
    axes = builder.int64s(axes)
    return builder.add("Slice", x, vector(builder, starts), vector(builder, ends), axes)
