"""Slices whose bounds are known at run time and whose length is constant, for `jax_mode`.

JAX wants numbers for the bounds of a slice, because its result's shape must be known; a slice like
``x[3 * n : 3 * (n + 1)]`` has a known shape all the same.  It becomes a `Window`, which is moved
without another compilation.  Whether it lies inside is checked before each call, and so are single
indices; see `pytensor.link.jax.rewriting.host_checks`.  Where that can't be checked, a slice stays
what it is: its bounds decide a length, as `pytensor.link.jax.rewriting.find_sizes` has it.
"""

from copy import copy

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.facts import improves_inside
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace, get_active_mode
from pytensor.link.jax.rewriting.find_sizes import length_inputs, undecided_lengths
from pytensor.link.jax.rewriting.host_checks import HostChecks, WindowCheck, WithoutWindows
from pytensor.link.jax.rewriting.host_integers import (
    HostIntegers,
    NotOnHostError,
    behind,
    computed_from,
    leaves,
)
from pytensor.link.jax.rewriting.index_checks import (
    READING,
    find_index_checks,
    follows,
    indexes,
    indices,
    reads_index,
    shapes_of,
)
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import as_tensor_variable, switch
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import BaseSubtensor, flatten_index_variables, set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.type import discrete_dtypes

# Below these are the integers for which the length of a slice is tried.
ENDS = 4, 8, 15, 30, 50, 50, 50


class Window(TensorSymbolicOp):
    """Elements of a tensor, as many as `lengths` along `axes`, from the starts on."""

    __props__ = ("axes", "lengths")

    def __init__(self, *, axes, lengths, **kwargs):
        self.axes, self.lengths = tuple(axes), tuple(lengths)
        super().__init__(**kwargs)

    def build_inner_graph(self, x, *starts):
        shape = list(x.type.shape)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            shape[axis] = length
        return [specify_shape(x[self._index(x, starts)], shape)]

    def _index(self, x, starts):
        index = [slice(None)] * x.type.ndim
        for axis, length, start in zip(self.axes, self.lengths, starts, strict=True):
            index[axis] = slice(start, start + length)
        return tuple(index)


class SetWindow(Window):
    """Replace a window of the first input by the second."""

    def build_inner_graph(self, x, y, *starts):
        return [set_subtensor(x[self._index(x, starts)], y)]


improves_inside.register(Window, lambda op: False)
# Where a window begins decides no length, though its inner graph takes a slice.
length_inputs.register(Window, lambda op, node: ())
undecided_lengths.register(Window, lambda op, node: ())


class WindowRewriter(GraphRewriter):
    """Make windows of slices of constant length, and note what must be checked before a call."""

    def apply(self, fgraph):
        # Only graphs of functions have updates, perhaps none; graphs of Ops have no arguments.
        if fgraph.update_mapping is None:
            return
        # All are found before the graph, by which they are computed, is changed.
        mode, shapes, windows = get_active_mode(fgraph), shapes_of(fgraph), []
        checks = find_index_checks(fgraph) if mode.linker.options.check_indices else []
        for node in fgraph.toposort():
            slices = [s for s in _slices(node, shapes) if follows(s.variables, fgraph)]
            checks += slices
            if slices:
                windows.append((node, slices))
        if checks and not hasattr(fgraph, "host_checks"):
            without = WithoutWindows(fgraph, mode) if windows else None
            fgraph.attach_feature(HostChecks(fgraph.inputs, checks, without))
        for node, slices in windows:
            new = _with_windows(node, slices)
            copy_stack_trace(node.outputs[0], new)
            fgraph.replace(node.outputs[0], new, reason="windows")


def windows_of_steps(fgraph, steps, known):
    """Return the inner graph of a scan with windows, if they lie inside in all steps; else None.

    Parameters
    ----------
    fgraph : FrozenFunctionGraph
    steps : sequence of list
        For each step values of the graph's inputs; only the shapes of unknown ones.
    known : sequence of int
        Which inputs are known.
    """
    graph = fgraph.unfreeze()
    shapes = ShapeFeature()
    graph.attach_feature(shapes)
    inputs = {graph.inputs[place] for place in known}

    def of_steps(variables):
        if not inputs.issuperset(computed_from(variables)) or not follows(variables, graph):
            return None
        return list(map(HostIntegers(graph.inputs, variables).function(), steps))

    def difference(stop, start):
        found = {high - low for high, low in of_steps([stop, start]) or ()}
        return found.pop() if len(found) == 1 else None

    windows, order = [], graph.toposort()
    for node in order:
        slices = list(_slices(node, shapes, difference))
        for s in slices:
            values = of_steps(s.variables)
            if values is None or not all(s.holds(*v) for v in values):
                return None
        windows += [(node, slices)] if slices else []
    for node in order:
        if isinstance(node.op, CheckAndRaise):
            # JAX would leave it out, and a warning would say so.
            values = of_steps(node.inputs[1:])
            if values and all(map(all, values)):
                graph.replace(node.outputs[0], node.inputs[0])
    for node, slices in windows:
        graph.replace(node.outputs[0], _with_windows(node, slices), reason="windows")
    return graph


