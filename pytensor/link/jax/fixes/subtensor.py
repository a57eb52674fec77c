"""Indices that JAX's tracing knows to be out of bounds, and writing."""

from functools import wraps

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.rewriting.index_checks import IndexCheck, indices
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)


@corrected_funcify.register(Subtensor)
@corrected_funcify.register(AdvancedSubtensor)
@corrected_funcify.register(IncSubtensor)
@corrected_funcify.register(AdvancedIncSubtensor)
def corrected_funcify_indexing(op, node, is_always_computed=True, **kwargs):
    # In a branch that may not be taken, an index may be out of bounds.
    if isinstance(op, AdvancedIncSubtensor) and op.ignore_duplicates and not op.set_instead_of_inc:
        function = _increment_once(op, node)
    else:
        function = jax_funcify(op, node=node, **kwargs)
    if isinstance(op, IncSubtensor):
        function = _without_scatter_of_all(op, function)
    if isinstance(op, IncSubtensor | AdvancedIncSubtensor):
        function = _into_array(op, function)
    places = {variable: place for place, variable in enumerate(node.inputs)}
    integers = [
        (axis, places[index])
        for axis, index in indices(node)
        if not isinstance(index, slice) and index.type.dtype != "bool"
    ]
    if not integers:
        return function

    @wraps(function)
    def in_bounds(*inputs):
        inputs = list(inputs)
        for axis, place in integers:
            index, length = inputs[place], np.shape(inputs[0])[axis]
            # JAX takes the nearest element for an index out of bounds, and writes none.
            if is_always_computed and not isinstance(index, Tracer):
                _check_bounds(node, length, axis, np.asarray(index))
            inputs[place] = _of_dtype_that_reaches(index, length)
        if any(isinstance(v, Tracer) for v in inputs[1:]):
            inputs[0] = jnp.asarray(inputs[0])  # may be NumPy's, which takes no such index
        return function(*inputs)

    return in_bounds


def _of_dtype_that_reaches(index, length):
    """Return an index in a dtype that has the axis's length, which JAX adds to negative ones."""
    dtype = getattr(index, "dtype", None)
    if dtype is None or length <= np.iinfo(dtype).max:
        return index
    return index.astype("int32")


def _into_array(op, function):
    """Write into an array of JAX's, and in its dtype.

    An array that is known while JAX traces may be NumPy's, which has no `at`.  JAX computes all
    elements in a dtype of both arrays, also those that aren't written:
    thoughts/upstream/jax-writing-rounds.md.
    """

    @wraps(function)
    def written(x, y, *bounds):
        x, y = jnp.asarray(x), jnp.asarray(y)
        fractions = jnp.issubdtype(y.dtype, jnp.floating) and x.dtype.kind in "iu"
        if op.set_instead_of_inc or not fractions:
            return function(x, y.astype(x.dtype), *bounds)
        # The sum is cut to an integer, not the increment.
        wide = jax.dtypes.canonicalize_dtype("float64")
        return function(x.astype(wide), y.astype(wide), *bounds).astype(x.dtype)

    return written


def _without_scatter_of_all(op, function):
    """Write to all of an array by a sum or a copy.

    XLA ends the process where a scatter that writes all of a repeated constant is reversed:
    thoughts/upstream/xla-reversed-scatter.md.
    """

    @wraps(function)
    def written(x, y, *bounds):
        entries = indices_from_subtensor(bounds, op.idx_list)
        if not all(map(_is_of_all, entries, np.shape(x))):
            return function(x, y, *bounds)
        new = jnp.broadcast_to(jnp.asarray(y, x.dtype), x.shape)
        return new if op.set_instead_of_inc else x + new

    return written


def _is_of_all(entry, length):
    """Return whether an index takes all elements of an axis in their order, as is known."""
    if not isinstance(entry, slice):
        return False
    bounds = entry.start, entry.stop, entry.step
    if any(isinstance(bound, Tracer) for bound in bounds):
        return False
    bounds = (None if bound is None else int(bound) for bound in bounds)
    return slice(*bounds).indices(length) == (0, length, 1)


def _check_bounds(node, length, axis, index):
    outside = index[(index < -length) | (index >= length)]
    if outside.size:
        check = IndexCheck((), str(node.inputs[0]), axis)
        raise IndexError(check.message(outside.flat[0], length))


def _increment_once(op, node):
    """Return the function for NumPy's ``x[indices] += y``.

    PyTensor's adds up what has the same index: thoughts/upstream/jax-ignore-duplicates.md.
    """

    def inc_subtensor(x, y, *flattened_indices):
        indices = tuple(indices_from_subtensor(flattened_indices, op.idx_list))
        op._check_runtime_broadcast_of_vector_index(
            node, x, jnp.asarray(y), indices if len(indices) > 1 else indices[0]
        )
        return x.at[indices].set(x[indices] + y)

    return inc_subtensor
