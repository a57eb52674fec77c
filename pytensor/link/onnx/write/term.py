"""The values that converters compute with."""

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.kernels import KERNELS, work_dtype

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
DTYPES = frozenset(["bool", *INTEGERS, *FLOATS])
# Operators whose results don't have the dtype of their first input; None stands for that dtype.
RESULTS = {
    **dict.fromkeys(["And", "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN"], ("bool",)),
    **dict.fromkeys(["Less", "LessOrEqual", "Not", "Or", "Xor"], ("bool",)),
    **dict.fromkeys(["ArgMax", "ArgMin", "NonZero", "Shape", "Size"], ("int64",)),
    **dict.fromkeys(["MaxPool", "TopK"], (None, "int64")),
    "Unique": (None, "int64", "int64", "int64"),
}


def _binary(op_type, evaluate=None, neutral=None, *, reflected=False):
    def apply(self, other):
        # For integers only: adding 0 to a floating-point number can change it.
        if isinstance(other, int) and other == neutral and self.dtype == "int64":
            return self
        return self.combine(op_type, evaluate, other, reflected=reflected)

    return apply


def _ratio(*, reflected=False):
    def apply(self, other):
        if not self.is_float:
            raise TypeError(f"/ of {self.dtype}: cast to a float, or see truncated_quotient")
        return self.combine("Div", None, other, reflected=reflected)

    return apply


def _logical(of_booleans, of_integers, evaluate):
    def apply(self, other):
        return self.combine(of_booleans if self.dtype == "bool" else of_integers, evaluate, other)

    return apply


def _reduction(op_type):
    def reduce(self, axes=None, *, keepdims=False):
        axes = () if axes is None else (_as_list(axes),)
        return self.node(op_type, *axes, keepdims=int(keepdims))

    return reduce


def _as_list(value):
    """Return integers as a list of them; arrays and terms stay."""
    return [value] if isinstance(value, int | np.integer) else value


