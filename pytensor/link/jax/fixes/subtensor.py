"""Conversions of indexing: windows, and indices that JAX's tracing knows to be out of bounds."""

from functools import wraps

import jax
import numpy as np
from jax.core import Tracer

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes.elemwise import (
    corrected_funcify,
    corrected_funcify_AdvancedIncSubtensor,
)
from pytensor.link.jax.rewriting.index_checks import indices
from pytensor.link.jax.rewriting.windows import SetWindow, Window
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)

# What the nodes of a branch that may not be taken are converted with: an index there may be out of
# bounds.
IN_A_BRANCH = {"is_always_computed": False}


@jax_funcify.register(Window)
def jax_funcify_Window(op, **kwargs):
    def places(x, starts):
        starts = dict(zip(op.axes, starts, strict=True))
        return [jax.numpy.asarray(starts.get(axis, 0), int) for axis in range(x.ndim)]

    def window(x, *starts):
        lengths = dict(zip(op.axes, op.lengths, strict=True))
        shape = [lengths.get(axis, length) for axis, length in enumerate(x.shape)]
        return jax.lax.dynamic_slice(x, places(x, starts), shape)

    def set_window(x, y, *starts):
        return jax.lax.dynamic_update_slice(x, y, places(x, starts))

    return set_window if isinstance(op, SetWindow) else window


@corrected_funcify.register(Subtensor)
@corrected_funcify.register(AdvancedSubtensor)
@corrected_funcify.register(IncSubtensor)
@corrected_funcify.register(AdvancedIncSubtensor)
def corrected_funcify_indexing(op, node, is_always_computed=True, **kwargs):
    of_class = jax_funcify
    if isinstance(op, AdvancedIncSubtensor):
        of_class = corrected_funcify_AdvancedIncSubtensor
    function = of_class(op, node=node, **kwargs)
    if isinstance(op, IncSubtensor):
        function = _without_scatter_of_all(op, function)
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
        return function(*inputs)

    return in_bounds


def _of_dtype_that_reaches(index, length):
    """Return an index in a dtype that has the axis's length, which JAX adds to negative ones."""
    dtype = getattr(index, "dtype", None)
    if dtype is None or length <= np.iinfo(dtype).max:
        return index
    return index.astype("int32")


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
        new = jax.numpy.broadcast_to(jax.numpy.asarray(y, x.dtype), x.shape)
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
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for axis {axis} of {node.inputs[0]}, which "
            f"has {length} elements there"
        )
