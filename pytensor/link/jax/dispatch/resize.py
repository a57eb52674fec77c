import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.target import target_platform
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.resize.ops import Resize, ResizeGrad
from pytensor.tensor.resize.taps import along, transpose_taps


def _lookup(x, cells, weights, axis):
    """Sum the cells of `x` along `axis` with their weights, which are all 1 where they are None."""
    out, taps = cells.shape
    length = x.shape[axis]
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    if weights is None or (weights == 1).all():
        # each cell repeated equally often, and the sum of as many neighbours
        if taps == 1 and out % length == 0 and _is_range(cells, out // length):
            shape = (*before, length, out // length, *after)
            repeated = jnp.broadcast_to(jnp.expand_dims(x, axis + 1), shape)
            return repeated.reshape(*before, out, *after)
        if out * taps == length and _is_range(cells, 1):
            if target_platform() != "cpu" and taps <= 4:
                # A sum of slices is part of the loop that makes `x` or reads the result.
                return sum(jax.lax.slice_in_dim(x, t, None, taps, axis) for t in range(taps))
            return x.reshape(*before, out, taps, *after).sum(axis + 1)
    if taps > 1:
        # XLA would compute the lookups along another axis again for each of these.
        x = jax.lax.optimization_barrier(x)
    terms = []
    for tap in range(taps):
        term = jnp.take(x, cells[:, tap], axis=axis)
        if weights is not None:
            factors = along(weights[:, tap].astype(x.dtype), axis, x.ndim)
            term = term * factors
            # What has no weight isn't read: zero times NaN would be NaN.
            if (weights[:, tap] == 0).any():
                term = jnp.where(
                    along(weights[:, tap] == 0, axis, x.ndim), np.zeros((), x.dtype), term
                )
        terms.append(term)
    return sum(terms[1:], start=terms[0])


def _is_range(cells, repeats):
    return np.array_equal(cells.ravel(), np.arange(cells.size) // repeats)


def _transposed_lookup(x, cells, weights, axis, length):
    back, back_weights = transpose_taps(cells, weights, length)
    if back is None:
        shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
        (out,) = jax.linear_transpose(
            lambda y: _lookup(y, cells, weights, axis), jax.ShapeDtypeStruct(shape, x.dtype)
        )(x)
        return out
    return _lookup(x, back, back_weights, axis)


def _fill_outside(op, lengths, x, value):
    """Put `value` where a cell of the output lies outside of the input."""
    if not op.roi:
        return x
    for i, axis in enumerate(op.axes):
        outside = along(op.outside(lengths, i), axis, x.ndim)
        x = jnp.where(outside, np.asarray(value, x.dtype), x)
    return x


@jax_funcify.register(Resize)
def jax_funcify_Resize(op, **kwargs):
    def resize(x):
        lengths = [x.shape[axis] for axis in op.axes]
        out = x.astype(accumulation_dtype(str(x.dtype)))
        for i, axis in enumerate(op.axes):
            out = _lookup(out, *op.taps(lengths, i), axis)
        return _fill_outside(op, lengths, out, op.extrapolation_value).astype(x.dtype)

    return resize


@jax_funcify.register(ResizeGrad)
def jax_funcify_ResizeGrad(op, **kwargs):
    op = op.op

    def resize_grad(x, cotangent):
        lengths = [x.shape[axis] for axis in op.axes]
        out = _fill_outside(op, lengths, cotangent.astype(accumulation_dtype(str(x.dtype))), 0)
        for i, axis in enumerate(op.axes):
            out = _transposed_lookup(out, *op.taps(lengths, i), axis, lengths[i])
        return out.astype(x.dtype)

    return resize_grad