class Term:
    """A value of the graph that a converter writes.

    Python's operators and the methods add nodes to the graph.  They compute in the term's dtype, or
    where onnxruntime has no kernel for it in the narrowest dtype that holds all of its values.
    Numbers, lists and arrays among the operands become constants of the term's dtype; terms of
    different dtypes don't mix.  Of int64 and of booleans that are known, operators add no nodes.

    Attributes
    ----------
    builder : GraphBuilder
    name : str
        Of the value in the graph; a constant that is read for the first time gets one.
    dtype : str
    shape : tuple of (int or None), or None
        The lengths that are known when the model is written; None where the rank isn't.
    array : ndarray or None
        What the converter made the constant of.
    data : ndarray or None
        What the value is known to be when the model is written: the array, or an initializer's.
    """

    __hash__ = None
    # NumPy shall leave ``array * term`` to the term.
    __array_ufunc__ = None

    def __init__(self, builder, name, dtype, shape=None, array=None):
        self.builder = builder
        if array is None:
            self.name = name
        self.dtype = dtype
        self.shape = shape
        self.array = array

    def __repr__(self):
        value = self.name if self.array is None else self.array
        return f"Term({value!r}, {self.dtype!r}, {self.shape})"

    def __bool__(self):
        raise TypeError("whether a value of the graph is true is known only when the model runs")

    @cached_property
    def name(self):
        return self.builder.initializer(self.array)

    @property
    def data(self):
        return self.builder.graph.constant(self.name) if self.array is None else self.array

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS

    @property
    def is_signed(self):
        """Whether it is of a dtype of integers that can be negative."""
        return self.dtype.startswith("int")

    # Writing nodes

    def lift(self, value):
        """Return a term as it is, and numbers as a constant of the term's dtype.

        Raises
        ------
        OverflowError
            If a number is out of the dtype's bounds.
        """
        if isinstance(value, Term):
            return value
        if self.dtype == "bool" and not np.isin(value, [0, 1]).all():
            # NumPy makes True of it.
            raise OverflowError(f"{value} out of bounds for bool")
        return self.builder.constant(value, self.dtype)

    def node(self, op_type, *inputs, result=None, n_outputs=1, **attributes):
        """Add an operator with the term as its first input.

        Parameters
        ----------
        op_type : str
        inputs : Term, number, array, or list of (int or Term)
            Numbers and arrays become constants of the term's dtype, lists int64 vectors.  None
            leaves out an optional input.
        result : str, optional
            Dtype of the (first) result, where it isn't the term's and `RESULTS` doesn't say it.
        n_outputs : int
        attributes
            See `GraphBuilder.node`.

        Returns
        -------
        Term, or tuple of Term where ``n_outputs > 1``

        Raises
        ------
        ConversionError
            If no kernel holds every value of the term's dtype.
        """
        builder = self.builder
        inputs = [i if i is None else self._operand(i) for i in inputs]
        as_it_is = op_type not in KERNELS or "domain" in attributes
        work = self.dtype if as_it_is else work_dtype(op_type, self.dtype)
        settings = {"result": result, "n_outputs": n_outputs, **attributes}
        if work == self.dtype:
            return builder.node(op_type, self, *inputs, **settings)
        inputs = [i.cast(work) if i is not None and i.dtype == self.dtype else i for i in inputs]
        results = builder.node(op_type, self.cast(work), *inputs, **settings)
        first, *rest = results if n_outputs > 1 else (results,)
        if result is None and RESULTS.get(op_type, (None,))[0] is None:
            first = first.cast(self.dtype)
        return (first, *rest) if n_outputs > 1 else first

    def _operand(self, value):
        is_list = isinstance(value, list | tuple | range)
        return self.builder.vector(value) if is_list else self.lift(value)

    def combine(self, op_type, evaluate, other, *, reflected=False):
        """Return what an operator makes of two terms; `evaluate` does so with arrays."""
        x, y = self, self.lift(other)
        if x.dtype != y.dtype:
            raise TypeError(
                f"{op_type} of a term of dtype {x.dtype} and one of {y.dtype}: cast one of them"
            )
        if reflected:
            x, y = y, x
        if evaluate is not None and _are_known_integers(x, y):
            return self.builder.constant(evaluate(x.data, y.data))
        return x.node(op_type, y)

    # Python's operators

    __add__ = _binary("Add", operator.add, 0)
    __radd__ = _binary("Add", operator.add, 0, reflected=True)
    __sub__ = _binary("Sub", operator.sub, 0)
    __rsub__ = _binary("Sub", operator.sub, reflected=True)
    __mul__ = _binary("Mul", operator.mul, 1)
    __rmul__ = _binary("Mul", operator.mul, 1, reflected=True)
    __truediv__ = _ratio()
    __rtruediv__ = _ratio(reflected=True)
    __mod__ = _binary("Mod", operator.mod)
    __rmod__ = _binary("Mod", operator.mod, reflected=True)
    __pow__ = _binary("Pow")
    __rpow__ = _binary("Pow", reflected=True)
    __matmul__ = _binary("MatMul")
    __lt__ = _binary("Less", operator.lt)
    __le__ = _binary("LessOrEqual", operator.le)
    __gt__ = _binary("Greater", operator.gt)
    __ge__ = _binary("GreaterOrEqual", operator.ge)
    __eq__ = _binary("Equal", operator.eq)
    __and__ = _logical("And", "BitwiseAnd", operator.and_)
    __or__ = _logical("Or", "BitwiseOr", operator.or_)
    __xor__ = _logical("Xor", "BitwiseXor", operator.xor)

    def __ne__(self, other):
        return ~(self == other)

    def __floordiv__(self, other):
        """Round a quotient of integers down, as Python does, none of which may be negative.

        `truncated_quotient` takes those, too.
        """
        if isinstance(other, int) and other < 0:
            raise ValueError(f"// {other}: a divisor can't be negative; see truncated_quotient")
        if isinstance(other, int) and other == 1:
            return self
        return self.combine("Div", operator.floordiv, other)

    def truncated_quotient(self, other):
        """Round a quotient of integers towards zero, as ONNX does."""
        return self.node("Div", other)

    def __neg__(self):
        return 0 - self if self.dtype.startswith("uint") else self.node("Neg")

    def __abs__(self):
        return self.node("Abs")

    def __invert__(self):
        return self.node("Not" if self.dtype == "bool" else "BitwiseNot")

    def __lshift__(self, count):
        return self.node("BitShift", count, direction="LEFT")

    def __rshift__(self, count):
        return self.node("BitShift", count, direction="RIGHT")

    # Dtypes and lengths

    def cast(self, dtype):
        """Return the value in another dtype; nothing is added where it has it."""
        if dtype == self.dtype:
            return self
        for each in (self.dtype, dtype):
            if each not in DTYPES:
                raise ConversionError(f"ONNX tensors of dtype {each} are not supported")
        is_constant = self.array is not None or (
            self.data is not None and self.name not in self.builder.graph.parameters
        )
        if is_constant:
            return self.builder.constant(self.data.astype(dtype))
        result = self.builder.node("Cast", self, result=dtype, to=np.dtype(dtype))
        result.shape = self.shape
        return result

    def sizes(self, start=0, end=None):
        """Return the sizes of axes, by default of all, as an int64 vector."""
        return self.node("Shape", start=start or None, end=end)

    def length(self, axis):
        """Return the size of an axis as an int64 vector of one entry."""
        return self.node("Shape", start=axis or None, end=axis + 1 or None)

    def size(self, axis):
        """Return the size of an axis as an int64 scalar."""
        return self.length(axis).squeeze(0)

    @property
    def lengths(self):
        """The sizes of all axes: an int where it is known, else an int64 vector of one entry."""
        return [
            self.length(axis) if known is None else known for axis, known in enumerate(self.shape)
        ]

    def sizes_without(self, axis, ndim):
        """Return the sizes of all axes but one of several, `ndim`, as an int64 vector."""
        parts = [self.sizes(0, axis)] if axis else []
        parts += [self.sizes(axis + 1, ndim)] if axis + 1 < ndim else []
        return concat(parts)

    # Axes

    def transpose(self, *order):
        """Put the axes in another order; nothing is added where it is theirs."""
        if list(order) == list(range(len(order))):
            return self
        result = self.node("Transpose", perm=list(order))
        if self.shape is not None:
            result.shape = tuple(self.shape[axis] for axis in order)
        return result

    def reshape(self, lengths):
        """Give the value another shape.

        Parameters
        ----------
        lengths : Term or list of (int or Term)
            An int64 vector, or lengths as `Term.lengths` has them; one int may be -1.
        """
        if isinstance(lengths, Term):
            return self.node("Reshape", lengths, allowzero=1)
        terms = sum(isinstance(length, Term) for length in lengths)
        if not is_empty(lengths) and terms < 2:
            target = [-1 if isinstance(length, Term) else length for length in lengths]
            return self.node("Reshape", target)
        return self.node("Reshape", self.builder.vector(lengths), allowzero=1)

    def flatten(self):
        return self.reshape([-1])

    def expand(self, lengths):
        """Broadcast to an int64 vector, or a list of lengths."""
        return self.node("Expand", lengths)

    def expand_as(self, other):
        """Broadcast to the shape of another term."""
        return self.node("Expand", other.sizes())

    def squeeze(self, *axes):
        return self.node("Squeeze", axes)

    def unsqueeze(self, *axes):
        """Insert axes of size 1 at these places of the result."""
        if _are_known_integers(self):
            return self.builder.constant(np.expand_dims(self.data, axes))
        return self.node("Unsqueeze", axes)

    def column(self):
        """Return it with a last axis of size 1, along which vectors of constants broadcast."""
        return self.unsqueeze(-1)

    # Entries

    def gather(self, index, axis=0):
        """Take the entries at an int, which drops the axis, at a list of them or at int64s."""
        if isinstance(index, int):
            index = self.builder.constant(index, "int64")
        return self.node("Gather", index, axis=axis)

    def gather_elements(self, index, axis):
        return self.node("GatherElements", index, axis=axis)

    def scatter_elements(self, index, updates, axis, reduction=None):
        return self.node("ScatterElements", index, updates, axis=axis, reduction=reduction)

    def slice(self, starts, ends, axes=None, steps=None):
        """Take slices; each argument is an int, a list of them or an int64 vector."""
        if axes is None and steps is None:
            return self.node("Slice", _as_list(starts), _as_list(ends))
        steps = () if steps is None else (_as_list(steps),)
        return self.node("Slice", _as_list(starts), _as_list(ends), _as_list(axes), *steps)

    # Reductions, over all axes unless some are given

    reduce_sum = _reduction("ReduceSum")
    reduce_prod = _reduction("ReduceProd")
    reduce_max = _reduction("ReduceMax")
    reduce_min = _reduction("ReduceMin")

    def any(self):
        """Return whether a condition holds anywhere; not so in empty tensors."""
        return self.cast("int64").reduce_sum() > 0

    def cumulative_sum(self, axis, **attributes):
        return self.node("CumSum", self.builder.constant(axis, "int64"), **attributes)

    def is_nan(self):
        return self.node("IsNaN")

    def dot(self, weights):
        """Return the sum over the last axis, with constant weights."""
        # For empty tensors, onnxruntime's sum over axis -1 has the wrong shape, and its product
        # with a vector fails.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        return (self @ np.reshape(weights, (-1, 1))).squeeze(-1)


