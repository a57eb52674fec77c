"""Values that are known before the model runs: constants, and sizes of tensors.

Exporters compute sizes in small vectors.  A vector of sizes is a `MakeVector` of scalars or a
constant, so that sizes which are known stay known while nodes cut, join and multiply such vectors.
"""

from collections import defaultdict
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.traversal import graph_inputs, toposort, walk
from pytensor.link.onnx.dims import Algebra, Size, left_over
from pytensor.link.onnx.importing.registry import Refused
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Alloc, MakeVector, constant
from pytensor.tensor.broadcasting import BroadcastAs, broadcast_as
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, SpecifyShape, specify_shape
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor, get_idx_list
from pytensor.tensor.type import TensorType

# Where lengths come from: deep models ask for the same ones again and again
_origins: WeakKeyDictionary[Variable, dict[int, tuple[Variable, int]]] = WeakKeyDictionary()
_inferred: WeakKeyDictionary[Apply, list] = WeakKeyDictionary()


def known(variable) -> np.ndarray | None:
    """Return the value of a variable that doesn't depend on the inputs, or None.

    A value computed only from constants is a constant already when a converter gets it.
    """
    return np.asarray(variable.data) if isinstance(variable, Constant) else None


def entries(vector) -> list | None:
    """Return a vector's entries as scalars, constants where known; None if its length is open.

    Shapes are such vectors: some sizes are numbers, others are sizes of an input.
    """
    if isinstance(vector, Constant):
        return [constant(v) for v in vector.data]
    if vector.owner is not None and isinstance(vector.owner.op, MakeVector):
        return list(vector.owner.inputs)
    (length,) = vector.type.shape
    return None if length is None else [vector[i] for i in range(length)]


def must_be_known(variable, what: str) -> np.ndarray:
    """Return the value of a variable; Refused if it is only known when the model runs."""
    value = known(variable)
    if value is None:
        text = f"{what} is computed when the model runs; PyTensor must know it before"
        raise Refused(text + what_to_give(variable))
    return value


def what_to_give(variable) -> str:
    """Say which inputs of the model decide a variable's value, to be given as constants."""

    def made_of(v):
        # A length is known by a type, and not by a value
        return () if v.owner is None or isinstance(v.owner.op, Shape) else v.owner.inputs

    names = {v.name for v in walk([variable], made_of) if v.owner is None and v.name}
    names -= {v.name for v in walk([variable], made_of) if isinstance(v, Constant)}
    given = ", ".join(f'"{name}": numpy.array(...)' for name in sorted(names))
    return f"; where it is always the same, give from_onnx inputs={{{given}}}" if given else ""


def folded(variables: list) -> list:
    """Return the variables as constants, if all of them depend only on constants; else as given.

    Shapes, axes and sizes are computed by nodes in ONNX; PyTensor needs many of them as numbers.
    """
    outputs = [v for v in variables if isinstance(v, Variable) and v.owner is not None]
    if not all(isinstance(v, Constant) for v in graph_inputs(outputs)):
        return variables
    storage = defaultdict(lambda: [None])
    for node in toposort(outputs):
        storage.update((v, [v.data]) for v in node.inputs if isinstance(v, Constant))
        computed = {v: [v.owner is not node] for v in (*node.inputs, *node.outputs)}
        cells = {v: storage[v] for v in (*node.inputs, *node.outputs)}
        node.op.prepare_node(node, cells, computed, "py")
        node.op.make_py_thunk(node, cells, computed, [])()
    constants = {v: constant(storage[v][0], name=v.name) for v in outputs}
    return [constants.get(v, v) if isinstance(v, Variable) else v for v in variables]


def like(x, value):
    """Return a constant of the dtype of `x`."""
    return constant(np.asarray(value, x.type.dtype))


def wide(x):
    """Return `x`, in float32 if it is float16, whose sums overflow at 65,504."""
    return pt.cast(x, "float32") if x.type.dtype == "float16" else x


def vector(scalars, dtype="int64"):
    """Return a vector of scalars, a constant if they all are."""
    if all(isinstance(v, Constant) for v in scalars):
        return constant(np.array([v.data for v in scalars], dtype))
    return MakeVector(dtype)(*scalars)


