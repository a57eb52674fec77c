"""Sizes of axes, vectors of them, and counting up to them."""

from itertools import groupby


def length(builder, x, axis):
    """Return the size of `x` along `axis`, as a vector of one entry."""
    return builder.add("Shape", x, start=axis, end=axis + 1 or None)


def scalar(builder, x):
    """Return the only entry of a vector."""
    return builder.add("Squeeze", x, builder.int64s([0]))


def size(builder, x, axis):
    """Return the size of `x` along `axis`, as a scalar."""
    return scalar(builder, length(builder, x, axis))


def shape_without(builder, x, axis, ndim):
    """Return the shape of `x` with `axis`, one of several, left out."""
    parts = []
    if axis:
        parts.append(builder.add("Shape", x, start=0, end=axis))
    if axis + 1 < ndim:
        parts.append(builder.add("Shape", x, start=axis + 1, end=ndim))
    return concat(builder, parts)


def concat(builder, parts, axis=0):
    return parts[0] if len(parts) == 1 else builder.add("Concat", *parts, axis=axis)


def vector(builder, parts, dtype="int64"):
    """Concatenate numbers and names of vectors; neighbouring numbers make one constant."""
    joined = []
    for is_name, group in groupby(parts, lambda part: isinstance(part, str)):
        entries = list(group)
        joined.extend(entries if is_name else [builder.constant(entries, dtype)])
    return concat(builder, joined) if joined else builder.constant([], dtype)


def count_to(builder, n):
    """Return the integers from 0 to the scalar `n`, exclusive."""
    return builder.add("Range", builder.constant(0, "int64"), n, builder.constant(1, "int64"))
