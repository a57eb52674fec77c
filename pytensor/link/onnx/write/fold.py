"""Loops along one axis, for what no ONNX operator computes in the dtype that is asked for."""

from pytensor.link.onnx.write.sizes import length, scalar, shape_without


def fold(builder, x, dtype, axis, ndim, start, op_type):
    """Combine all slices of `x` along `axis`, from the first to the last; `start` if none."""
    final, _ = loop_over_slices(builder, x, dtype, axis, ndim, start, op_type)
    return final


def accumulate(builder, x, dtype, axis, ndim, start, op_type):
    """Fold as `fold`, and return what there is after each slice, along the same axis."""
    _, steps = loop_over_slices(builder, x, dtype, axis, ndim, start, op_type)
    if axis:
        steps = builder.add(
            "Transpose", steps, perm=[*range(1, axis + 1), 0, *range(axis + 1, ndim)]
        )
    # A loop that does nothing forgets the sizes of what it would have stacked.
    return builder.add("Reshape", steps, builder.add("Shape", x), allowzero=1)


def loop_over_slices(builder, x, dtype, axis, ndim, start, op_type):
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
