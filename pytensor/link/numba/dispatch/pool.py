import math

import numpy as np

from pytensor.link.numba.dispatch import windows as kernels
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.link.numba.dispatch.compile_ops import numba_funcify_OpFromGraph
from pytensor.link.numba.dispatch.kernels import flat, props_key, source_key, with_shape
from pytensor.link.numba.dispatch.vjp import numba_pullback
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.ops import Pool, PoolWithIndices, lowest
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad

all_fit, scatter_add = kernels.all_fit, kernels.scatter_add
pool_maxima, pool_winners = kernels.pool_maxima, kernels.pool_winners
pool_sums, pool_sums_transposed = kernels.pool_sums, kernels.pool_sums_transposed
within_images = kernels.within_images


def describe(op, node):
    """Return the table of windows of a pooling, and the message for images that have none."""
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
    return np.dtype(x.type.dtype).type(lowest(x.type.dtype))


def sum_flags(op):
    """Return whether sums are divided by the number of cells, and whether padding counts."""
    return op.mode.startswith("average"), op.mode == "average_inc_pad"


@register_funcify_and_cache_key(Pool)
@register_funcify_and_cache_key(AdaptivePool)
def numba_funcify_Pool(op, node, **kwargs):
    table, no_window = describe(op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])
    reduce, options = (pool_sums, sum_flags(op)) if op.mode != "max" else (pool_maxima, (lowest,))

    @numba_njit
    def pool(x):
        entries, shape = flat(x)
        if not all_fit(shape, table):
            raise AssertionError(no_window)
        out, shape = reduce(entries, shape, table, *options)
        return with_shape(out, shape, ndim)

    return pool, key_of(op, node)


@numba_pullback.register(Pool)
@numba_pullback.register(AdaptivePool)
def numba_pullback_Pool(op, node, symbolic, **kwargs):
    table, _ = describe(op, node)
    ndim, lowest = node.inputs[0].type.ndim, lowest_of(node.inputs[0])
    flags = sum_flags(op)

    @numba_njit
    def max_pullback(x, cotangent):
        entries, shape = flat(x)
        cotangents, _ = flat(cotangent)
        _, winners, _ = pool_winners(entries, shape, table, lowest, False)
        return with_shape(scatter_add(cotangents, winners, entries.size), shape, ndim)

    @numba_njit
    def sum_pullback(x, cotangent):
        cotangents, _ = flat(cotangent)
        shape = np.array(x.shape)
        return with_shape(pool_sums_transposed(cotangents, shape, table, *flags), shape, ndim)

    return (max_pullback if op.mode == "max" else sum_pullback), key_of(op, node, "pullback")


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


@register_funcify_and_cache_key(MaxUnpool)
@register_funcify_and_cache_key(MaxUnpoolGrad)
def numba_funcify_MaxUnpool(op, node, **kwargs):
    unpool, key = numba_funcify_OpFromGraph(op, node=node, **kwargs)
    known = math.prod(length for length in op.lengths if length is not None)
    writes = isinstance(op, MaxUnpool)

    # Numba's own lookups write outside of arrays without a word.
    @numba_njit
    def max_unpool(x, indices, *unknown):
        if writes and x.shape != indices.shape:
            raise ValueError("max_unpool: input and indices must have the same shape")
        cells = known
        for length in unknown:
            cells *= length.item()
        for place in indices.flat:
            if not 0 <= place < cells:
                raise IndexError("max_unpool: an index is outside of the output")
        return unpool(x, indices, *unknown)

    return max_unpool, key and source_key(key, known, writes, kernels.KEY)
