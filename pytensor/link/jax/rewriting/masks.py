"""Masks that are known at run time, computed at full length, for `jax_mode`.

JAX has no array whose length is the number of True in a mask.  Where that array isn't a result
itself, but is summed, say, or written to where the mask is True, what it is computed from can stay
as long as the mask: `where` puts a neutral element in the place of what the mask leaves out.  What
stands there before doesn't matter, a NaN neither, and is computed in vain.
"""

from dataclasses import dataclass
from functools import singledispatch
from itertools import count

import numpy as np

from pytensor import scalar as ps
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.rewriting import inline_ofg_node, rewrite_inner_graph
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.graph.traversal import graph_inputs, toposort
from pytensor.scan.op import Scan
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    ARange,
    Nonzero,
    ScalarFromTensor,
    TensorFromScalar,
    arange,
    cast,
    constant,
    second,
    stack,
    switch,
)
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Dot, MulWithoutZeros, and_, neq
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    flatten_index_variables,
    indices_from_subtensor,
    set_subtensor,
)
from pytensor.tensor.type import discrete_dtypes

REASON = "masks"
# They may be concerned though no input has a full length.
BEGINS = (
    AdvancedSubtensor, AdvancedIncSubtensor, Alloc, AllocEmpty, ARange, IncSubtensor, Nonzero,
    Scan, Subtensor,
)  # fmt: skip


@dataclass(frozen=True)
class Full:
    """Stand, at full length, in the place of a variable.

    Its axes from `axis` on are the mask's, where the variable has one, of the True.
    """

    value: Variable
    axis: int
    mask: Variable

    @property
    def of_mask(self):
        """Return how many axes the mask has."""
        return self.mask.type.ndim

    def masked(self, neutral):
        """Return the value with a neutral element in the place of what the mask leaves out."""
        neutral = constant(np.asarray(neutral, self.value.type.dtype))
        return switch(self._mask_as(self.value.type.ndim), self.value, neutral)

    def _mask_as(self, ndim):
        after = ndim - self.axis - self.of_mask
        return self.mask.dimshuffle(["x"] * self.axis + [*range(self.of_mask)] + ["x"] * after)

    def where(self, new, old):
        """Return `new` where the mask is True, which has the axes of this, else `old`."""
        return switch(self._mask_as(old.type.ndim), cast(new, old.type.dtype), old)

    def of_scalar(self, variable):
        """Give a variable with one element along the axis one along each of the mask's."""
        before, after = range(self.axis), range(self.axis + 1, variable.type.ndim)
        return variable.dimshuffle([*before, *["x"] * self.of_mask, *after])

    def with_value(self, value, axis=None):
        return Full(value, self.axis if axis is None else axis, self.mask)


class FullLengths:
    """Variables at full length, made node by node, and what is computed from them in other ways."""

    def __init__(self, fgraph):
        self.fgraph = fgraph
        self._full, self._replaced, self._made = {}, {}, {}
        self.replacements = []
        # Of loops: what masks leave, the last values of those read only there, and numbers
        self.rows, self.last, self.loops = {}, {}, count()

    def full(self, variable):
        return self._full.get(variable)

    def take(self, variable):
        """Return what a variable is computed by: nodes made later must not bring the old back."""
        return self._replaced.get(variable, variable)

    def visit(self, node):
        if not isinstance(node.op, BEGINS) and not any(v in self._full for v in node.inputs):
            return
        results = carry(node.op, node, self)
        for variable, result in zip(node.outputs, results or [], strict=False):
            if isinstance(result, Full):
                self._full[variable] = result
            elif result is not None:
                # The new type may know fewer lengths.
                result = variable.type.filter_variable(result, allow_convert=True)
                copy_stack_trace(variable, result)
                self._replaced[variable] = result
                self.replacements.append((variable, result))

    def mask(self, node):
        """Return the mask of what is not 0 for a `Nonzero`; one variable for each."""
        return self.once(node.inputs[0], lambda a: a if a.type.dtype == "bool" else neq(a, 0))

    def both(self, outer, inner):
        """Return the mask of what two leave, the second of what the first leaves."""
        key = outer.mask, inner
        return self.once(key, lambda _: and_(outer.mask, self._full[inner].value))

    def reversed(self, mask):
        """Return a mask in reverse order, and of that one the first again."""
        turned = self.once((mask, "reversed"), lambda _: mask[::-1])
        self._made[turned, "reversed"] = mask
        return turned

    def once(self, key, make):
        """Return what is made of a key: the same each time."""
        if key not in self._made:
            self._made[key] = make(key)
        return self._made[key]


