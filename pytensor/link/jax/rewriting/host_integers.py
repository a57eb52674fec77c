"""Integers that follow from a function's inputs, computed on the host before it is called.

Python source is written for them: sums, products and comparisons of single integers take a tenth of
a microsecond there, and several by NumPy.
"""

import numpy as np

from pytensor import scalar as ps
from pytensor.graph.basic import Apply, Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import ARange, Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import discrete_dtypes

__all__ = [
    "HostFunction", "HostIntegers", "NotOnHostError", "computed_from", "formula", "operation",
    "read_by",
]  # fmt: skip

EXPRESSIONS = {
    ps.Abs: "abs({})",
    ps.Cast: "{}",
    ps.Clip: "min(max({}, {}), {})",
    ps.EQ: "{} == {}",
    ps.GE: "{} >= {}",
    ps.GT: "{} > {}",
    ps.Identity: "{}",
    # As NumPy has it: a quotient by 0, and what remains, is 0.
    ps.IntDiv: "{0} // {1} if {1} else 0",
    ps.LE: "{} <= {}",
    ps.LT: "{} < {}",
    ps.Maximum: "max({}, {})",
    ps.Minimum: "min({}, {})",
    ps.Mod: "{0} % {1} if {1} else 0",
    ps.NEQ: "{} != {}",
    ps.Neg: "-{}",
    ps.Sub: "{} - {}",
    ps.Switch: "{1} if {0} else {2}",
}
JOINED = {ps.Add: " + ", ps.Mul: " * "}
ALIKE = (CheckAndRaise, DimShuffle, ScalarFromTensor, TensorFromScalar)
BY_OP = (ARange, CAReduce, DimShuffle, Elemwise, Join, MakeVector, Reshape, SpecifyShape, Subtensor)


class NotOnHostError(Exception):
    """A variable isn't computed from integer inputs and shapes alone; the message says why."""


def computed_from(variables):
    """Return the inputs whose values, not shapes alone, variables are computed from."""
    return [v for v in _leaves(variables) if v.owner is None]


def _leaves(variables):
    """Return the inputs, and the shapes of variables, that variables are computed from."""
    found, waiting, seen = {}, list(variables), set()
    while waiting:
        variable = waiting.pop()
        if variable in seen or isinstance(variable, Constant):
            continue
        seen.add(variable)
        if variable.owner is None or isinstance(variable.owner.op, Shape | Shape_i):
            found[variable] = None
        else:
            waiting += read_by(variable.owner)
    return list(found)


def read_by(node):
    """Return a node's inputs; not what a check asks, for the graph itself does so."""
    return node.inputs[:1] if isinstance(node.op, CheckAndRaise) else node.inputs


def in_order(variables):
    """Yield the nodes that variables are computed by, each after those that it reads."""
    done, waiting = set(_leaves(variables)), list(variables)
    while waiting:
        node = waiting[-1].owner
        missing = [] if node is None else [v for v in read_by(node) if v not in done]
        if waiting[-1] in done or not missing:
            variable = waiting.pop()
            if node is not None and variable not in done:
                yield node
            done |= {variable, *(node.outputs if node else ())}
        else:
            waiting += missing