def needs_rewriting(graph):
    """Return whether a graph must be rewritten to know which checks there are before calls."""
    return any(
        _needs_checks(node.op.fgraph)
        if _is_inlined(node)
        else any(_bounded(node)) or (reads_index(node) and _follows_from_inlined(node.inputs[1:]))
        for node in graph.apply_nodes
    )


def _is_inlined(node):
    """Return whether a node's graph takes its place when the graph around is rewritten."""
    return isinstance(node.op, OpFromGraph) and node.op.is_inline


def _follows_from_inlined(variables):
    return any(v.owner is not None and _is_inlined(v.owner) for v in behind(variables))


def _needs_checks(graph):
    return needs_rewriting(graph) or any(map(reads_index, graph.apply_nodes))


def _bounded(node):
    """Return the axes of a node's slices that have two bounds of run time, and these slices."""
    for axis, index in indices(node) if indexes(node) else ():
        bounds = (index.start, index.stop) if isinstance(index, slice) else (None,)
        if None not in bounds and computed_from(bounds):
            yield axis, index


def constant_difference(stop, start):
    """Return the number ``stop - start`` of two integers; None if it depends on their values.

    Some values are tried: each call compares it again, as `WindowCheck` says.
    """
    read = (v if v.owner is None else v.owner.inputs[0] for v in leaves([start, stop], False))
    inputs, rng = list(dict.fromkeys(read)), np.random.default_rng(0)
    try:
        compute = HostIntegers(inputs, [start, stop]).function()
        tried = [compute([_example(v.type, end, rng) for v in inputs]) for end in ENDS]
    except (NotOnHostError, IndexError, ValueError):  # the last two are of NumPy's
        return None
    found = {int(high) - int(low) for low, high in tried}
    return found.pop() if len(found) == 1 else None


def _example(type_, end, rng):
    """Return integers of a type, below `end`; zeros of a type of which only the shape matters."""
    shape = [rng.integers(64, 128) if n is None else n for n in getattr(type_, "shape", ())]
    if type_.dtype not in discrete_dtypes:
        return np.broadcast_to(np.zeros(()), shape)
    return rng.integers(0, 2 if type_.dtype == "bool" else end, shape).astype(type_.dtype)


def _slices(node, shapes, difference_of=constant_difference):
    """Return the checks of a node's slices that have bounds of run time, and a constant length.

    `difference_of` returns the constant difference of stop and start, or None.
    """
    for axis, index in _bounded(node):
        step = 1 if index.step is None else index.step
        if isinstance(step, Variable):
            step = int(step.data) if isinstance(step, Constant) else 0
        difference = difference_of(index.stop, index.start) if step else None
        if difference is not None:
            variables = index.start, index.stop, shapes.get_shape(node.inputs[0], axis)
            yield WindowCheck(variables, axis, difference, step)


def _with_windows(node, slices):
    """Return the result of a node by windows, whose other indices are applied to them."""
    x, by_axis = node.inputs[0], dict(indices(node))
    for s in slices:
        by_axis[s.axis] = slice(None, None, None if s.step == 1 else s.step)
    options = {"axes": [s.axis for s in slices], "lengths": [s.span for s in slices]}
    starts = [_lowest(s, x.shape[s.axis]) for s in slices]
    window = Window(**options)(x, *starts)
    positions, variables = flatten_index_variables(by_axis.values())
    if isinstance(node.op, READING):
        return type(node.op)(positions)(window, *variables)
    op = copy(node.op)
    BaseSubtensor.__init__(op, positions)
    return SetWindow(**options)(x, op(window, node.inputs[1], *variables), *starts)


def _lowest(s, length):
    start = as_tensor_variable(s.variables[0])
    return s.lowest(switch(start < 0, start + length, start))


make_windows = WindowRewriter()
