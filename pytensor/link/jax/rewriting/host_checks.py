"""Check integers before a function is called: that indices and slices lie inside.

XLA raises no errors.  JAX takes the nearest element for an index that is out of bounds, moves a
slice that reaches out, and drops what is written there.
"""

from dataclasses import dataclass

from pytensor.graph.features import AlreadyThere, Feature
from pytensor.graph.rewriting.basic import graph_rewriter
from pytensor.link.jax.rewriting.host_integers import HostIntegers, computed_from

__all__ = [
    "CheckedThunk", "HostChecks", "IndexCheck", "WindowCheck", "host_checks", "keep_checks",
]  # fmt: skip


class OutsideError(IndexError):
    """A slice reaches out: NumPy's would be shorter, which takes another program."""


@dataclass(frozen=True)
class IndexCheck:
    """An index, `variables` (index, length), along an axis of a variable."""

    variables: tuple
    of: str
    axis: int
    error = IndexError

    def condition(self, index, length):
        """Return a condition of Python's for the names of the variables' values."""
        return f"-{length} <= {index} < {length}"

    def message(self, index, length):
        return (
            f"index {index} is out of bounds for axis {self.axis} of {self.of}, which has "
            f"{length} elements there"
        )


@dataclass(frozen=True)
class WindowCheck:
    """A slice of constant length, `variables` (start, stop, length), along an axis of a variable.

    The difference of stop and start was found by algebra, to be this one; the elements are `step`
    apart, and the first and the last of them span this many.
    """

    variables: tuple
    of: str
    axis: int
    difference: int
    step: int
    span: int
    error = OutsideError

    def condition(self, start, stop, length):
        """Return whether NumPy's slice has all elements that the window has; names as above."""
        # Counted from the end, or not: else NumPy's slice has another length.
        same = f"{stop} - {start} == {self.difference} and ({start} < 0) == ({stop} < 0)"
        if not self.span:
            return same
        first = f"{start} + ({length} if {start} < 0 else 0)"
        if self.step < 0:
            first = f"{first} - {self.span - 1}"
        return f"{same} and 0 <= {first} <= {length} - {self.span}"

    def message(self, start, stop, length):
        step = "" if self.step == 1 else f":{self.step}"
        return (
            f"the slice {start}:{stop}{step} reaches out of {self.of}, which has {length} elements "
            f"along axis {self.axis}. NumPy's would be shorter, and jax_mode compiles slices of "
            "one length: keep the bounds inside, or take mode NUMBA"
        )


class HostChecks(Feature):
    """Checks of one graph, to be made before each call.

    Their variables are integers that `HostIntegers` takes.  The graph may be rewritten afterwards.
    Called with the values of all inputs, they raise IndexError if one fails, and OutsideError for a
    slice.
    """

    def __init__(self, inputs, checks):
        self.checks = checks
        variables = [v for check in checks for v in check.variables]
        integers = HostIntegers(inputs, variables)
        read = computed_from(variables)
        self._places = [
            (place, variable.name)
            for place, variable in enumerate(inputs)
            if variable in read and variable.name and not variable.type.ndim
        ]
        lines, names = integers.lines, iter(integers.names)
        for number, check in enumerate(checks):
            of_check = [next(names) for _ in check.variables]
            values = ", ".join(of_check)
            lines.append(f"if not ({check.condition(*of_check)}): fail({number}, ({values}), args)")
        source = "\n    ".join(["def check(args):", *lines])
        scope = {"fail": self._fail, **integers.functions}
        exec(source, scope)
        self._check = scope["check"]

    def _fail(self, number, values, args):
        check, named = self.checks[number], [f"{name} = {args[k]}" for k, name in self._places]
        given = f" (given {', '.join(named)})" if named else ""
        raise check.error(check.message(*values) + given)

    def __call__(self, args):
        self._check(args)

    def on_attach(self, fgraph):
        if hasattr(fgraph, "host_checks"):
            raise AlreadyThere("a graph has its checks once")
        fgraph.host_checks = self

    def on_detach(self, fgraph):
        del fgraph.host_checks

    def clone(self):
        return self


@graph_rewriter
def keep_checks(fgraph):
    """Note the checks on nodes: `Function.copy` takes over no features of a graph."""
    for variable in fgraph.outputs if hasattr(fgraph, "host_checks") else ():
        if variable.owner is not None:
            variable.owner.tag.host_checks = fgraph.host_checks


def host_checks(fgraph):
    """Return the `HostChecks` of a rewritten graph, or of a copy of it, or None."""
    if hasattr(fgraph, "host_checks"):
        return fgraph.host_checks
    found = (getattr(node.tag, "host_checks", None) for node in fgraph.apply_nodes)
    return next(filter(None, found), None)


class CheckedThunk:
    """A thunk with checks before each call; its attributes are the thunk's."""

    def __init__(self, thunk, checks):
        self._thunk, self._checks = thunk, checks

    def __getattr__(self, name):
        return getattr(self._thunk, name)

    def __call__(self):
        try:
            self._checks([storage[0] for storage in self._thunk.inputs])
        except OutsideError as error:
            return self._compute_outside(error)
        return self._thunk()

    def _compute_outside(self, error):
        """Return what a slice that reaches out gives: refused, for its length is another one."""
        raise error