class HostIntegers:
    """Source of a Python function that computes integer variables of a graph.

    Parameters
    ----------
    inputs : sequence of Variable
        Of the graph.
    variables : sequence of Variable
        Integer scalars.

    Attributes
    ----------
    lines : list of str
        Statements that read the inputs' values from a list ``args``.
    names : list of str
        Expressions for the variables after these lines.
    functions : dict
        What the lines use beside Python's own functions, by name.

    Raises
    ------
    NotOnHostError
        If a variable doesn't follow from inputs that are integers, and from shapes of inputs.
    """

    def __init__(self, inputs, variables):
        self.lines, self.functions = [], {"asarray": np.asarray}
        self._named = {}
        places = {variable: place for place, variable in enumerate(inputs)}
        for leaf in _leaves(variables):
            self._named[leaf] = self._assigned(_read(leaf, places))
        for node in in_order(variables):
            self._add(node)
        self.names = [self._result(v) for v in variables]

    def function(self):
        """Return what computes the variables from a list of the inputs' values."""
        return HostFunction([*self.lines, f"return [{', '.join(self.names)}]"], self.functions)

    def _result(self, variable):
        return self._name(variable)

    def _assigned(self, expression):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def _name(self, variable):
        if variable not in self._named:
            value = variable.data  # of a constant
            single = not np.ndim(value)
            self._named[variable] = f"({int(value)})" if single else self._function(value)
        return self._named[variable]

    def _function(self, value):
        name = f"f{len(self.functions)}"
        self.functions[name] = value
        return name

    def _add(self, node):
        inputs = read_by(node)
        variables = inputs + node.outputs
        if any(getattr(v.type, "dtype", None) not in discrete_dtypes for v in variables):
            raise NotOnHostError(f"{node.op} isn't a function of integers alone")
        (out, *others), names = node.outputs, [self._name(v) for v in inputs]
        op = operation(node)
        single = not any(v.type.ndim for v in variables)
        if single and isinstance(op, ALIKE):
            self._named[out] = names[0]
        elif single and (type(op) in JOINED or type(op) in EXPRESSIONS):
            self._named[out] = self._in_dtype(formula(op, names), out)
        elif isinstance(node.op, BY_OP) and not others:
            function = self._function(PerformedNode(node))
            self._named[out] = self._assigned(f"{function}({', '.join(names)})")
        else:
            raise NotOnHostError(f"{node.op} is computed on the device")

    def _in_dtype(self, expression, variable):
        """Assign Python's integer, which overflows as one of the variable's dtype would."""
        if variable.type.dtype == "bool":
            return self._assigned(f"bool({expression})")
        name, info = self._assigned(expression), np.iinfo(variable.type.dtype)
        low, number = info.min, int(info.max) - int(info.min) + 1
        wrapped = f"({name} - ({low})) % {number} + ({low})"
        self.lines.append(f"if not {low} <= {name} <= {info.max}: {name} = {wrapped}")
        return name


def operation(node):
    """Return a node's Op, or that of its elements."""
    return getattr(node.op, "scalar_op", node.op)


def formula(op, names):
    """Return Python's expression for an operation on single integers."""
    if type(op) in JOINED:
        return JOINED[type(op)].join(names)
    return EXPRESSIONS[type(op)].format(*names)


def _read(leaf, places):
    """Return the expression for an input's value, or for the shape of an input."""
    of = leaf if leaf.owner is None else leaf.owner.inputs[0]
    if of not in places:
        raise NotOnHostError(f"the shape of {of} is known only when it was computed")
    value = f"args[{places[of]}]"
    if leaf.owner is not None:
        op = leaf.owner.op
        return f"{value}.shape[{op.i}]" if isinstance(op, Shape_i) else f"{value}.shape"
    if getattr(of.type, "dtype", None) not in discrete_dtypes:
        raise NotOnHostError(f"{of} isn't an integer")
    # Faster than `int` alone, of an array on the device.
    return value if of.type.ndim else f"int(asarray({value}))"


class HostFunction:
    """A function of a list ``args``, the inputs' values, that is pickled as its source.

    Parameters
    ----------
    lines : list of str
        Its statements.
    functions : dict
        What they use besides Python's own functions, by name.
    """

    def __init__(self, lines, functions):
        self._lines, self._functions = lines, functions
        scope = dict(functions)
        exec("\n    ".join(["def compute(args):", *lines]), scope)
        self._compute = scope["compute"]

    def __call__(self, args):
        return self._compute(args)

    def __getstate__(self):
        return self._lines, self._functions

    def __setstate__(self, state):
        self.__init__(*state)


class PerformedNode:
    """Compute a node by its Op, from integers and arrays."""

    def __init__(self, node):
        self._dtypes = [v.type.dtype for v in node.inputs]
        inputs, outputs = ([v.type() for v in vs] for vs in (node.inputs, node.outputs))
        self._node = Apply(node.op, inputs, outputs)

    def __call__(self, *values):
        arrays = [np.asarray(v, dtype) for v, dtype in zip(values, self._dtypes, strict=True)]
        results = [[None]]
        self._node.op.perform(self._node, arrays, results)
        result = np.asarray(results[0][0])
        return result if result.ndim else result.item()
