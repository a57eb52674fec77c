"""Integers that follow from a function's inputs, computed on the host before the function is called.

Sums, products and comparisons of single integers are computed by Python, a tenth of a microsecond
each; other nodes by their Ops.
"""

import math
import operator

import numpy as np

from pytensor import scalar as ps
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import ARange, Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import discrete_dtypes

__all__ = ["HostIntegers", "NotOnHostError", "computed_from"]

BY_PYTHON = {
    ps.Abs: abs,
    ps.EQ: operator.eq,
    ps.GE: operator.ge,
    ps.GT: operator.gt,
    ps.LE: operator.le,
    ps.LT: operator.lt,
    ps.Maximum: max,
    ps.Minimum: min,
    ps.NEQ: operator.ne,
    ps.Neg: operator.neg,
    ps.Sub: operator.sub,
    ps.Switch: lambda condition, a, b: a if condition else b,
    ps.Identity: lambda a: a,
    ps.Cast: lambda a: a,
    ps.Add: lambda *terms: sum(terms),
    ps.Mul: lambda *factors: math.prod(factors),
    # As NumPy has it: a quotient by 0 is 0.
    ps.IntDiv: lambda a, b: a // b if b else 0,
    ps.Mod: lambda a, b: a % b if b else 0,
}
SAME = (ScalarFromTensor, TensorFromScalar)
BY_OP = (ARange, CAReduce, DimShuffle, Elemwise, Join, MakeVector, Reshape, SpecifyShape, Subtensor)


class NotOnHostError(Exception):
    """A variable isn't computed from integer inputs and shapes alone; the message says why."""


def computed_from(variables):
    """Return the inputs whose values, not shapes alone, variables are computed from."""
    found, waiting, seen = {}, list(variables), set()
    while waiting:
        variable = waiting.pop()
        if variable in seen or isinstance(variable, Constant):
            continue
        seen.add(variable)
        if variable.owner is None:
            found[variable] = None
        elif not isinstance(variable.owner.op, Shape | Shape_i):
            waiting += variable.owner.inputs
    return list(found)


class HostIntegers:
    """Compute integer variables of a graph on the host.

    Parameters
    ----------
    inputs : sequence of Variable
        Of the graph.
    variables : sequence of Variable
        Integer scalars.

    Raises
    ------
    NotOnHostError
        If a variable doesn't follow from inputs that are integers, and from shapes of inputs.
    """

    def __init__(self, inputs, variables):
        self._inputs = {variable: place for place, variable in enumerate(inputs)}
        self._places, self._values, self._read, self._steps = {}, [], [], []
        # Shapes of inputs are read, and not the inputs.
        shapes = [v for v in self._shape_nodes(variables)]
        for node in toposort(variables, blockers=[*inputs, *shapes]):
            self._add(node)
        self._results = [self._place(v) for v in variables]

    def _shape_nodes(self, variables):
        waiting, seen = list(variables), set()
        while waiting:
            variable = waiting.pop()
            if variable in seen or variable.owner is None:
                continue
            seen.add(variable)
            if isinstance(variable.owner.op, Shape | Shape_i):
                yield variable
            else:
                waiting += variable.owner.inputs

    def _place(self, variable):
        """Return where the value of a variable is: a constant's, an input's, or a node's."""
        if variable in self._places:
            return self._places[variable]
        place = self._places[variable] = len(self._values)
        self._values.append(None)
        node = variable.owner
        if isinstance(variable, Constant):
            self._values[place] = _as_value(variable.data)
        elif variable in self._inputs:
            if variable.type.dtype not in discrete_dtypes:
                raise NotOnHostError(f"{variable} is no integer")
            self._read.append((place, self._inputs[variable], _as_value))
        elif node is not None and isinstance(node.op, Shape | Shape_i):
            self._read_shape(place, node)
        else:
            raise NotOnHostError(f"{variable} is computed within a graph")
        return place

    def _read_shape(self, place, node):
        (of,) = node.inputs
        if of not in self._inputs:
            raise NotOnHostError(f"the shape of {of} is known only when it was computed")
        if isinstance(node.op, Shape):
            read = lambda value: np.array(np.shape(value), "int64")  # noqa: E731
        else:
            axis = node.op.i
            read = lambda value: np.shape(value)[axis]  # noqa: E731
        self._read.append((place, self._inputs[of], read))

    def _add(self, node):
        dtypes = {getattr(v.type, "dtype", None) for v in node.inputs + node.outputs}
        op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
        if not dtypes <= set(discrete_dtypes):
            raise NotOnHostError(f"{node.op} computes on the device what isn't an integer")
        read = [self._place(v) for v in node.inputs]
        scalars = not any(getattr(v.type, "ndim", 0) for v in node.inputs + node.outputs)
        if scalars and (isinstance(node.op, SAME) or isinstance(node.op, DimShuffle)):
            self._places[node.outputs[0]] = read[0]
            return
        if scalars and type(op) in BY_PYTHON:
            step = _in_dtype(BY_PYTHON[type(op)], node.outputs[0].type.dtype)
        elif isinstance(node.op, BY_OP) and len(node.outputs) == 1:
            step = _by_op(node)
        else:
            raise NotOnHostError(f"{node.op} is computed on the device")
        place = self._places[node.outputs[0]] = len(self._values)
        self._values.append(None)
        self._steps.append((step, read, place))

    def __call__(self, args):
        """Return the integers, by Python, for the values of all inputs."""
        values = self._values.copy()
        for place, number, read in self._read:
            values[place] = read(args[number])
        for step, read, place in self._steps:
            values[place] = step(*[values[k] for k in read])
        return [values[place] for place in self._results]


def _as_value(value):
    """Return a number of Python's for what has no axes, else an array of NumPy's."""
    array = np.asarray(value)
    return array if array.ndim else array.item()


def _in_dtype(function, dtype):
    """Wrap a function of Python's integers, whose result overflows as one of this dtype would."""
    if dtype == "bool":
        return lambda *values: bool(function(*values))
    info = np.iinfo(dtype)

    def computed(*values):
        result = function(*values)
        if not info.min <= result <= info.max:
            result = (result - info.min) % (info.max - info.min + 1) + info.min
        return result

    return computed


def _by_op(node):
    dtypes = [v.type.dtype for v in node.inputs]
    node = Apply(node.op, [v.type() for v in node.inputs], [v.type() for v in node.outputs])

    def perform(*values):
        arrays = [np.asarray(v, dtype) for v, dtype in zip(values, dtypes, strict=True)]
        results = [[None]]
        node.op.perform(node, arrays, results)
        return _as_value(results[0][0])

    return perform