@singledispatch
def carry(op, node, lengths):
    """Return for each output of a node a `Full`, or what replaces it; None where nothing can."""
    return None


def _same_mask(fulls):
    return len({full.mask for full in fulls}) == 1


@carry.register(Elemwise)
def carry_Elemwise(op, node, lengths):
    fulls = [lengths.full(v) for v in node.inputs]
    known = [full for full in fulls if full]
    if not _same_mask(known) or len({full.axis for full in known}) > 1:
        return None
    inputs = []
    for variable, full in zip(node.inputs, fulls, strict=True):
        if full is None and variable.type.shape[known[0].axis] != 1:
            return None
        inputs.append(full.value if full else known[0].of_scalar(lengths.take(variable)))
    return [known[0].with_value(out) for out in op.make_node(*inputs).outputs]


@carry.register(DimShuffle)
def carry_DimShuffle(op, node, lengths):
    full = lengths.full(node.inputs[0])
    order = []
    for axis in op.new_order:
        if axis == "x" or axis < full.axis:
            order.append(axis)
        elif axis == full.axis:
            order += range(axis, axis + full.of_mask)
        else:
            order.append(axis + full.of_mask - 1)
    return [full.with_value(full.value.dimshuffle(order), op.new_order.index(full.axis))]


@carry.register(Reshape)
def carry_Reshape(op, node, lengths):
    """Add or leave out axes of one element: of a vector, or to a vector."""
    (x, shape), full = node.inputs, lengths.full(node.inputs[0])
    if full is None or any(n != 1 for k, n in enumerate(x.type.shape) if k != full.axis):
        return None
    lengths_wanted = shape.data.tolist() if isinstance(shape, Constant) else [None] * op.ndim
    # -1, or what is known when the function runs.
    open_axes = [axis for axis, n in enumerate(lengths_wanted) if n in (None, -1)]
    if len(open_axes) != 1 or any(n not in (None, -1, 1) for n in lengths_wanted):
        return None
    (axis,) = open_axes
    order = ["x"] * op.ndim
    order[axis : axis + 1] = range(full.axis, full.axis + full.of_mask)
    return [full.with_value(full.value.dimshuffle(order), axis)]


def neutral(scalar_op, dtype):
    """Return what changes no result of a reduction, or None."""
    if isinstance(scalar_op, ps.Add | ps.OR | ps.XOR):
        return 0
    if isinstance(scalar_op, ps.Mul | MulWithoutZeros):
        return 1
    if isinstance(scalar_op, ps.AND):
        return True if dtype == "bool" else np.invert(np.zeros((), dtype))
    if not isinstance(scalar_op, ps.Maximum | ps.Minimum) or dtype.startswith("complex"):
        return None
    largest = isinstance(scalar_op, ps.Minimum)
    if dtype == "bool":
        return largest
    if dtype not in discrete_dtypes:
        return np.inf if largest else -np.inf
    return np.iinfo(dtype).max if largest else np.iinfo(dtype).min


@carry.register(CAReduce)
def carry_CAReduce(op, node, lengths):
    full, ndim = lengths.full(node.inputs[0]), node.inputs[0].type.ndim
    axes = range(ndim) if op.axis is None else op.axis
    places = {
        axis: [axis] if axis < full.axis else [axis + full.of_mask - 1]
        for axis in range(ndim)
        if axis != full.axis
    }
    places[full.axis] = list(range(full.axis, full.axis + full.of_mask))
    reduce = op.clone(axis=tuple(place for axis in sorted(axes) for place in places[axis]))
    if full.axis not in axes:
        before = sum(axis < full.axis for axis in axes)
        return [full.with_value(reduce(full.value), full.axis - before)]
    without_effect = neutral(op.scalar_op, full.value.type.dtype)
    return None if without_effect is None else [reduce(full.masked(without_effect))]


@carry.register(CumOp)
def carry_CumOp(op, node, lengths):
    full = lengths.full(node.inputs[0])
    if op.axis != full.axis:
        axis = op.axis if op.axis < full.axis else op.axis + full.of_mask - 1
        return [full.with_value(CumOp(axis, op.mode)(full.value))]
    if full.of_mask > 1:
        return None
    return [full.with_value(op(full.masked(0 if op.mode == "add" else 1)))]


