"""Make one node of a batch of our Ops' inputs, for `vectorize_graph`, `pt.vectorize` and PyMC.

PyTensor puts the axes of a batch before the axes of an Op's inputs, and repeats an Op that it knows
nothing of, element by element, as a `Blockwise`.  A rule in an Op's module says how one node
computes the whole batch: the batch's axes become part of one of the Op's axes, a batch of images or
groups of channels (`Batch.merge`, `Batch.part`), or they stay where they are and the Op's axes move
(`Batch.separate`).
"""

from collections.abc import Callable, Sequence
from functools import singledispatch
from math import prod
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.replace import _vectorize_node, vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.basic import Alloc, AllocEmpty, Join, Split, alloc, infer_static_shape
from pytensor.tensor.blockwise import Blockwise, vectorize_node_fallback
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import reshape, specify_shape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.variable import TensorVariable


def lengths_of(x: TensorVariable) -> list[Any]:
    """Return the lengths of all axes: integers where the type knows them, else variables."""
    return [x.shape[axis] if n is None else n for axis, n in enumerate(x.type.shape)]


def shapes_differ(shape: Sequence[int | None], other: Sequence[int | None]) -> bool:
    """Return whether two static shapes can't be equal; a length that isn't known may be any."""
    return len(shape) != len(other) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(shape, other, strict=True)
    )


def _parted(v, axis, lengths):
    """Make several axes of one."""
    own = lengths_of(v)
    return _reshaped(v, [*own[:axis], *lengths, *own[axis + 1 :]])


def _joined(v, axis, n):
    """Make one axis of `n`."""
    own = lengths_of(v)
    return _reshaped(v, [*own[:axis], prod(own[axis : axis + n]), *own[axis + n :]])


def _reshaped(v, lengths):
    # Neither split_dims nor join_dims, each the other's pullback: NumPy can't join axes of an empty
    # array.  Lengths that the types of other variables tell become numbers, as in split_dims.
    lengths, known = infer_static_shape(lengths)
    lengths = [n if k is None else k for n, k in zip(lengths, known, strict=True)]
    return reshape(v, lengths, ndim=len(lengths))


