"""Counting, and masks of diagonals."""

from pytensor.link.onnx.dispatch.fold import scalar


def count_to(builder, n):
    """The integers from 0 to the scalar `n`, exclusive."""
    return builder.add("Range", builder.constant(0, "int64"), n, builder.constant(1, "int64"))


def size(builder, x, axis):
    """The size of `x` along `axis`, as a scalar."""
    return scalar(builder, builder.add("Shape", x, start=axis, end=axis + 1))


def diagonal_mask(builder, height, width, offset):
    """Where column minus row is `offset`; all three are int64 scalars."""
    rows = builder.add("Unsqueeze", count_to(builder, height), builder.int64s([1]))
    on_diagonal = builder.add("Add", rows, offset)
    return builder.add("Equal", on_diagonal, count_to(builder, width))