@carry.register(Shape)
def carry_Shape(op, node, lengths):
    full = lengths.full(node.inputs[0])
    return [stack([_length(full, axis) for axis in range(node.inputs[0].type.ndim)])]


@carry.register(Shape_i)
def carry_Shape_i(op, node, lengths):
    return [_length(lengths.full(node.inputs[0]), op.i)]


def _is_reversal(index):
    return (
        isinstance(index, slice)
        and index.start is None
        and index.stop is None
        and isinstance(index.step, Constant)
        and index.step.data == -1
    )


def _length(full, axis):
    if axis == full.axis:
        return full.mask.sum(dtype="int64")
    return full.value.shape[axis if axis < full.axis else axis + full.of_mask - 1]


@carry.register(OpFromGraph)
def carry_OpFromGraph(op, node, lengths):
    outputs = inline_ofg_node(node)
    inner_nodes = toposort(outputs, blockers=node.inputs)
    # Into the graph, in which what reads the inner nodes is found.
    lengths.fgraph.replace_all(list(zip(node.outputs, outputs, strict=True)), reason=REASON)
    for inner in inner_nodes:
        lengths.visit(inner)
    return None


@carry.register(Blockwise)
@carry.register(Dot)
def carry_matrix_product(op, node, lengths):
    if not isinstance(getattr(op, "core_op", op), Dot):
        return None
    (a, b), (full_a, full_b) = node.inputs, map(lengths.full, node.inputs)
    known = [full for full in (full_a, full_b) if full]
    if any(full.of_mask > 1 for full in known) or min(a.type.ndim, b.type.ndim) < 2:
        return None
    rows, columns = a.type.ndim - 2, b.type.ndim - 1
    if len(known) == 2:
        if full_a.axis != rows + 1 or full_b.axis != columns - 1 or not _same_mask(known):
            return None
        return [op(full_a.masked(0), full_b.masked(0))]
    last = node.outputs[0].type.ndim - 1
    if full_a and full_a.axis == rows:
        return [full_a.with_value(op(full_a.value, lengths.take(b)), last - 1)]
    if full_b and full_b.axis == columns:
        return [full_b.with_value(op(lengths.take(a), full_b.value), last)]
    return None


def _is_fixed(variable):
    """Return whether only constants decide a variable: PyTensor computes it, and its length."""
    return all(isinstance(v, Constant) for v in graph_inputs([variable]))


@carry.register(Nonzero)
def carry_Nonzero(op, node, lengths):
    if _is_fixed(node.inputs[0]):
        return None
    mask = lengths.mask(node)
    ndim = mask.type.ndim
    numbers = [
        arange(mask.shape[axis]).dimshuffle(["x"] * axis + [0] + ["x"] * (ndim - axis - 1))
        for axis in range(ndim)
    ]
    return [Full(second(mask, cast(each, "int64")), 0, mask) for each in numbers]


@carry.register(Alloc)
def carry_Alloc(op, node, lengths):
    value, *shape = node.inputs
    found = [_counted(length, lengths) for length in shape]
    fulls = [full for full in found if full]
    if len(fulls) != 1:
        return None
    full = Full(value, found.index(fulls[0]), fulls[0].mask)
    shape = [lengths.take(length) for length in shape]
    shape[full.axis : full.axis + 1] = [full.mask.shape[k] for k in range(full.of_mask)]
    missing = len(node.inputs) - 1 - value.type.ndim
    value = lengths.take(value).dimshuffle(["x"] * missing + [*range(value.type.ndim)])
    if value.type.shape[full.axis] != 1:
        return None
    return [full.with_value(op(full.of_scalar(value), *shape))]


def _counted(length, lengths):
    """Return the `Full` of the variable whose length along its mask is read, or None."""
    node = length.owner
    while node is not None and isinstance(node.op, ScalarFromTensor | TensorFromScalar):
        node = node.inputs[0].owner
    if node is None or not isinstance(node.op, Subtensor | Shape_i):
        return None
    of = node.inputs[0]
    if isinstance(node.op, Subtensor):
        if of.owner is None or not isinstance(of.owner.op, Shape) or len(node.inputs) != 2:
            return None
        of, axis = of.owner.inputs[0], getattr(node.inputs[1], "data", None)
    else:
        axis = node.op.i
    full = lengths.full(of)
    return full if full and full.axis == axis else None


