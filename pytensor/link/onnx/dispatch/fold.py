"""Loops along one axis, for what no ONNX operator computes in the dtype that is asked for."""


def length(builder, x, axis):
    """The size of `x` along `axis`, as a vector of one entry."""
    return builder.add("Shape", x, start=axis, end=axis + 1)


def scalar(builder, x):
    """The only entry of a vector."""
    return builder.add("Squeeze", x, builder.int64s([0]))


def shape_without(builder, x, axis, ndim):
    """The shape of `x` with `axis` left out."""
    parts = []
    if axis:
        parts.append(builder.add("Shape", x, start=0, end=axis))
    if axis + 1 < ndim:
        parts.append(builder.add("Shape", x, start=axis + 1, end=ndim))
    return parts[0] if len(parts) == 1 else builder.add("Concat", *parts, axis=0)


def fold(builder, x, dtype, axis, ndim, start, op_type):
    """Combine all slices of `x` along `axis`, from the first to the last; `start` if none."""
    final, _ = _loop(builder, x, dtype, axis, ndim, start, op_type)
    return final


def accumulate(builder, x, dtype, axis, ndim, start, op_type):
    """Like `fold`, and return what there is after each slice, along the same axis."""
    _, steps = _loop(builder, x, dtype, axis, ndim, start, op_type)
    if axis:
        steps = builder.add(
            "Transpose", steps, perm=[*range(1, axis + 1), 0, *range(axis + 1, ndim)]
        )
    # A loop that does nothing forgets the sizes of what it would have stacked.
    return builder.add("Reshape", steps, builder.add("Shape", x), allowzero=1)


def _loop(builder, x, dtype, axis, ndim, start, op_type):
    state = builder.constant(start, dtype)
    if ndim > 1:
        state = builder.add("Expand", state, shape_without(builder, x, axis, ndim))
    shape = (None,) * (ndim - 1)
    with builder.subgraph() as body:
        step = body.add_input("step", "int64", ())
        condition = body.add_input("condition", "bool", ())
        before = body.add_input("before", dtype, shape)
        after = builder.add_as(dtype, op_type, before, builder.add("Gather", x, step, axis=axis))
        builder.output(condition, "bool", ())
        builder.output(after, dtype, shape)
        builder.output(after, dtype, shape)
    trips = scalar(builder, length(builder, x, axis))
    return builder.add("Loop", trips, "", state, n_outputs=2, body=body)
