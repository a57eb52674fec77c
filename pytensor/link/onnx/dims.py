"""Sizes of tensors as far as they are known, in a graph that is exported or imported."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from math import prod

from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import EQ, Cast, IntDiv, Maximum, Mul, Neg, Switch
from pytensor.tensor.basic import (
    Join,
    MakeVector,
    ScalarFromTensor,
    TensorFromScalar,
    constant,
    stack,
)
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.shape import Shape, Shape_i, reshape, shape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor, get_constant_idx


@dataclass(frozen=True)
class Size:
    """An integer times powers of unknown sizes, such as ``2 * N``.

    An unknown is ``(variable, axis)`` for ``variable.shape[axis]``, or any other scalar variable.
    """

    factor: int
    unknowns: Counter = field(default_factory=Counter)

    @classmethod
    def unknown(cls, what):
        """Return the size of an axis, given as a pair, or that a scalar variable holds."""
        return cls(1, Counter([what]))

    def __mul__(self, other):
        return Size(self.factor * other.factor, self.unknowns + other.unknowns)

    def __floordiv__(self, other):
        """Return the quotient where it is exact whatever the unknowns are (but zero), else None."""
        if other.factor == 0 or self.factor % other.factor or other.unknowns - self.unknowns:
            return None
        return Size(self.factor // other.factor, self.unknowns - other.unknowns)

    @property
    def is_fixed(self):
        return not self.unknowns

    @property
    def is_of_axes(self):
        """Return whether all unknowns are sizes of axes, which aren't negative."""
        return all(isinstance(unknown, tuple) for unknown in self.unknowns)


def left_over(sizes, wanted):
    """Return what the one size of -1 stands for in a reshape, None where that can't be told.

    Parameters
    ----------
    sizes, wanted : sequence of Size
        Of the tensor, and of the result; one that is wanted is -1.
    """
    rest = (size for size in wanted if size != Size(-1))
    return prod(sizes, start=Size(1)) // prod(rest, start=Size(1))


class Algebra:
    """Sizes that variables have and scalars hold, as products of unknown ones.

    Of which tensor an axis gets its length, and the scalars besides products of lengths, are
    found in another way when a graph is exported and when one is imported.
    """

    def size(self, variable, axis):
        """Return ``variable.shape[axis]`` as a `Size`."""
        raise NotImplementedError

    def sizes(self, variable):
        return [self.size(variable, axis) for axis in range(variable.type.ndim)]

    def of(self, scalar):
        """Return the `Size` that a scalar variable holds."""
        if isinstance(scalar, Constant):
            return Size(int(scalar.data))
        node = scalar.owner
        if node is None:
            return Size.unknown(scalar)
        if isinstance(_scalar_op(node.op), Mul) and _are_scalars(node.inputs):
            return prod(map(self.of, node.inputs), start=Size(1))
        return self.of_node(node) or Size.unknown(scalar)

    def of_node(self, node):
        """Return the `Size` that a node that isn't a product computes, or None."""
        raise NotImplementedError