@carry.register(Subtensor)
def carry_Subtensor(op, node, lengths):
    full = lengths.full(node.inputs[0])
    indices = indices_from_subtensor(node.inputs[1:], op.idx_list)
    if full.axis < len(indices) and _is_reversal(indices[full.axis]) and full.of_mask == 1:
        turned = full.value[(*[slice(None)] * full.axis, slice(None, None, -1))]
        full = Full(turned, full.axis, lengths.reversed(full.mask))
        indices = (*indices[: full.axis], slice(None), *indices[full.axis + 1 :])
    part = beside_mask(full, indices)
    return part and [part[0]]


@carry.register(IncSubtensor)
def carry_IncSubtensor(op, node, lengths):
    x, y, *index_variables = node.inputs
    full = lengths.full(x)
    part = full and beside_mask(full, indices_from_subtensor(index_variables, op.idx_list))
    new = part and written(lengths, y, part[0])
    if new is None:
        return None
    op = IncSubtensor(part[1], set_instead_of_inc=op.set_instead_of_inc)
    return [full.with_value(op(full.value, new, *part[2]))]


def beside_mask(full, indices):
    """Index along other axes than the mask's; return the result, positions and variables."""
    indices = (*indices, *[slice(None)] * (full.axis + 1 - len(indices)))
    if indices[full.axis] != slice(None):
        return None
    before, after = indices[: full.axis], indices[full.axis + 1 :]
    positions, variables = flatten_index_variables([*before, *[slice(None)] * full.of_mask, *after])
    axis = sum(isinstance(index, slice) for index in before)
    part = Subtensor(positions)(full.value, *variables)
    return full.with_value(part, axis), positions, variables


@dataclass(frozen=True)
class _Selection:
    """A mask as an index: the first of its axes, and slices and numbers `beside` it, if any."""

    axis: int
    mask: Variable
    index: Variable
    beside: tuple | None

    def apply(self, x):
        """Index by what stands beside the mask."""
        return x if self.beside is None else x[self.beside]


def _selection(node, index_variables, lengths):
    """Return how a node of advanced indexing selects by a mask; None if it does in another way."""
    indices = indices_from_subtensor(index_variables, node.op.idx_list)
    is_slice = [isinstance(index, slice) for index in indices]
    arrays = [k for k, index in enumerate(indices) if not is_slice[k] and index.type.ndim]
    if not arrays:
        return None
    place = arrays[0]
    found = indices[place]
    # The results of one `Nonzero` say the same as its mask.
    nonzero = found.owner if found.owner and isinstance(found.owner.op, Nonzero) else None
    if nonzero is not None:
        end = place + len(nonzero.outputs)
        if list(indices[place:end]) != nonzero.outputs:
            return None
        mask = lengths.mask(nonzero)
    elif found.type.dtype == "bool":
        mask, end = lengths.take(found), place + 1
    else:
        return None
    if _is_fixed(found):
        return None
    # Numbers beside it are broadcast with what the mask selects: if slices are between them, NumPy
    # has that axis first.
    first = is_slice.index(False)
    together = sorted(is_slice[first:]) == is_slice[first:]
    if not together or any(k >= end for k in arrays):
        return None
    along = [slice(None)] * mask.type.ndim
    x = node.inputs[0].type.shape[place:]
    for k, (n, m) in enumerate(zip(x, mask.type.shape, strict=False)):
        if nonzero is None or lengths.full(node.inputs[0]):
            if (n == 1) != (m == 1):
                return None  # `where` would repeat what NumPy refuses
        elif None in (n, m) or n != m:
            # Numbers from a mask that is shorter than the axis are of the first elements.
            along[k] = slice(mask.shape[k])
    beside = (*indices[:place], *along, *indices[end:])
    beside = None if all(index == slice(None) for index in beside) else beside
    return _Selection(sum(is_slice[:place]), mask, found, beside)


@carry.register(AdvancedSubtensor)
def carry_AdvancedSubtensor(op, node, lengths):
    x, *index_variables = node.inputs
    selection = _selection(node, index_variables, lengths)
    if selection is None:
        return _lookup(op, node, lengths)
    if lengths.full(x) is None:
        return [Full(selection.apply(lengths.take(x)), selection.axis, selection.mask)]
    both = _selection_of_selected(lengths.full(x), selection, lengths)
    return both and [both]