def is_listed(x):
    """Return whether a variable is a vector given by its entries."""
    return x.type.ndim == 1 and x.owner is not None and isinstance(x.owner.op, MakeVector)


def positions(length, dtype: str = "int64"):
    """Return the numbers from 0 up to a length, which is an integer or a variable."""
    number = length if isinstance(length, int | np.integer) else known(length)
    if number is not None:
        return constant(np.arange(number, dtype=dtype))
    if _as_size(length) is not None:
        return pt.arange(length, dtype="int64").astype(dtype)
    # JAX has no arange up to a length that is computed
    return (pt.cumsum(allocated(np.int64(1), [length])) - np.int64(1)).astype(dtype)


def allocated(value, lengths):
    """Return an Alloc, like `pytensor.tensor.alloc`.

    That simplifies a copy of all that its lengths are computed from, which may be the whole model,
    to learn which of them are known; those are constants here.
    """
    lengths = [folded([pt.as_tensor_variable(n)])[0] for n in lengths]
    known_ones = [n if isinstance(n, Constant) else pt.lscalar() for n in lengths]
    made = pt.alloc(value, *known_ones)
    return Apply(made.owner.op, [made.owner.inputs[0], *lengths], [made.type()]).outputs[0]


def filled(value, lengths):
    """Return an array that has a scalar's value everywhere, and its dtype."""
    # Not an Alloc of the scalar, of which mode JAX makes an array of the widest type
    return allocated(folded([pt.expand_dims(value, range(len(lengths)))])[0], lengths)


def size(x, axis):
    """Return an axis's length: a constant if known, else that of the first tensor to have it.

    So sizes that are equal because one tensor was made of the other are seen to be equal.
    """
    x, axis = _origin(x, axis)
    length = x.type.shape[axis]
    if length is not None:
        return constant(np.int64(length))
    wanted = _made(x, axis)
    return x.shape[axis] if wanted is None else wanted


def sizes(x):
    """Return the lengths of all axes."""
    return [size(x, axis) for axis in range(x.type.ndim)]


def broadcastable(inputs, kept=0, declared=()):
    """Return inputs that broadcast as ONNX does: by lengths that only run time may know.

    The last `kept` axes aren't broadcast.  Those left out are None.  `declared` are the shapes that
    the file says, empty where it says none.
    """
    given = [x for x in inputs if x is not None]
    ndim = max((x.type.ndim for x in given), default=0)
    axes = range(-ndim, -kept)
    found = list(inputs)
    for i, x in enumerate(inputs):
        if x is None or None not in x.type.shape:
            continue
        for y in given:
            shape = declared[i] if i < len(declared) else ()
            uncertain = [
                axis
                for axis in axes
                if _may_be_repeated(x, y, axis, -axis <= len(shape) and shape[axis] == 1)
            ]
            if y is not x and uncertain:
                found[i] = broadcast_as(found[i], y, uncertain)
    return found


def _may_be_repeated(x, y, axis, is_one):
    """Return whether `x` may have one element along an axis on which `y` has more.

    Lengths that windows decide, in convolutions for example, are taken to be equal where both are
    open, but where the file says that it `is_one`, or a slice does: if they aren't, PyTensor says
    so when it runs.
    """
    if -axis > min(x.type.ndim, y.type.ndim):
        return False
    if x.type.shape[axis] is not None or y.type.shape[axis] == 1:
        return False
    own, other = (DIMS.size(v, axis % v.type.ndim) for v in (x, y))
    certain = is_one or _is_first_cell(x, axis) or y.type.shape[axis] is not None
    return own != other and (certain or (_is_any(own) and _is_any(other)))


def _is_first_cell(x, axis):
    """Return whether `x` is a slice that has only the first cell of an axis."""
    if x.owner is None or not isinstance(x.owner.op, Subtensor):
        return False
    index = get_idx_list(x.owner.inputs, x.owner.op.idx_list)
    cuts = dict(enumerate(v for v in index if isinstance(v, slice)))
    cut = cuts.get(axis % x.type.ndim, slice(None))
    return [getattr(v, "data", None) for v in (cut.start, cut.stop)] == [0, 1]