class Dims(Algebra):
    """Sizes of the variables of one graph that is exported, by PyTensor's shape inference.

    `input_dims` are the sizes of the graph's inputs, with names for those that aren't fixed.
    """

    def __init__(self, shape_feature=None, input_dims=None):
        self._feature = shape_feature
        self._input_dims = input_dims or {}
        # Lengths depend on lengths: each layer asks for the previous layer's lengths several times
        self.size, self.of = cache(self.size), cache(self.of)

    def size(self, variable, axis):
        static = variable.type.shape[axis]
        if static is not None:
            return Size(static)
        if variable.owner is None or self._feature is None:
            return Size.unknown((variable, axis))
        length = self._feature.get_shape(variable, axis)
        node = length.owner
        if node is not None and isinstance(node.op, Shape_i) and node.inputs[0] is variable:
            return Size.unknown((variable, axis))
        return self.of(length)

    def name(self, variable, axis):
        """Return ``variable.shape[axis]`` as an int, a name such as ``N`` or ``2*N``, or None."""
        size = self.size(variable, axis)
        if size.is_fixed:
            return size.factor
        parts = [str(size.factor)] if size.factor != 1 else []
        for unknown in size.unknowns.elements():
            if not isinstance(unknown, tuple) or unknown[0] not in self._input_dims:
                return None
            parts.append(str(self._input_dims[unknown[0]][unknown[1]]))
        return "*".join(parts)

    def of_node(self, node):
        op = node.op
        if isinstance(op, Shape_i):
            return self.size(node.inputs[0], op.i)
        # Where a check fails there is no size at all.
        if isinstance(op, ScalarFromTensor | TensorFromScalar | CheckAndRaise):
            return self.of(node.inputs[0])
        if isinstance(op, DimShuffle) and not op.new_order and not node.inputs[0].type.ndim:
            return self.of(node.inputs[0])
        if isinstance(op, Subtensor):
            return self._of_element(node)
        return self._of_arithmetic(node) if _are_scalars(node.inputs) else None

    def _of_arithmetic(self, node):
        op = _scalar_op(node.op)
        if isinstance(op, Cast):
            to, dtype = node.outputs[0].type.dtype, node.inputs[0].type.dtype
            exact = to == "int64" and dtype.startswith(("int", "uint"))
            return self.of(node.inputs[0]) if exact else None
        if isinstance(op, Switch):
            return self._of_choice(node)
        if not isinstance(op, IntDiv | Neg | Maximum):
            return None
        operands = [self.of(v) for v in node.inputs]
        if isinstance(op, Neg):
            return Size(-1) * operands[0]
        if isinstance(op, IntDiv):
            return operands[0] // operands[1]
        # Shape inference guards divisions by max(size, 1).
        size = next((size for size in operands if size != Size(1)), Size(1))
        return size if Size(1) in operands and size.factor > 0 else None

    def _of_choice(self, node):
        """Read a switch on whether a requested size is -1, as in the shape of a reshape."""
        condition, left_over, given = node.inputs
        comparison = condition.owner
        if comparison is None:
            return None
        is_equality = isinstance(_scalar_op(comparison.op), EQ)
        if not is_equality or self.of(comparison.inputs[1]) != Size(-1):
            return None
        # Scalars may have any sign, sizes of tensors cannot be -1.
        requested = self.of(comparison.inputs[0])
        if requested == Size(-1):
            return self.of(left_over)
        return self.of(given) if requested.factor > 0 and requested.is_of_axes else None

    def _of_element(self, node):
        """Read ``vector[index]``, behind the `set_subtensor` that infer_shape methods use."""
        vector, index = node.inputs[0], _position(node)
        if index is None:
            return None
        while vector.owner is not None and isinstance(vector.owner.op, IncSubtensor):
            base, value = vector.owner.inputs[:2]
            stored = _position(vector.owner)
            if stored is None or not vector.owner.op.set_instead_of_inc:
                return None
            if stored == index:
                return self.of(value)
            vector = base
        entries = self.elements(vector)
        return None if entries is None else entries[index]

    def elements(self, vector):
        """Return the entries of a shape vector as `Size`s, or None where they can't be told."""
        if isinstance(vector, Constant):
            return [Size(int(entry)) for entry in vector.data]
        node = vector.owner
        if node is None:
            return None
        if isinstance(node.op, MakeVector):
            return [self.of(entry) for entry in node.inputs]
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Cast):
            return self.elements(node.inputs[0])
        if isinstance(node.op, DimShuffle) and node.op.new_order == ("x",):
            return [self.of(node.inputs[0])]
        if isinstance(node.op, Shape):
            return self.sizes(node.inputs[0])
        if isinstance(node.op, Join):
            parts = [self.elements(part) for part in node.inputs]
            return None if None in parts else [size for part in parts for size in part]
        return None

    def reshape(self, x, shape, *, ndim):
        """Reshape, with integers for sizes wherever those that aren't fixed cancel.

        Of ``x.reshape((x.shape[0], 2, -1))`` PyTensor knows the last size only if the first is
        fixed.
        """
        elements = self.elements(shape)
        if elements is None:
            return reshape(x, shape, ndim=ndim)
        if elements.count(Size(-1)) == 1:
            rest = left_over(self.sizes(x), elements)
            if rest is not None and rest.is_fixed:
                elements[elements.index(Size(-1))] = rest
        entries = [size.factor if size.is_fixed else shape[i] for i, size in enumerate(elements)]
        return reshape(x, entries, ndim=ndim)

    def shape(self, x):
        """Return the shape of `x`, made of lengths of the first tensors that have them.

        PyTensor's rewrites come to those one layer at a time, and look at all nodes each time.
        """
        own, entries, sizes = shape(x), [], self.sizes(x)
        if not any(v is not x for size in sizes if size.is_of_axes for v, _ in size.unknowns):
            return own
        for axis, size in enumerate(sizes):
            lengths = [own[axis]]
            if size.is_of_axes:
                lengths = [v.shape[a] for v, a in size.unknowns.elements()]
                if size.factor != 1 or not lengths:
                    lengths.append(constant(size.factor, dtype="int64"))
            entries.append(prod(lengths[1:], start=lengths[0]))
        return stack(entries)


def _are_scalars(variables):
    return all(not v.type.ndim for v in variables if hasattr(v.type, "ndim"))


def _scalar_op(op):
    return op.scalar_op if isinstance(op, Elemwise) else op


def constant_index(node):
    """Return the index of a `Subtensor` or an `IncSubtensor` as integers and slices, or None."""
    indices = node.inputs[2:] if isinstance(node.op, IncSubtensor) else node.inputs[1:]
    try:
        return list(get_constant_idx(node.op.idx_list, [node.inputs[0], *indices]))
    except NotScalarConstantError:
        return None


def _position(node):
    """Return which entry of a vector of known length a node reads or writes, if there is one."""
    vector = node.inputs[0].type
    index = constant_index(node)
    if vector.ndim != 1 or vector.shape[0] is None or index is None or isinstance(index[0], slice):
        return None
    return int(index[0]) % vector.shape[0]
