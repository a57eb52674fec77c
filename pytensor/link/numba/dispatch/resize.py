from functools import lru_cache

import numba
import numpy as np

from pytensor.link.numba.dispatch import resampling
from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_and_cache_key
from pytensor.link.numba.dispatch.kernels import flat, props_key, source_key, with_shape
from pytensor.tensor.resize.ops import Resize, ResizeGrad

lookup, lookup_transposed = resampling.lookup, resampling.lookup_transposed
fill_outside = resampling.fill_outside


def all_taps(op, lengths, dtype):
    """Return taps of all resized axes as vectors, the layout of `lookup`, and what is outside."""
    for length, axis in zip(lengths, op.axes, strict=True):
        if length == 0:
            raise ValueError(f"resize: axis {axis} has length 0 and can't be resized")
    layout, cells, weights, outside = [], [], [], [np.zeros(0, bool)]
    for i in range(len(lengths)):
        axis_cells, axis_weights = op.taps(lengths, i)
        layout.append(axis_cells.shape)
        cells.append(axis_cells.ravel())
        ones = np.ones(axis_cells.shape)
        weights.append((ones if axis_weights is None else axis_weights).ravel().astype(dtype))
        if op.roi:
            outside.append(op.outside(lengths, i))
    layout = np.array(layout, dtype="int64")
    return layout, np.concatenate(cells), np.concatenate(weights), np.concatenate(outside)


def taps_function(op, x):
    """Return the function that returns `all_taps` for a shape; and whether that is known by now."""
    known, dtype = op.known_lengths(x.type), np.dtype(x.type.dtype)
    if None not in known:
        layout, cells, weights, outside = all_taps(op, known, dtype)

        @numba_njit
        def known_taps(shape):
            return layout, cells, weights, outside

        return known_taps, True

    @lru_cache(maxsize=16)
    def taps_for(*lengths):
        return all_taps(op, lengths, dtype)

    axes = list(op.axes)
    types = numba.types.Tuple(
        [
            numba.types.int64[:, ::1],
            numba.types.int64[::1],
            numba.from_dtype(dtype)[::1],
            numba.types.boolean[::1],
        ]
    )

    @numba_njit
    def taps_at_run_time(shape):
        with numba.objmode(taps=types):
            taps = taps_for(*shape[axes].tolist())
        return taps

    return taps_at_run_time, False


def key_of(op, node, known):
    if not known:
        # Numba keeps no functions that call Python
        return None
    types = [(v.type.dtype, v.type.ndim) for v in node.inputs]
    lengths = op.known_lengths(node.inputs[0].type)
    return source_key(type(node.op).__name__, props_key(op), lengths, types, resampling.KEY)


@register_funcify_and_cache_key(Resize)
def numba_funcify_Resize(op, node, **kwargs):
    x = node.inputs[0]
    ndim, axes, fills = x.type.ndim, np.array(op.axes), bool(op.roi)
    value = np.dtype(x.type.dtype).type(op.extrapolation_value)
    taps, known = taps_function(op, x)

    @numba_njit
    def resize(x):
        entries, shape = flat(x)
        layout, cells, weights, outside = taps(shape)
        out, shape = lookup(entries, shape, axes, layout, cells, weights)
        if fills:
            out = fill_outside(out, shape, axes, outside, value)
        return with_shape(out, shape, ndim)

    return resize, key_of(op, node, known)


@register_funcify_and_cache_key(ResizeGrad)
def numba_funcify_ResizeGrad(op, node, **kwargs):
    op, x = op.op, node.inputs[0]
    ndim, axes, fills = x.type.ndim, np.array(op.axes), bool(op.roi)
    value = np.dtype(x.type.dtype).type(0)
    taps, known = taps_function(op, x)

    @numba_njit
    def resize_grad(x, cotangent):
        shape = np.array(x.shape)
        layout, cells, weights, outside = taps(shape)
        out, out_shape = flat(cotangent)
        if fills:
            out = fill_outside(out, out_shape, axes, outside, value)
        out = lookup_transposed(out, shape, axes, layout, cells, weights)
        return with_shape(out, shape, ndim)

    return resize_grad, key_of(op, node, known)