def _is_any(size):
    """Return whether a size may be any: it's one of inputs, or that a reshape or a slice leaves."""
    made = (BroadcastAs, Reshape, Alloc, Subtensor)
    return all(
        not isinstance(v, tuple) or v[0].owner is None or isinstance(v[0].owner.op, made)
        for v in size.unknowns
    )


def _wanted(node):
    """Return the sizes that a reshape or an Alloc is told to make, or None."""
    if isinstance(node.op, Alloc):
        return node.inputs[1:]
    listed = isinstance(node.op, Reshape) and is_listed(node.inputs[1])
    return node.inputs[1].owner.inputs if listed else None


def _made(x, axis):
    """Return the product of lengths to which an axis was made, or None."""
    wanted = None if x.owner is None else _wanted(x.owner)
    return wanted[axis] if wanted is not None and is_size(wanted[axis]) else None


def _origin(x, axis):
    passed = []
    while x.type.shape[axis] is None and x.owner is not None:
        found = _origins.setdefault(x, {}).get(axis)
        if found is not None:
            x, axis = found
            break
        source = _source(x.owner, x.owner.outputs.index(x), axis)
        passed.append((x, axis))
        if source is None:
            break
        x, axis = source
    for variable, a in passed:
        _origins[variable][a] = x, axis
    return x, axis


def _source(apply, output, axis):
    """Return the input and its axis whose length an open axis of an output has, or None."""
    op, inputs = apply.op, apply.inputs
    if isinstance(op, Elemwise):
        # PyTensor doesn't broadcast an axis of open length, so all of them have one
        return next((x, axis) for x in inputs if x.type.shape[axis] is None)
    if isinstance(op, DimShuffle):
        return inputs[0], op.new_order[axis]
    if isinstance(op, SpecifyShape):
        return _as_size(inputs[1 + axis]) or (inputs[0], axis)
    if isinstance(op, Reshape | Alloc):
        wanted = _wanted(apply)
        return None if wanted is None else _as_size(wanted[axis])
    if isinstance(op, AdvancedSubtensor) and op.idx_list[: axis + 1] == (slice(None),) * (axis + 1):
        return inputs[0], axis  # which its infer_shape hides
    if isinstance(op, OpFromGraph) and type(op).infer_shape is OpFromGraph.infer_shape:
        x, axis = _origin(op.inner_outputs[output], axis)
        return (inputs[op.inner_inputs.index(x)], axis) if x in op.inner_inputs else None
    if not isinstance(op, OpFromGraph) and isinstance(op, HasInnerGraph):
        return None
    if not hasattr(op, "infer_shape"):
        return None
    if apply not in _inferred:
        _inferred[apply] = _infer(apply)
    return _inferred[apply][output][axis]


def _infer(apply):
    """Return for each axis of each output the input and its axis whose length it has, or None."""
    lengths = [
        [x.shape[a] if n is None else constant(np.int64(n)) for a, n in enumerate(x.type.shape)]
        if isinstance(x.type, TensorType)
        else []
        for x in apply.inputs
    ]
    known_ones = {
        id(length): (x, a)
        for x, row in zip(apply.inputs, lengths, strict=True)
        for a, length in enumerate(row)
    }

    def origin(length):
        while isinstance(getattr(getattr(length, "owner", None), "op", None), CheckAndRaise):
            length = length.owner.inputs[0]
        return known_ones.get(id(length))

    shapes = apply.op.infer_shape(apply, lengths)
    return [None if shape is None else [*map(origin, shape)] for shape in shapes]


def _as_size(scalar):
    """Return the tensor and axis of which a scalar is the length, or None."""
    node = scalar.owner
    if node is None or not isinstance(node.op, Subtensor) or scalar.type.ndim:
        return None
    source = node.inputs[0].owner
    if source is None or not isinstance(source.op, Shape):
        return None
    (index,) = get_idx_list(node.inputs, node.op.idx_list)
    index = index.data if isinstance(index, Constant) else index
    return (source.inputs[0], int(index)) if isinstance(index, int | np.integer) else None


