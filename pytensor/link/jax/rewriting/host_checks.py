"""What must hold of integers before a function is called: indices and slices lie inside.

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


@dataclass(frozen=True)
class IndexCheck:
    """An index, `variables` (index, length), along an axis of a variable."""

    variables: tuple
    of: str
    axis: int

    def check(self, values, describe):
        index, length = values
        if not -length <= index < length:
            raise IndexError(
                f"index {index} is out of bounds for axis {self.axis} of {self.of}, which has "
                f"{length} elements there{describe()}"
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

    def check(self, values, describe):
        start, stop, length = values
        if stop - start != self.difference or not lies_inside(start, stop, length, self):
            compute_outside(self, values, describe)


def lies_inside(start, stop, length, window):
    """Return whether NumPy's slice has all elements that a window has."""
    # Counted from the end, or not: else NumPy's slice has another length.
    if (start < 0) != (stop < 0):
        return False
    first = start + length if start < 0 else start
    if window.step < 0:
        first -= window.span - 1
    return window.span == 0 or 0 <= first <= length - window.span


def compute_outside(window, values, describe):
    """Refuse a slice that reaches out: its length would be another one."""
    start, stop, length = values
    step = "" if window.step == 1 else f":{window.step}"
    raise IndexError(
        f"the slice {start}:{stop}{step} reaches out of {window.of}, which has {length} elements "
        f"along axis {window.axis}{describe()}. NumPy's would be shorter, and jax_mode compiles "
        "slices of one length: keep the bounds inside, or take mode NUMBA"
    )


class HostChecks(Feature):
    """Checks of one graph, to be made before each call.

    Their variables are integers that `HostIntegers` takes.  The graph may be rewritten afterwards.
    """

    def __init__(self, inputs, checks):
        self.checks = checks
        variables = [v for check in checks for v in check.variables]
        self._integers = HostIntegers(inputs, variables)
        read = set(computed_from(variables))
        self._named = [
            (place, variable.name)
            for place, variable in enumerate(inputs)
            if variable in read and variable.name and not variable.type.ndim
        ]
        self._slices, end = [], 0
        for check in checks:
            begin, end = end, end + len(check.variables)
            self._slices.append((check.check, slice(begin, end)))

    def on_attach(self, fgraph):
        if hasattr(fgraph, "host_checks"):
            raise AlreadyThere("a graph has its checks once")
        fgraph.host_checks = self

    def on_detach(self, fgraph):
        del fgraph.host_checks

    def clone(self):
        return self

    def __call__(self, args):
        """Check the values of all inputs; IndexError if an index is out of bounds."""
        values = self._integers(args)

        def describe():
            named = [f"{name} = {args[place]}" for place, name in self._named]
            return f" ({', '.join(named)})" if named else ""

        for check, part in self._slices:
            check(values[part], describe)


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
        self._checks([storage[0] for storage in self._thunk.inputs])
        return self._thunk()
