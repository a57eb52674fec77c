"""Reductions, cumulative sums, and what finds the largest along an axis."""

import numpy as np

import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad
from pytensor.graph.basic import Constant
from pytensor.link.onnx.importing.operators.elementwise import divided, is_integer, without_gradient
from pytensor.link.onnx.importing.registry import attributes_of, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    DIMS,
    known_axis,
    like,
    must_be_known,
    normalized,
    positions,
    product,
    size,
    wanted_sizes,
    wide,
)
from pytensor.tensor.basic import constant
from pytensor.tensor.moments import total
from pytensor.tensor.nn.distances import norm
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.topk import topk


def _axes(x, axes, may_be_none):
    """Return the axes to reduce over; none given are all of them, unless there may be none."""
    given = [] if axes is None else must_be_known(axes, "which axes it reduces over").tolist()
    if not given and not may_be_none:
        return tuple(range(x.type.ndim))
    return tuple(sorted(normalized(a, x.type.ndim) for a in given))


def reduction(*op_types):
    """Register a function of a tensor and axes, in whose place there may be none."""

    def register(reduce):
        @operator_funcify.register(*op_types)
        def converter(x, axes=None, *, keepdims=1, noop_with_empty_axes=0):
            dtype, axes = x.type.dtype, _axes(x, axes, noop_with_empty_axes)
            result = pt.cast(reduce(wide(x), axes), dtype)
            return pt.expand_dims(result, axes) if keepdims else result

        return reduce

    return register


def _wide(x):
    """Return an integer in 64 bits."""
    return pt.cast(x, "int64") if x.type.dtype in ("int8", "int16", "int32", "uint32") else x


def _floating(x):
    return pt.cast(x, "float64") if is_integer(x) else x


def _sum(x, axes):
    return total(x, axes) if axes else x


@reduction("ReduceSum")
def reduce_sum(x, axes):
    return _sum(x, axes)


@reduction("ReduceMean")
def reduce_mean(x, axes):
    number = product([size(x, a) for a in axes])
    return divided(_sum(_wide(x), axes), pt.cast(number, _wide(x).type.dtype)) if axes else x


@reduction("ReduceProd")
def reduce_prod(x, axes):
    # As in `total`: thoughts/upstream/sum-over-all-axes-acc-dtype.md
    axis = None if len(axes) == x.type.ndim else axes
    return pt.prod(x, axis, dtype=x.type.dtype, acc_dtype=x.type.dtype) if axes else x


@reduction("ReduceL1")
def reduce_l1(x, axes):
    return _sum(pt.abs(x), axes)


@reduction("ReduceL2")
def reduce_l2(x, axes):
    return norm(_floating(x), 2, axes)


@reduction("ReduceSumSquare")
def reduce_sum_square(x, axes):
    return _sum(pt.sqr(x), axes)


@reduction("ReduceLogSum")
def reduce_log_sum(x, axes):
    return pt.log(_sum(_floating(x), axes))


@reduction("ReduceLogSumExp")
def reduce_log_sum_exp(x, axes):
    x = _floating(x)
    if any(x.type.shape[a] == 0 for a in axes):
        return pt.log(_sum(x, axes))
    if not axes:
        return x
    # As `logsumexp`, with a sum in the dtype of `x`
    largest = pt.max(x, axis=axes, keepdims=True, initial=-np.inf)
    largest = disconnected_grad(pt.switch(pt.isinf(largest), like(x, 0), largest))
    # The maximum hides the sum from a rewrite, which makes `logsumexp` of it
    return pt.log(pt.maximum(total(pt.exp(x - largest), axes), like(x, 0))) + largest.squeeze(axes)


@reduction("ReduceMax")
def reduce_max(x, axes):
    if not axes:
        return x
    if x.type.dtype == "bool":
        return pt.any(x, axis=axes)
    may_be_empty = any(not x.type.shape[a] for a in axes)
    return pt.max(x, axis=axes, initial=-np.inf if may_be_empty else None)