def _selection_of_selected(full, selection, lengths):
    """Return what a mask leaves of what another mask has left, or None."""
    inner = lengths.full(selection.index)
    if inner is None or inner.mask is not full.mask or selection.beside is not None:
        return None
    if selection.axis != full.axis:
        return None
    return Full(full.value, full.axis, lengths.both(full, selection.index))


def _only_array(op, index_variables):
    """Return the axis and the only index of a node, or None: slices are of all elements."""
    indices = indices_from_subtensor(index_variables, op.idx_list)
    arrays = [(k, index) for k, index in enumerate(indices) if not isinstance(index, slice)]
    slices = [index for index in indices if isinstance(index, slice)]
    return arrays[0] if len(arrays) == 1 and all(s == slice(None) for s in slices) else None


def _lookup(op, node, lengths):
    """Look up numbers that a mask has selected: the first element for the others."""
    x, *index_variables = node.inputs
    found = _only_array(op, index_variables)
    full = lengths.full(found[1]) if found else None
    if full is None or lengths.full(x) or full.value.type.dtype == "bool":
        return None
    axis = found[0]
    return [full.with_value(op(lengths.take(x), full.masked(0)), axis + full.axis)]


@carry.register(AdvancedIncSubtensor)
def carry_AdvancedIncSubtensor(op, node, lengths):
    x, y, *index_variables = node.inputs
    selection, full = _selection(node, index_variables, lengths), lengths.full(x)
    if selection is None:
        return None if full else _scatter(op, node, lengths)
    if full:
        to = _selection_of_selected(full, selection, lengths)
    else:
        to = Full(selection.apply(lengths.take(x)), selection.axis, selection.mask)
    new = to and written(lengths, y, to)
    if new is None:
        return None
    changed = to.where(new if op.set_instead_of_inc else to.value + new, to.value)
    if full:
        return [full.with_value(changed)]
    return [changed if selection.beside is None else set_subtensor(to.value, changed)]


def written(lengths, y, to):
    """Return what is written to what a `Full` selects, with the axes of its value, or None."""
    full = lengths.full(y)
    missing = to.value.type.ndim - to.of_mask + 1 - y.type.ndim
    if full:
        if full.mask is not to.mask or full.axis + missing != to.axis:
            return None
        return full.value.dimshuffle(["x"] * missing + [*range(full.value.type.ndim)])
    y = lengths.take(y).dimshuffle(["x"] * missing + [*range(y.type.ndim)])
    return to.of_scalar(y) if y.type.shape[to.axis] == 1 else None


def _scatter(op, node, lengths):
    """Add up what a mask has selected at places that it has selected: 0 for the others."""
    x, y, *index_variables = node.inputs
    found = _only_array(op, index_variables)
    full = lengths.full(found[1]) if found else None
    if full is None or op.set_instead_of_inc or op.ignore_duplicates or full.axis:
        return None
    x = lengths.take(x)
    axis, places = found[0], full.masked(0)
    to = Full(x[(*[slice(None)] * axis, places)], axis, full.mask)
    new = written(lengths, y, to)
    if new is None:
        return None
    return [op(x, to.with_value(second(to.value, new)).masked(0), places)]


class MaskRewriter(GraphRewriter):
    """See the module's docstring."""

    def apply(self, fgraph):
        # A scan would hand out what a mask selects for all steps: it needs the number then.
        rewrite_inner_graph(fgraph, _is_scan_with_mask, self._rewrite_inner)
        if not any(_has_mask(node) for node in fgraph.apply_nodes):
            return
        lengths = FullLengths(fgraph)
        for node in fgraph.toposort():
            lengths.visit(node)
        for old, new in lengths.replacements:
            if old in fgraph.variables:
                fgraph.replace(old, new, reason=REASON)

    def _rewrite_inner(self, linker, op, node, inner, *, mode):
        self.apply(inner)


def _is_scan_with_mask(op):
    return isinstance(op, Scan) and any(map(_has_mask, op.fgraph.apply_nodes))


def _has_mask(node):
    if isinstance(node.op, Nonzero) or (isinstance(node.op, Scan) and node.op.info.as_while):
        return True
    if not isinstance(node.op, AdvancedSubtensor | AdvancedIncSubtensor):
        return False
    return any(v.type.dtype == "bool" and not isinstance(v, Constant) for v in node.inputs[1:])


compute_at_full_length = MaskRewriter()
