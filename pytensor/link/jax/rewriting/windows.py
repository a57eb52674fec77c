"""Slices whose bounds are known at run time and whose length is constant, for `jax_mode`.

JAX wants numbers for the bounds of a slice, because its result's shape must be known; a slice like
``x[3 * n : 3 * (n + 1)]`` has a known shape all the same.  It becomes a `Window`, which is moved
without another compilation.  Whether it lies inside is checked before each call, and so are single
indices; see `pytensor.link.jax.rewriting.host_checks`.  Where that can't be checked, a slice stays
what it is: its bounds decide a length, as `pytensor.link.jax.rewriting.sizes` has it.
"""

from copy import copy
from dataclasses import dataclass

from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import IfElse
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.facts import improves_inside
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace, get_active_mode
from pytensor.link.jax.rewriting.host_checks import (
    HostChecks,
    IndexCheck,
    WindowCheck,
    WithoutWindows,
)
from pytensor.link.jax.rewriting.host_integers import HostIntegers, NotOnHostError, computed_from
from pytensor.link.jax.rewriting.polynomials import constant_difference
from pytensor.link.jax.rewriting.sizes import length_inputs, undecided_lengths
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import as_tensor_variable, switch
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    BaseSubtensor,
    IncSubtensor,
    Subtensor,
    flatten_index_variables,
    indices_from_subtensor,
    set_subtensor,
)
from pytensor.tensor.symbolic import TensorSymbolicOp

READING, WRITING = (Subtensor, AdvancedSubtensor), (IncSubtensor, AdvancedIncSubtensor)


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


