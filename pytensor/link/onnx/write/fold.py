"""Loops along one axis, for what no ONNX operator computes in the dtype that is asked for."""


def fold(x, axis, ndim, start, op_type):
    """Combine all slices of `x` along `axis`, from the first to the last; `start` if none."""
    return loop_over_slices(x, axis, ndim, start, op_type)[0]


def accumulate(x, axis, ndim, start, op_type):
    """Fold as `fold`, and return what there is after each slice, along the same axis."""
    steps = loop_over_slices(x, axis, ndim, start, op_type)[1]
    steps = steps.transpose(*range(1, axis + 1), 0, *range(axis + 1, ndim))
    # A loop that does nothing forgets the sizes of what it would have stacked.
    return steps.reshape(x.sizes())


def loop_over_slices(x, axis, ndim, start, op_type):
    state = x.lift(start)
    if ndim > 1:
        state = state.expand(x.sizes_without(axis, ndim))

    def step(k, before):
        after = before.node(op_type, x.gather(k, axis))
        return after, after

    return x.builder.loop(step, [state], count=x.size(axis), shapes=[(None,) * (ndim - 1)] * 2)
