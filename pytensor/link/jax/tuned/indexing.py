"""Conversions of indexing: windows, and indices that JAX's tracing knows to be out of bounds."""

from functools import wraps

import jax
import numpy as np
from jax.core import Tracer

from pytensor.graph.fg import Output
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.rewriting.host_integers import computed_from
from pytensor.link.jax.rewriting.windows import SetWindow, Window, index_variables, indices
from pytensor.link.jax.tuned.corrected import (
    corrected_funcify,
    corrected_funcify_AdvancedIncSubtensor,
)
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type import integer_dtypes

# What the nodes of a branch that may not be taken are converted with: an index there may be out of
# bounds.
IN_A_BRANCH = {"is_always_computed": False}
ON_DEVICE = (
    "jax_mode can't take a slice of {of} whose bounds are computed on the device ({reason}): "
    "nothing tells before the call whether it lies inside, and JAX would move one that doesn't. "
    "Compute the bounds from integer inputs and shapes, or take mode NUMBA; where the slice is "
    "known to lie inside, write x[start + pt.arange(length)]"
)
OF_UNKNOWN_LENGTH = (
    "jax_mode can't compute {what}: the number of True must be known for {reader}, and it is known "
    "only when the function runs. What is elementwise, summed, multiplied, a maximum or a minimum, "
    "or written to where the same mask is True, is computed at full length; else write "
    "pt.where(mask, x, 0), give the mask as a constant, or take mode NUMBA"
)


@jax_funcify.register(Window)
def jax_funcify_Window(op, node, **kwargs):
    if op.unchecked is not None:
        raise NotImplementedError(ON_DEVICE.format(of=node.inputs[0], reason=op.unchecked))

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


def _refused_mask(node, within):
    """Return the error of a node whose result has a length of run time."""
    clients = getattr(within, "clients", {})
    reader = next((client.op for out in node.outputs for client, _ in clients.get(out, ())), None)
    reader = "a result" if reader is None or isinstance(reader, Output) else reader
    if isinstance(node.op, AdvancedIncSubtensor):
        what, reader = f"what is written to {node.inputs[0]} by a mask", node.inputs[1]
    else:
        what = f"the elements of {node.inputs[0]} where a mask is True"
    return NotImplementedError(OF_UNKNOWN_LENGTH.format(what=what, reader=reader))


def _with_known_mask(function, node, within):
    """Refuse a mask that depends on values: at once, or while JAX traces if they are integers.

    Integers may be part of the program, and then JAX knows the mask.
    """
    indexing = not isinstance(node.op, Nonzero)
    read = index_variables(node) if indexing else node.inputs
    masks = [v for v in read if not indexing or v.type.dtype == "bool"]
    if not masks:
        return function
    if any(v.type.dtype not in integer_dtypes for v in computed_from(masks)):
        raise _refused_mask(node, within)

    @wraps(function)
    def of_known_length(*inputs):
        if any(isinstance(inputs[node.inputs.index(v)], Tracer) for v in masks):
            raise _refused_mask(node, within)
        return function(*inputs)

    return of_known_length


@corrected_funcify.register(Nonzero)
def corrected_funcify_Nonzero(op, node, within, **kwargs):
    def nonzero(a):
        results = np.nonzero(np.asarray(a))
        return results if len(results) > 1 else results[0]

    return _with_known_mask(nonzero, node, within)


@corrected_funcify.register(Subtensor)
@corrected_funcify.register(AdvancedSubtensor)
@corrected_funcify.register(IncSubtensor)
@corrected_funcify.register(AdvancedIncSubtensor)
def corrected_funcify_indexing(op, node, within=None, is_always_computed=True, **kwargs):
    of_class = jax_funcify
    if isinstance(op, AdvancedIncSubtensor):
        of_class = corrected_funcify_AdvancedIncSubtensor
    function = _with_known_mask(of_class(op, node=node, **kwargs), node, within)
    places = {variable: place for place, variable in enumerate(node.inputs)}
    # JAX takes the nearest element for an index out of bounds, and writes none.
    single = [
        (axis, places[index])
        for axis, index in indices(node)
        if not isinstance(index, slice) and index.type.dtype != "bool"
    ]
    if not single or not is_always_computed:
        return function

    @wraps(function)
    def in_bounds(*inputs):
        for axis, place in single:
            if not isinstance(inputs[place], Tracer):
                _check_bounds(node, np.shape(inputs[0])[axis], axis, np.asarray(inputs[place]))
        return function(*inputs)

    return in_bounds


def _check_bounds(node, length, axis, index):
    outside = index[(index < -length) | (index >= length)]
    if outside.size:
        raise IndexError(
            f"index {outside.flat[0]} is out of bounds for axis {axis} of {node.inputs[0]}, which "
            f"has {length} elements there"
        )