def length_of(scalar):
    """Return the first tensor that has a scalar as a length, and the axis; None if it is none."""
    found = _as_size(scalar) if isinstance(scalar.type, TensorType) else None
    return found and _origin(*found)


class ImportedDims(Algebra):
    """Sizes of the variables of a graph that is being imported, traced to where they come from."""

    def size(self, variable, axis):
        x, axis = _origin(variable, axis)
        length = x.type.shape[axis]
        if length is not None:
            return Size(length)
        wanted = _made(x, axis)
        return Size.unknown((x, axis)) if wanted is None else self.of(wanted)

    def of_node(self, node):
        found = _as_size(node.outputs[0])
        return None if found is None else self.size(*found)


DIMS = ImportedDims()


def is_size(scalar):
    """Return whether a scalar is made of lengths only by multiplication, so isn't negative."""
    if scalar.type.ndim:
        return False
    size = DIMS.of(scalar)
    return size.is_of_axes and size.factor >= 0


def product(lengths):
    """Return the product of scalars, a constant if they all are."""
    return folded([reduce(pt.mul, lengths)])[0] if lengths else constant(np.int64(1))


def without_minus_one(lengths, wanted):
    """Return the sizes of a reshape, with what -1 stands for in its place if it can be said.

    Parameters
    ----------
    lengths, wanted : list of scalars
        The sizes of the tensor, and the sizes of the reshape, of which one may be -1.
    """
    open_axes = [i for i, v in enumerate(wanted) if isinstance(v, Constant) and v.data == -1]
    if len(open_axes) > 1:
        raise Refused("its shape has -1 more than once; one size at most can be left open")
    if not open_axes:
        return wanted
    (axis,) = open_axes
    rest = left_over(map(DIMS.of, lengths), [DIMS.of(v) for v in wanted])
    if rest is None or not rest.is_of_axes:
        return wanted
    others = [x.shape[a] for x, a in rest.unknowns.elements()]
    number = [] if others and rest.factor == 1 else [constant(np.int64(rest.factor))]
    found = product([*number, *others])
    return [*wanted[:axis], found, *wanted[axis + 1 :]]


def reshaped(x, wanted):
    """Reshape a tensor to sizes, of which one may be -1."""
    return pt.reshape(x, vector(without_minus_one(sizes(x), wanted)), ndim=len(wanted))


def size_unless_zero(length, x, axis):
    """Return a size of a reshape, that of the same axis of `x` in the place of 0."""
    number = known(length)
    if number is not None:
        return size(x, axis) if number == 0 else length
    if is_size(length) or axis >= x.type.ndim:
        return length
    return pt.switch(pt.eq(length, np.int64(0)), size(x, axis), length)


def wanted_sizes(node, shape, what="its shape", *, least=None):
    """Return the entries of an input that holds sizes, as int64 scalars.

    Raises
    ------
    Refused
        If their number isn't known, or one that is known is less than `least`.
    """
    found = entries(shape)
    if found is None:
        number = node.declared_ndim()
        if number is None:
            text = f"how many entries {what} has is known only when the model runs"
            raise Refused(text + what_to_give(shape))
        shape = specify_shape(shape, (number,))
        found = [shape[i] for i in range(number)]
    found = [folded([pt.cast(v, "int64")])[0] for v in found]
    for length in map(known, found):
        if least is not None and length is not None and length < least:
            raise Refused(f"{what} has {length}; its entries must be at least {least}")
    return found


def known_axis(axis, ndim):
    """Return the axis that an input names, which must be known, counted from the first."""
    return normalized(int(must_be_known(axis, "its axis").item()), ndim)


def normalized(axis, ndim, last=None):
    """Return an axis counted from the front; it may be `last`, by default the last axis.

    Raises
    ------
    Refused
        If there is no such axis.
    """
    if not -ndim <= axis <= (ndim - 1 if last is None else last):
        raise Refused(f"it has the axis {axis}, and its input has {ndim} axes")
    return int(axis) + (ndim if axis < 0 else 0)
