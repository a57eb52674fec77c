import numpy as np

from pytensor.link.numba.dispatch import windows as kernels
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.link.numba.dispatch.kernels import flat, props_key, source_key, with_shape
from pytensor.link.numba.dispatch.vjp import numba_pullback
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad

all_fit, gather, scatter_add = kernels.all_fit, kernels.gather, kernels.scatter_add
pool_maxima, pool_winners = kernels.pool_maxima, kernels.pool_winners
pool_sums, pool_sums_transposed = kernels.pool_sums, kernels.pool_sums_transposed
pool_norms, pool_norms_pullback = kernels.pool_norms, kernels.pool_norms_pullback
within_images = kernels.within_images
unpool, unpool_transposed = kernels.unpool, kernels.unpool_transposed


def describe(op, node):
    """The table of windows of a pooling, and the message for images that have none."""
    if isinstance(op, AdaptivePool):
        return kernels.window_table(op), "pooling: the image has no cells along a pooled axis"
    return kernels.window_table(op), (
        f"pooling: the window (sizes {op.extents}) is larger than the padded image (padding "
        f"{op.pad}); use a smaller window, more padding or ignore_border=False"
    )


def key_of(op, node, kind=None):
    types = [(v.type.dtype, v.type.ndim) for v in (*node.inputs, *node.outputs)]
    return source_key(props_key(op), kind, types, kernels.KEY)


def lowest_of(x):
    dtype = np.dtype(x.type.dtype)
    lowest = np.iinfo(dtype).min if x.type.dtype in discrete_dtypes else -np.inf
    return dtype.type(lowest)


def sum_flags(op):
    """Whether sums are divided by the number of cells, and whether padding counts."""
    return op.mode.startswith("average"), op.mode == "average_inc_pad"


@register_funcify_and_cache_key(Pool)
@register_funcify_and_cache_key(AdaptivePool)
def numba_funcify_Pool(op, node, **kwargs):
    table, no_window = describe(op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])
    average, include_pad = sum_flags(op)

    @numba_njit
    def max_pool(x):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        out, shape = pool_maxima(entries, shape, table, lowest)
        return with_shape(out, shape, ndim)

    @numba_njit
    def sum_pool(x):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        out, shape = pool_sums(entries, shape, table, average, include_pad)
        return with_shape(out, shape, ndim)

    return (max_pool if op.mode == "max" else sum_pool), key_of(op, node)


@numba_pullback.register(Pool)
@numba_pullback.register(AdaptivePool)
def numba_pullback_Pool(op, node, symbolic, **kwargs):
    table, _ = describe(op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])
    average, include_pad = sum_flags(op)

    @numba_njit
    def max_pool_pullback(x, cotangent):
        entries, shape = flat(x)
        cotangents, _ = flat(cotangent)
        _, winners, _ = pool_winners(entries, shape, table, lowest, False)
        return with_shape(scatter_add(cotangents, winners, entries.size), shape, ndim)

    @numba_njit
    def sum_pool_pullback(x, cotangent):
        cotangents, _ = flat(cotangent)
        shape = np.array(x.shape)
        out = pool_sums_transposed(cotangents, shape, table, average, include_pad)
        return with_shape(out, shape, ndim)

    pullback = max_pool_pullback if op.mode == "max" else sum_pool_pullback
    return pullback, key_of(op, node, "pullback")


@register_funcify_and_cache_key(GatherAtMaxima)
def numba_funcify_GatherAtMaxima(op, node, **kwargs):
    table, no_window = describe(op.op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])

    @numba_njit
    def gather_at_maxima(x, values):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        _, winners, shape = pool_winners(entries, shape, table, lowest, False)
        return with_shape(gather(flat(values)[0], winners), shape, ndim)

    return gather_at_maxima, key_of(op, node)


@register_funcify_and_cache_key(PoolWithIndices)
def numba_funcify_PoolWithIndices(op, node, **kwargs):
    table, no_window = describe(op.op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])
    n = len(table)

    @numba_njit
    def max_pool_with_indices(x):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        cells = shape[ndim - n :].prod()
        out, winners, shape = pool_winners(entries, shape, table, lowest, True)
        winners = within_images(winners, cells)
        return with_shape(out, shape, ndim), with_shape(winners, shape, ndim)

    return max_pool_with_indices, key_of(op, node)


@register_funcify_and_cache_key(LpPool)
def numba_funcify_LpPool(op, node, **kwargs):
    table, no_window = describe(op, node)
    ndim, p = node.inputs[0].type.ndim, float(op.norm_type)

    @numba_njit
    def lp_pool(x):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        out, shape = pool_norms(entries, shape, table, p)
        return with_shape(out, shape, ndim)

    return lp_pool, key_of(op, node)


@numba_pullback.register(LpPool)
def numba_pullback_LpPool(op, node, symbolic, **kwargs):
    table, _ = describe(op, node)
    ndim, p = node.inputs[0].type.ndim, float(op.norm_type)

    @numba_njit
    def lp_pool_pullback(x, cotangent):
        entries, shape = flat(x)
        cotangents, _ = flat(cotangent)
        out = pool_norms_pullback(entries, cotangents, shape, table, p)
        return with_shape(out, shape, ndim)

    return lp_pool_pullback, key_of(op, node, "pullback")


def output_lengths(op):
    """The function that returns the lengths of the unpooled axes, given those not known."""
    known = np.array([length or 0 for length in op.lengths], dtype="int64")
    where = np.array([i for i, v in enumerate(op.lengths) if v is None], dtype="int64")
    if not where.size:
        return numba_njit(lambda unknown: known)

    @numba_njit
    def lengths(unknown):
        out = known.copy()
        for i in range(len(unknown)):
            out[where[i]] = unknown[i].item()
        return out

    return lengths


@register_funcify_and_cache_key(MaxUnpool)
def numba_funcify_MaxUnpool(op, node, **kwargs):
    lengths_of, ndim, n = output_lengths(op), node.inputs[0].type.ndim, len(op.lengths)

    @numba_njit
    def max_unpool(x, indices, *unknown):
        entries, shape = flat(x)
        places, places_shape = flat(indices)
        if not np.array_equal(shape, places_shape):
            raise ValueError("max_unpool: input and indices must have the same shape")
        lengths = lengths_of(unknown)
        rows = shape[: ndim - n].prod()
        out = unpool(entries, places, rows, lengths.prod())
        shape[ndim - n :] = lengths
        return with_shape(out, shape, ndim)

    return max_unpool, key_of(op, node)


@register_funcify_and_cache_key(MaxUnpoolGrad)
def numba_funcify_MaxUnpoolGrad(op, node, **kwargs):
    ndim, n = node.inputs[0].type.ndim, len(op.lengths)

    @numba_njit
    def max_unpool_grad(cotangent, indices, *unknown):
        entries, lengths = flat(cotangent)
        places, shape = flat(indices)
        rows = shape[: ndim - n].prod()
        out = unpool_transposed(entries, places, rows, lengths[ndim - n :].prod())
        return with_shape(out, shape, ndim)

    return max_unpool_grad, key_of(op, node)