@reduction("ReduceMin")
def reduce_min(x, axes):
    return _reversed(reduce_max(_reversed(x), axes))


def _reversed(x):
    """Reverse the order of numbers, without a minus that smallest integers don't have.

    PyTensor's own minimum has it: ``thoughts/upstream/max-of-negation.md``.
    """
    return pt.invert(x) if is_integer(x) or x.type.dtype == "bool" else -x


@operator_funcify.register("ArgMax")
def arg_max(x, *, axis=0, keepdims=1, select_last_index=0):
    axis, x = normalized(axis, x.type.ndim), without_gradient(x)
    if select_last_index:
        result = size(x, axis) - 1 - pt.argmax(pt.flip(x, axis), axis=axis)
    else:
        result = pt.argmax(x, axis=axis)
    return pt.expand_dims(result, axis) if keepdims else result


@operator_funcify.register("ArgMin")
@attributes_of(arg_max)
def arg_min(x, **attributes):
    return arg_max(_reversed(x), **attributes)


@operator_funcify.register("CumSum", "CumProd")
def cumulative(node, x, axis, *, exclusive=0, reverse=0):
    dtype = x.type.dtype
    axis = known_axis(axis, x.type.ndim)
    # In 64 bits: thoughts/upstream/cumsum-of-small-integers.md
    x = _wide(wide(x))
    function, first = (pt.cumsum, 0) if node.op_type == "CumSum" else (pt.cumprod, 1)
    if reverse:
        x = pt.flip(x, axis)
    if exclusive:
        before = (slice(None),) * axis
        start = pt.full_like(x[(*before, slice(0, 1))], like(x, first))
        x = pt.join(axis, start, x[(*before, slice(0, -1))])
    x = function(x, axis)
    if reverse:
        x = pt.flip(x, axis)
    return pt.cast(x, dtype)


@operator_funcify.register("TopK")
def top_k(node, x, k, *, axis=-1, largest=1, sorted=1):
    # Not `sorted`, they may be in any order, that of sorted ones too
    axis = normalized(axis, x.type.ndim)
    if largest:
        return _largest(node, x, k, axis)
    values, indices = _largest(node, _reversed(x), k, axis)
    return _reversed(values), indices


def _largest(node, x, k, axis):
    (number,) = wanted_sizes(node, k, "the number of entries it takes")
    if isinstance(number, Constant) and number.data > 0:
        return tuple(topk(x, int(number.data), axis))
    # All are sorted if their number is computed; of equal ones the first comes first, as in `topk`
    length, backwards = size(x, axis), pt.flip(without_gradient(x), axis)
    order = length - 1 - pt.flip(pt.argsort(backwards, axis=axis, stable=True), axis)
    if DIMS.of(number) != DIMS.of(length):
        before = (slice(None),) * axis
        after = (None,) * (x.type.ndim - axis - 1)
        order = specify_shape(order[(*before, slice(number))], (*[None] * axis, number, *after))
    return pt.take_along_axis(x, order, axis), order


@operator_funcify.register("Hardmax")
def hardmax(x, *, axis=-1):
    axis = normalized(axis, x.type.ndim)
    places = pt.expand_dims(positions(size(x, axis)), range(1, x.type.ndim - axis))
    return pt.cast(pt.eq(places, pt.argmax(x, axis=axis, keepdims=True)), x.type.dtype)


@operator_funcify.register("NonZero")
def non_zero(x):
    if x.type.ndim:
        return pt.stack(pt.nonzero(x))
    return pt.zeros((constant(0), pt.cast(pt.neq(x, like(x, 0)), "int64")), dtype="int64")


@operator_funcify.register("Unique")
def unique(x, *, axis=None, sorted=1):
    axis = None if axis is None else normalized(axis, x.type.ndim)
    values, first, inverse, counts = pt.unique(x, True, True, True, axis=axis)
    if not sorted:
        order = pt.argsort(first)
        values = values[(slice(None),) * (axis or 0) + (order,)]
        first, counts, inverse = first[order], counts[order], pt.argsort(order)[inverse]
    return values, first, inverse, counts
