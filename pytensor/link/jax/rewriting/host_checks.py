"""Check integers before a function is called: that indices and slices lie inside.

XLA raises no errors.  JAX takes the nearest element for an index that is out of bounds, moves a
slice that reaches out, and drops what is written there.  An index out of bounds is an error; for a
slice that reaches out another program is called, which is made for its bounds.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pytensor.compile.maker import function
from pytensor.graph.features import AlreadyThere, Feature
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import graph_rewriter
from pytensor.link.jax.rewriting.host_integers import HostIntegers, computed_from

__all__ = [
    "CheckedThunk", "HostChecks", "WindowCheck", "WithoutWindows", "keep_checks",
]  # fmt: skip


@dataclass(frozen=True)
class WindowCheck:
    """A slice of constant length along an axis: `variables` (start, stop, length of the axis).

    The difference of stop and start was this one for some values; each call compares it.  The
    elements are `step` apart.
    """

    variables: tuple
    axis: int
    difference: int
    step: int

    @cached_property
    def span(self):
        """Return the number of elements from the first to the last, between the steps too."""
        number = len(range(0, self.difference, self.step))
        return (number - 1) * abs(self.step) + 1 if number else 0

    def holds(self, start, stop, length):
        """Return whether NumPy's slice has all elements that the window has."""
        # Counted from the end, or not: else NumPy's slice has another length.
        if stop - start != self.difference or (start < 0) != (stop < 0):
            return False
        lowest = self.lowest(start + length if start < 0 else start)
        return not self.span or 0 <= lowest <= length - self.span

    def lowest(self, first):
        """Return the place of the lowest element, from the place of the first one."""
        return first - (self.span - 1) if self.step < 0 else first


class WithoutWindows:
    """The function of a graph as it was before a slice became a window: NumPy's slices.

    Their bounds decide lengths, so each value has a program of its own.
    """

    def __init__(self, fgraph, mode):
        # A shared variable may be no input of a function.
        self._inputs = [v.type(name=v.name) for v in fgraph.inputs]
        own = dict(zip(fgraph.inputs, self._inputs, strict=True))
        self._outputs = clone_replace(list(fgraph.outputs), own)
        self._mode, self._compiled = mode, None

    def __call__(self, args):
        """Return the results of the function for these arguments, which JAX takes as they are."""
        if self._compiled is None:
            mode = self._mode.excluding("jax_windows")
            f = function(self._inputs, self._outputs, mode=mode, on_unused_input="ignore")
            self._compiled = f.vm.jit_fn
        return self._compiled(*args)

    def __getstate__(self):
        return self.__dict__ | {"_compiled": None}


class ArrayOfIndices:
    """An array of indices, and the checks that compare its smallest and largest with lengths."""

    def __init__(self, inputs, checks):
        self._checks, index = checks, checks[0].variables[0]
        variables = [index, *(check.variables[1] for check in checks)]
        self._integers = HostIntegers(inputs, variables).function()
        read = computed_from([index])
        self._read = [k for k, v in enumerate(inputs) if v in read and v.type.ndim]

    def check(self, args):
        # What is on a device would have to be waited for.
        if not all(isinstance(args[k], np.ndarray) for k in self._read):
            return
        index, *lengths = self._integers(args)
        if not index.size:
            return
        ends = int(index.min()), int(index.max())
        for check, length in zip(self._checks, lengths, strict=True):
            if not all(check.holds(end, length) for end in ends):
                outside = next(k for k in index.flat if not check.holds(int(k), length))
                raise IndexError(check.message(outside, length))


class HostChecks(Feature):
    """Checks of one graph, to be made before each call.

    Their variables are integers that `HostIntegers` takes, or arrays of indices; those are checked
    unless they are on a device.  The graph may be rewritten afterwards.
    Called with the values of all inputs, they raise IndexError if an index is out of bounds, and
    else return whether all slices lie inside.  `without_windows` computes what they don't.
    """

    def __init__(self, inputs, checks, without_windows=None):
        self.without_windows, single, arrays = without_windows, [], {}
        for check in checks:
            index = check.variables[0]
            (arrays.setdefault(index, []) if index.type.ndim else single).append(check)
        self._arrays = [ArrayOfIndices(inputs, found) for found in arrays.values()]
        self.checks = sorted(single, key=lambda check: isinstance(check, WindowCheck))
        variables = [v for check in self.checks for v in check.variables]
        self._integers = HostIntegers(inputs, variables).function()
        read = computed_from(variables)
        self._places = [
            (place, variable.name)
            for place, variable in enumerate(inputs)
            if variable in read and variable.name and not variable.type.ndim
        ]

    def __call__(self, args):
        self.check_arrays(args)
        values = iter(self._integers(args))
        for check in self.checks:
            of_check = [next(values) for _ in check.variables]
            if check.holds(*of_check):
                continue
            if isinstance(check, WindowCheck):
                return False
            named = [f"{name} = {args[k]}" for k, name in self._places]
            given = f" (given {', '.join(named)})" if named else ""
            raise IndexError(check.message(*of_check) + given)
        return True

    def check_arrays(self, args):
        """Raise an IndexError if an array of indices that these values decide has one outside."""
        for array in self._arrays:
            array.check(args)

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


class CheckedThunk:
    """A thunk with `checks` before each call; its other attributes are the thunk's."""

    def __init__(self, thunk, checks):
        self._thunk, self.checks = thunk, checks

    def __getattr__(self, name):
        return getattr(self._thunk, name)

    def __call__(self):
        args = [storage[0] for storage in self._thunk.inputs]
        if self.checks(args):
            return self._thunk()
        return self._take(self.checks.without_windows(args))

    def _take(self, outputs):
        """Put results where the thunk puts its own; copies of a function may have fewer."""
        take = getattr(self._thunk, "take", None)
        if take is not None:
            return take(outputs)
        for storage, value in zip(self._thunk.outputs, outputs, strict=False):
            storage[0] = value
        return None
