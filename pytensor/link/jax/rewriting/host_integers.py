"""Compute integers on the host, before a call or while JAX traces.

They are lengths and indices that follow from a function's inputs and from lengths of arrays.
Python source is written for them: sums, products and comparisons of single integers take a tenth of
a microsecond there, and several by NumPy.
"""

import numpy as np

from pytensor import scalar as ps
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import IfElse
from pytensor.graph.basic import Apply, Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import ARange, Join, MakeVector, ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import discrete_dtypes

__all__ = [
    "HostIntegers", "NotOnHostError", "as_known", "behind", "computed_from", "in_order", "is_leaf",
    "leaves",
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
SAME_VALUE = (CheckAndRaise, DimShuffle, ScalarFromTensor, TensorFromScalar)
BY_OP = (ARange, CAReduce, DimShuffle, Elemwise, Join, MakeVector, Reshape, SpecifyShape, Subtensor)


class NotOnHostError(Exception):
    """A variable isn't computed only from integer inputs and shapes; the message says why."""


def computed_from(variables):
    """Return the inputs whose values, not only shapes, variables are computed from."""
    return [v for v in leaves(variables, checks=False) if v.owner is None]


def leaves(variables, checks=True):
    """Return the inputs, and the shapes and lengths of arrays, that variables are computed from.

    `checks` says whether that counts which a `CheckAndRaise` asks.
    """
    return [v for v in behind(variables, checks) if is_leaf(v)]


def behind(variables, checks=True):
    """Return variables, and what they are computed from; see `in_order`."""
    found = {}
    for variable in in_order(variables, found, checks):
        found[variable] = None
    return list(found)


def is_leaf(variable):
    """Return whether a variable is an input, or a shape or a length of an array."""
    return variable.owner is None or isinstance(variable.owner.op, Shape | Shape_i)


def in_order(variables, known, checks=True):
    """Yield variables, and what they are computed from, each after those that it is computed from.

    Constants are left out, and so are those that are `known`: to these the caller adds each that it
    gets.  `checks` is as in `leaves`.
    """
    waiting = list(variables)
    while waiting:
        variable, missing = waiting[-1], []
        done = variable in known or isinstance(variable, Constant)
        if not (done or is_leaf(variable)):
            read = read_by(variable.owner, checks)
            missing = [v for v in read if v not in known and not isinstance(v, Constant)]
        waiting += missing
        if not missing:
            waiting.pop()
            if not done:
                yield variable


def read_by(node, checks=False):
    """Return a node's inputs; of a check only what it returns, unless `checks`."""
    return node.inputs[:1] if isinstance(node.op, CheckAndRaise) and not checks else node.inputs


class HostIntegers:
    """Source of a Python function that computes integer variables of a graph.

    Parameters
    ----------
    inputs : sequence of Variable
        Of the graph.
    variables : sequence of Variable
        Integers, or arrays of them.
    any_op : bool
        Whether nodes of all Ops are computed, and what isn't integers; checks, too.

    Raises
    ------
    NotOnHostError
        If a variable doesn't follow from inputs that are integers, and from shapes of inputs, by
        Ops that take little time; with `any_op`, by all Ops, from shapes of inputs or values.
    """

    def __init__(self, inputs, variables, any_op=False):
        self._lines = []
        self._functions = {"asarray": np.asarray, "as_known": as_known, "shape": np.shape}
        self._named, self._any_op = {}, any_op
        places = {variable: place for place, variable in enumerate(inputs)}
        for variable in in_order(variables, self, any_op):
            if is_leaf(variable):
                self._named[variable] = self._assigned(self._read(variable, places))
            else:
                self._add(variable.owner)
        self._names = [self._name(v) for v in variables]

    def __contains__(self, variable):
        return variable in self._named

    def function(self):
        """Return what computes the variables from a list of the inputs' values."""
        return HostFunction([*self._lines, f"return [{', '.join(self._names)}]"], self._functions)

    def _assigned(self, expression):
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = {expression}")
        return name

    def _name(self, variable):
        if variable not in self._named:
            value = variable.data  # of a constant
            single = getattr(value, "ndim", None) == 0 and value.dtype.kind in "biu"
            self._named[variable] = f"({int(value)})" if single else self._function(value)
        return self._named[variable]

    def _function(self, value):
        name = f"f{len(self._functions)}"
        self._functions[name] = value
        return name

    def _add(self, node):
        inputs = read_by(node, self._any_op)
        variables = [*inputs, *node.outputs]
        integers = all(getattr(v.type, "dtype", None) in discrete_dtypes for v in variables)
        if not (integers or self._any_op):
            raise NotOnHostError(f"{node.op} has inputs that aren't integers")
        names, op = [self._name(v) for v in inputs], getattr(node.op, "scalar_op", node.op)
        single = integers and not any(v.type.ndim for v in variables)
        same = isinstance(op, SAME_VALUE if single else CheckAndRaise)
        if integers and same and len(inputs) == 1:
            results = names
        elif single and (type(op) in JOINED or type(op) in EXPRESSIONS):
            results = [self._in_dtype(formula(op, names), node.outputs[0])]
        elif self._any_op and (found := self._results_of(node.op, names)):
            results = found
        elif self._any_op or isinstance(node.op, BY_OP):
            function = self._function(PerformedNode(node))
            results = [f"v{len(self._lines)}_{k}" for k in range(len(node.outputs))]
            self._lines.append(f"{', '.join(results)}, = {function}({', '.join(names)})")
        else:
            raise NotOnHostError(f"{node.op} is computed on the device")
        self._named |= zip(node.outputs, results, strict=True)

    def _results_of(self, op, names):
        """Return expressions for the results of an Op that isn't performed."""
        from pytensor.link.jax.dispatch.shape import JAXShapeTuple

        if isinstance(op, JAXShapeTuple):
            return [self._assigned(f"asarray([{', '.join(names)}])")]
        if isinstance(op, IfElse):
            condition, *branches = names
            pairs = zip(branches[: op.n_outs], branches[op.n_outs :], strict=True)
            return [self._assigned(f"{a} if {condition} else {b}") for a, b in pairs]
        if isinstance(op, OpFromGraph):
            graph = op.fgraph.unfreeze()
            self._named |= zip(graph.inputs, names, strict=True)
            for node in graph.toposort():
                self._add(node)
            return [self._name(v) for v in graph.outputs]
        return None

    def _read(self, leaf, places):
        """Return the expression for an input's value, or for the shape of an input."""
        of = leaf if leaf.owner is None else leaf.owner.inputs[0]
        if of not in places:
            raise NotOnHostError(f"the shape of {of} is known only when it was computed")
        value = f"args[{places[of]}]"
        if leaf.owner is not None:
            shape = f"shape({value})" if self._any_op else f"{value}.shape"
            return f"{shape}[{leaf.owner.op.i}]" if isinstance(leaf.owner.op, Shape_i) else shape
        dtype = getattr(of.type, "dtype", None)
        if dtype not in discrete_dtypes and not self._any_op:
            raise NotOnHostError(f"{of} isn't an integer")
        if self._any_op:
            return f"as_known({value})"
        # Faster than only `int`, for an array on the device.
        return value if of.type.ndim else f"int(asarray({value}))"

    def _in_dtype(self, expression, variable):
        """Assign Python's integer, which overflows as one of the variable's dtype would."""
        if variable.type.dtype == "bool":
            return self._assigned(f"bool({expression})")
        name, info = self._assigned(expression), np.iinfo(variable.type.dtype)
        low, number = info.min, int(info.max) - int(info.min) + 1
        wrapped = f"({name} - ({low})) % {number} + ({low})"
        self._lines.append(f"if not {low} <= {name} <= {info.max}: {name} = {wrapped}")
        return name


def formula(op, names):
    """Return Python's expression for an operation on single integers."""
    if type(op) in JOINED:
        return JOINED[type(op)].join(names)
    return EXPRESSIONS[type(op)].format(*names)


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
    """Compute a node by its Op, from integers, other numbers and arrays."""

    def __init__(self, node):
        self._dtypes = [getattr(v.type, "dtype", None) for v in node.inputs]
        inputs, outputs = ([v.type() for v in vs] for vs in (node.inputs, node.outputs))
        self._node, self._prepared = Apply(node.op, inputs, outputs), None

    def __call__(self, *values):
        if self._prepared is None:
            node = self._node.clone()
            cells = {v: [None] for v in (*node.inputs, *node.outputs)}
            # Notes NumPy's functions on the node, and compiles what its Op has within.
            node.op.make_thunk(node, cells, cells, [], impl="py")
            self._prepared = node
        arrays = [np.asarray(v, dtype) for v, dtype in zip(values, self._dtypes, strict=True)]
        results = [[None] for _ in self._prepared.outputs]
        self._prepared.op.perform(self._prepared, arrays, results)
        return [as_known(result) for (result,) in results]

    def __getstate__(self):
        return self.__dict__ | {"_prepared": None}


def as_known(value):
    """Return a value in the form that JAX takes as a length, and as a number of a program.

    Numbers of float64 are NumPy's, for Python's have no dtype.
    """
    array = np.asarray(value)
    if array.ndim:
        return array
    return array[()] if array.dtype == "float64" else array.item()