@dataclass
class _Slice:
    """A slice with bounds of run time: where it begins, and `length` elements `step` apart."""

    axis: int
    start: object
    stop: object
    difference: int
    step: int

    @property
    def length(self):
        return max(0, -(-self.difference // self.step))

    @property
    def span(self):
        return (self.length - 1) * abs(self.step) + 1 if self.length else 0

    def lowest(self, length):
        """Return the place of the first of the elements that it spans."""
        start = as_tensor_variable(self.start)
        start = switch(start < 0, start + length, start)
        return start - (self.span - 1) if self.step < 0 else start


class WindowRewriter(GraphRewriter):
    """Make windows of slices of constant length, and note what must be checked before a call."""

    def apply(self, fgraph):
        # Graphs of functions alone have updates, if none; what is within an Op has no arguments.
        nodes = [] if fgraph.update_mapping is None else list(filter(_is_moved, fgraph.toposort()))
        if not nodes:
            return
        # All are found before the graph, by which they are computed, is changed.
        checks, windows, always = [], [], _always_computed(fgraph)
        shapes = getattr(fgraph, "shape_feature", None) or ShapeFeature()
        for node in nodes:
            if node in always:
                checks += _on_host(_index_checks(node, shapes), fgraph)
            slices = []
            for s in _slices(node):
                if of_slice := _on_host([_window_check(node, s, shapes)], fgraph):
                    checks += of_slice
                    slices.append(s)
            if slices:
                windows.append((node, slices))
        if checks:
            without = WithoutWindows(fgraph, get_active_mode(fgraph)) if windows else None
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
        For each step values of the graph's inputs; of those that aren't known the shapes alone.
    known : sequence of int
        Which inputs are known.
    """
    graph = fgraph.unfreeze()
    shapes = ShapeFeature()
    graph.attach_feature(shapes)
    inputs = {graph.inputs[place] for place in known}

    def of_steps(variables):
        if not inputs.issuperset(computed_from(variables)) or not _follows(variables, graph):
            return None
        return list(map(HostIntegers(graph.inputs, variables).function(), steps))

    def difference(stop, start):
        found = {high - low for high, low in of_steps([stop, start]) or ()}
        return found.pop() if len(found) == 1 else None

    windows, order = [], graph.toposort()
    for node in order:
        slices = list(_slices(node, difference)) if _indexes(node) else []
        for s in slices:
            check = _window_check(node, s, shapes)
            values = of_steps(check.variables)
            if values is None or not all(check.holds(*v) for v in values):
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


def _indexes(node):
    return isinstance(node.op, (*READING, *WRITING))


def index_variables(node):
    """Return the variables that say what an Op of indexing reads or writes."""
    return node.inputs[2:] if isinstance(node.op, WRITING) else node.inputs[1:]


def _is_moved(node):
    """Return whether a node has a single index of run time, or a slice that becomes a window."""
    return _indexes(node) and (
        any(_is_single(index) for _, index in indices(node)) or any(_slices(node))
    )


def needs_checks(graph):
    """Return whether checks before calls may be needed of a graph that isn't rewritten yet."""
    return any(
        needs_checks(node.op.fgraph)
        if isinstance(node.op, OpFromGraph) and node.op.is_inline
        else _is_moved(node)
        for node in graph.apply_nodes
    )


def _is_single(index):
    return not isinstance(index, slice) and not index.type.ndim and bool(computed_from([index]))


def indices(node):
    """Return pairs of an axis, and the index or slice along it."""
    axis = 0
    for index in indices_from_subtensor(index_variables(node), node.op.idx_list):
        yield axis, index
        is_mask = not isinstance(index, slice) and index.type.dtype == "bool"
        axis += index.type.ndim if is_mask else 1


def _always_computed(fgraph):
    """Return the nodes that are computed whatever a condition is."""
    found, waiting = set(), list(fgraph.outputs)
    while waiting:
        node = waiting.pop().owner
        if node is None or node in found:
            continue
        found.add(node)
        waiting += node.inputs[:1] if isinstance(node.op, IfElse) else node.inputs
    return found


def _name(node):
    return node.inputs[0].name or str(node.inputs[0])


def _index_checks(node, shapes):
    x = node.inputs[0]
    for axis, index in indices(node):
        if _is_single(index):
            yield IndexCheck((index, shapes.get_shape(x, axis)), _name(node), axis)


def _on_host(checks, fgraph):
    """Return those checks that can be made on the host before a call."""
    return [check for check in checks if _follows(check.variables, fgraph)]


def _follows(variables, fgraph):
    try:
        HostIntegers(fgraph.inputs, variables)
    except NotOnHostError:
        return False
    return True


def _slices(node, difference_of=constant_difference):
    """Return the slices of a node that have bounds of run time, and a constant length.

    `difference_of` returns the constant difference of stop and start, or None.
    """
    for axis, index in indices(node):
        if not isinstance(index, slice) or index.start is None or index.stop is None:
            continue
        step = 1 if index.step is None else index.step
        if isinstance(step, Variable):
            step = int(step.data) if isinstance(step, Constant) else 0
        if not step or not computed_from([index.start, index.stop]):
            continue
        difference = difference_of(index.stop, index.start)
        if difference is not None:
            yield _Slice(axis, index.start, index.stop, difference, step)


def _window_check(node, s, shapes):
    variables = s.start, s.stop, shapes.get_shape(node.inputs[0], s.axis)
    return WindowCheck(variables, _name(node), s.axis, s.difference, s.step, s.span)


def _with_windows(node, slices):
    """Return the result of a node by windows, whose other indices are applied to them."""
    x, by_axis = node.inputs[0], dict(indices(node))
    for s in slices:
        by_axis[s.axis] = slice(None, None, None if s.step == 1 else s.step)
    options = {"axes": [s.axis for s in slices], "lengths": [s.span for s in slices]}
    starts = [s.lowest(x.shape[s.axis]) for s in slices]
    window = Window(**options)(x, *starts)
    positions, variables = flatten_index_variables(by_axis.values())
    if isinstance(node.op, READING):
        return type(node.op)(positions)(window, *variables)
    op = copy(node.op)
    BaseSubtensor.__init__(op, positions)
    return SetWindow(**options)(x, op(window, node.inputs[1], *variables), *starts)


make_windows = WindowRewriter()