def _are_known_integers(*terms):
    """Return whether terms are constants that operators compute with while writing."""
    return all(term.array is not None and term.dtype in ("int64", "bool") for term in terms)


@dataclass(frozen=True)
class Generator:
    """The state of a random generator, which is no value of the graph.

    The seeds of draws are made of `key`.
    """

    builder: Any
    key: str


def where(condition, x, y):
    """Return `x` where a condition holds and else `y`, which may be terms or numbers.

    The kernel makes 0.0 of a -0.0 in `x`, though not in `y`.  Turning the condition around with a
    Not doesn't help, because onnxruntime removes it.
    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    x, y = _lift_both(condition.builder, x, y)
    builder, dtype = condition.builder, x.dtype
    if _are_known_integers(condition, x, y):
        return builder.constant(np.where(condition.data, x.data, y.data))
    # Casts between integers of one size keep the bits.
    work = "int64" if dtype == "uint64" else work_dtype("Where", dtype)
    result = builder.node("Where", condition, x.cast(work), y.cast(work), result=work)
    return result.cast(dtype)


def _lift_both(builder, x, y):
    """Return two terms or numbers as terms of one dtype."""
    if not isinstance(x, Term) and not isinstance(y, Term):
        is_float = isinstance(x, float) or isinstance(y, float)
        x = builder.constant(x, "float64" if is_float else "int64")
    if not isinstance(x, Term):
        x = y.lift(x)
    y = x.lift(y)
    if x.dtype != y.dtype:
        raise TypeError(f"a choice between dtypes {x.dtype} and {y.dtype}: cast one of them")
    return x, y


def maximum(x, y):
    """Return the larger one of two terms or numbers; NaN where `x` is NaN.

    Integers must be below 2**31, as lengths are: see
    ``thoughts/upstream/onnxruntime-extrema-of-int64.md``.
    """
    return _extremum("Max", np.maximum, max, operator.lt, x, y)


def minimum(x, y):
    """Return the smaller one of two terms or numbers, as `maximum` does the larger one."""
    return _extremum("Min", np.minimum, min, operator.gt, x, y)


def _extremum(op_type, evaluate, of_ints, is_replaced, x, y):
    if not isinstance(x, Term) and not isinstance(y, Term):
        return of_ints(x, y)
    x = x if isinstance(x, Term) else y.lift(x)
    if x.is_float:
        return where(is_replaced(x, y), y, x)
    return x.combine(op_type, evaluate, y)


def concat(parts, axis=0):
    """Join terms along an axis; one is returned as it is."""
    first, *rest = parts
    return first.node("Concat", *rest, axis=axis) if rest else first


def is_empty(lengths):
    """Return whether a shape is known to have no elements."""
    return any(isinstance(length, int) and length == 0 for length in lengths)