class Batch:
    """The inputs of a node of a batch, brought to one of two forms.

    Parameters
    ----------
    node : Apply
        The node without the batch.
    inputs : sequence of TensorVariable
        The node's, with axes of the batch before their own.  They broadcast.
    shapes : sequence of int
        The positions of inputs of which only the shape counts.

    Attributes
    ----------
    lengths : list
        Of the batch's axes, integers or variables.
    inputs : list of TensorVariable
        Each has all of the batch's axes or none.
    has : list of bool
        Which of them have them, except inputs of which only the shape counts.
    """

    def __init__(self, node: Any, inputs: Sequence[Any], shapes: Sequence[int] = ()) -> None:
        self.core = [v.type.ndim for v in node.inputs]
        extra = [v.type.ndim - n for v, n in zip(inputs, self.core, strict=True)]
        self.ndim = max(extra)
        self.inputs = []
        for v, n in zip(inputs, extra, strict=True):
            if all(v.type.broadcastable[:n]):
                v = v.squeeze(axis=tuple(range(n))) if n else v
            elif n < self.ndim:
                v = v.dimshuffle([*["x"] * (self.ndim - n), *range(v.type.ndim)])
            self.inputs.append(v)
        self.lengths = [self._length(axis) for axis in range(self.ndim)]
        self.inputs = [self._complete(i) for i in range(len(inputs))]
        self.has = [self._is_batched(i) and i not in shapes for i in range(len(inputs))]

    def _is_batched(self, i: int) -> bool:
        return self.inputs[i].type.ndim > self.core[i]

    def _length(self, axis: int) -> Any:
        """Return the length of one of the batch's axes."""
        long = [
            v
            for i, v in enumerate(self.inputs)
            if self._is_batched(i) and not v.type.broadcastable[axis]
        ]
        known = {v.type.shape[axis] for v in long} - {None}
        if len(known) > 1:
            raise ValueError(
                f"vectorize_graph: the inputs of a node have batches of different lengths {known}"
            )
        if known:
            return known.pop()
        return long[0].shape[axis] if long else 1

    def _complete(self, i: int) -> TensorVariable:
        """Return an input with the whole batch's lengths, if it has some of them."""
        v = self.inputs[i]
        if not self._is_batched(i):
            return v
        own = lengths_of(v)[self.ndim :]
        pairs = list(zip(v.type.broadcastable, self.lengths, strict=False))
        if any(one and length != 1 for one, length in pairs):
            return alloc(v, *self.lengths, *own)
        known = [n if isinstance(n, int) else None for n in self.lengths]
        return specify_shape(v, [*known, *[None] * len(own)])

    @property
    def size(self) -> int | None:
        """The number of elements; None if it isn't known."""
        return prod(self.lengths) if all(isinstance(n, int) for n in self.lengths) else None

    def full(self, i: int) -> TensorVariable:
        """Return an input with the batch's axes, repeated if it has none."""
        v = self.inputs[i]
        return v if self._is_batched(i) else self.repeated(v)

    def repeated(self, v: TensorVariable) -> TensorVariable:
        """Return a variable as often as the batch has elements."""
        return alloc(v, *self.lengths, *lengths_of(v))

    def merge(self, v: TensorVariable, axis: int, groups: int = 1) -> TensorVariable:
        """Make a variable's batch part of one of its own axes, of which it has `groups` groups.

        The batch's elements lie within each group, one after the other.  What elementwise functions
        made of variables that `part` returned is computed of those that it was given, for then
        nothing is moved between two merged nodes.
        """
        n = self.ndim
        if groups == 1:
            merged = _Merged(n, axis)
            parted = merged.of(v)
            return merged.by_moving(v) if parted is None else parted
        at = n + axis
        length = lengths_of(v)[at]
        v = _parted(v, at, [groups, length // groups])
        order = [*range(n, at + 1), *range(n), *range(at + 1, v.type.ndim)]
        return _joined(v.dimshuffle(order), axis, n + 2)

    def part(self, v: TensorVariable, axis: int, length: Any, groups: int = 1) -> TensorVariable:
        """Undo `merge` for a result: `length` is that of the axis without the batch."""
        n = self.ndim
        if groups == 1:
            v = _parted(v, axis, [*self.lengths, length])
            v.tag.parted_axis = axis  # for `_Merged`
            if axis == 0:
                return v
            return v.dimshuffle(
                [*range(axis, axis + n), *range(axis), *range(axis + n, v.type.ndim)]
            )
        v = _parted(v, axis, [groups, *self.lengths, length // groups])
        first = axis + 1
        order = [*range(first, first + n), *range(first), *range(first + n, v.type.ndim)]
        return _joined(v.dimshuffle(order), n + axis, 2)

    def merged_shape(self, i: int, axis: int) -> TensorVariable:
        """Return a variable of an input's shape, and with the batch merged into one of its axes.

        For inputs of which only the shape counts.
        """
        v = self.inputs[i]
        if self._is_batched(i):
            return self.merge(v, axis)
        lengths = lengths_of(v)
        lengths[axis] = prod(self.lengths, start=lengths[axis])
        return AllocEmpty(v.type.dtype)(*lengths)

    def own_shape(self, i: int) -> TensorVariable:
        """Return a variable of an input's shape without the batch."""
        v = self.inputs[i]
        if not self._is_batched(i):
            return v
        return AllocEmpty(v.type.dtype)(*lengths_of(v)[self.ndim :])

    def own_lengths(self, i: int) -> list[Any]:
        """Return the lengths of an input's own axes."""
        v = self.inputs[i]
        return lengths_of(v)[self.ndim :] if self._is_batched(i) else lengths_of(v)

    def common(self, i: int) -> TensorVariable | None:
        """Return an input without the batch's axes, if all elements have the same by construction.

        So it is with lengths: `vectorize_graph` repeats an array's shape for each of a batch.
        """
        return _common(self.inputs[i], self.ndim) if self._is_batched(i) else self.inputs[i]

    def merged_at(self, axes: Sequence[int]) -> int:
        """Return which of some own axes of all inputs the batch is best merged into."""
        for axis in axes:
            merged = _Merged(self.ndim, axis)
            if any(merged.of(v) is not None for i, v in enumerate(self.inputs) if self.has[i]):
                return axis
        return axes[0]

    def separate(self, op: Any) -> list[TensorVariable]:
        """Apply an Op that takes the batch's axes, which all of its inputs then have."""
        return op(*map(self.full, range(len(self.inputs))), return_list=True)

    def merged(self, op: Any, axes: Sequence[int]) -> list[TensorVariable]:
        """Apply an Op to inputs with the batch merged into one of the axes that all share."""
        axis = self.merged_at(axes)
        inputs = [self.merge(self.full(i), axis) for i in range(len(self.inputs))]
        length = self.own_lengths(0)[axis]
        return [self.part(out, axis, length) for out in op(*inputs, return_list=True)]


class _Merged:
    """Variables with the `n` axes of a batch made part of their own axis number `axis`."""

    def __init__(self, n: int, axis: int) -> None:
        self.n, self.axis = n, axis
        self.known: dict[Any, Any] = {}

    def of(self, v: TensorVariable) -> TensorVariable | None:
        """Return it if it, or what it was computed from elementwise, was parted; else None."""
        if v not in self.known:
            self.known[v] = self._of(v)
        return self.known[v]

    def _of(self, v):
        if v.owner is None:
            return None
        op, inputs = v.owner.op, v.owner.inputs
        moved = v
        if self.axis and isinstance(op, DimShuffle) and op.new_order == self._order(v.type.ndim):
            moved = inputs[0]
        if (
            (moved is not v or not self.axis)
            and moved.owner is not None
            and getattr(moved.tag, "parted_axis", None) == self.axis
            and moved.owner.inputs[0].type.ndim == v.type.ndim - self.n
        ):
            return moved.owner.inputs[0]
        if isinstance(op, Elemwise):
            new = self._operands(inputs)
        elif isinstance(op, Join) and self._is_beside(op.axis):
            op, new = Join(op.axis - self.n), self._operands(inputs)
        elif isinstance(op, Split) and self._is_beside(op.axis):
            op, new = Split(op.len_splits, op.axis - self.n), self._operands(inputs[:1])
            new = None if new is None else [*new, inputs[1]]
        else:
            return None
        return None if new is None else op.make_node(*new).outputs[v.owner.outputs.index(v)]

    def _order(self, ndim):
        """Return how `Batch.part` moves the batch's axes to the front."""
        first = range(self.axis, self.axis + self.n)
        return (*first, *range(self.axis), *range(self.axis + self.n, ndim))

    def _is_beside(self, axis):
        return axis >= self.n and axis != self.n + self.axis

    def _operands(self, inputs):
        """Return the operands of an elementwise function; None if none of them was parted."""
        if any(v.type.ndim != inputs[0].type.ndim for v in inputs):
            return None
        if all(self.of(v) is None for v in inputs):
            return None
        new = []
        for v in inputs:
            ones = {v.type.broadcastable[a] for a in (*range(self.n), self.n + self.axis)}
            if self.of(v) is not None:
                new.append(self.of(v))
            elif ones == {True}:
                new.append(v.squeeze(axis=tuple(range(self.n))))
            elif ones == {False}:
                new.append(self.by_moving(v))
            else:
                return None
        return new

    def by_moving(self, v: TensorVariable) -> TensorVariable:
        """Return it computed from the variable itself."""
        n, axis = self.n, self.axis
        if axis:
            v = v.dimshuffle([*range(n, n + axis), *range(n), *range(n + axis, v.type.ndim)])
        return _joined(v, axis, n + 1)


def _common(v, n):
    """Return a variable without its first `n` axes, along which it repeats; None if it may not."""
    if all(v.type.broadcastable[:n]):
        return v.squeeze(axis=tuple(range(n)))
    if v.owner is None:
        return None
    op, inputs = v.owner.op, v.owner.inputs
    if isinstance(op, Elemwise):
        new = [_common(x, n) for x in inputs]
        return None if any(x is None for x in new) else op(*new)
    if isinstance(op, DimShuffle) and op.new_order[:n] == tuple(range(n)):
        x = _common(inputs[0], n)
        order = [o if o == "x" else o - n for o in op.new_order[n:]]
        return None if x is None else x.dimshuffle(order)
    if isinstance(op, Subtensor) and op.idx_list[:n] == (slice(None),) * n:
        x = _common(inputs[0], n)
        return None if x is None else Subtensor(op.idx_list[n:])(x, *inputs[1:])
    if isinstance(op, Alloc) and inputs[0].type.ndim == v.type.ndim - n:
        return inputs[0]  # a shape, repeated by vectorize_graph
    return None


def batch_rule(*op_classes: type, shapes: Sequence[int] = ()) -> Callable[[Any], Any]:
    """Register how Ops of some classes compute a batch as one node.

    The function that is decorated takes the Op, the node without the batch, and the `Batch`.  It
    returns the outputs with the batch's axes first, or None where it can't: a `Blockwise` repeats
    the Op then, and the function's docstring says when.  Of the inputs at the positions `shapes`
    only the shape counts.
    """

    def register(rule):
        def vectorize(op, node, *inputs):
            batch = Batch(node, inputs, shapes)
            if not any(batch.has):
                own = [batch.own_shape(i) if i in shapes else v for i, v in enumerate(batch.inputs)]
                outputs = op(*own, return_list=True)
                return [batch.repeated(out) for out in outputs] if batch.ndim else outputs
            outputs = rule(op, node, batch)
            return vectorize_node_fallback(op, node, *inputs) if outputs is None else outputs

        for op_class in op_classes:
            _vectorize_node.register(op_class)(vectorize)
        return rule

    return register


@singledispatch
def own_batch_axes(op: Any, ndim: int) -> Sequence[int]:
    """Return which axes an Op on inputs of `ndim` axes treats as a batch: all inputs share them."""
    return ()


@singledispatch
def shifted(op: Any, n: int) -> Any:
    """Return the Op with `n` more axes before the axes of all its inputs, for each of a batch.

    None where there is no such Op.
    """
    return None


def leading_batch(op: Any, node: Any, batch: Batch) -> list[TensorVariable] | None:
    """Compute a batch as part of the Op's axes, else separately, else by the Op's inner graph."""
    axes = [axis for axis in own_batch_axes(op, node.inputs[0].type.ndim) if axis < 2]
    if axes:
        return batch.merged(op, axes)
    moved = shifted(op, batch.ndim)
    return inner_batch(op, node, batch) if moved is None else batch.separate(moved)


@singledispatch
def written_out(op: Any, *inputs: TensorVariable) -> list[TensorVariable]:
    """Return a symbolic Op's outputs as a graph of other Ops, which have rules."""
    return op.build_inner_graph(*inputs)


def inner_batch(op: Any, node: Any, batch: Batch) -> list[TensorVariable] | None:
    """Compute a symbolic Op's batch by its inner graph's; None if that would be a `Blockwise`."""
    inputs, own = batch.inputs, [v.type() for v in node.inputs]
    replace: dict[Variable, Variable] = dict(zip(own, inputs, strict=True))
    outputs = vectorize_graph(written_out(op, *own), replace)
    if any(
        v.owner is not None and isinstance(v.owner.op, Blockwise)
        for v in ancestors(outputs, blockers=inputs)
    ):
        return None
    return [
        out if out.type.ndim > core.type.ndim else batch.repeated(out)
        for out, core in zip(outputs, node.outputs, strict=True)
    ]
