"""Sizes that are known at run time: one program for each value, made at its first call.

`pytensor.link.jax.rewriting.find_sizes` finds them in a graph.  Before each call they are computed
from the arguments, on the host, and decide which program is called; in it they are numbers.
"""

import warnings
from collections import OrderedDict
from copy import copy
from functools import wraps

import jax
import numpy as np

from pytensor.link.jax.rewriting.host_integers import HostIntegers, leaves

__all__ = ["HostSizes", "ProgramsBySize", "SizedFunction", "with_sizes"]

# In memory; the one that was called least recently is dropped.
MAX_PROGRAMS = 64
# How many single numbers, with shapes of arguments, have sizes that are remembered.
MAX_READINGS = 128
# The number of programs that are warned about, if they are more than every other call's.
MANY = 8


class HostSizes:
    """Compute the `Sizes` that were found in a graph from the arguments of its function.

    Attributes
    ----------
    graph : FunctionGraph
        `fgraph` with an input more for each size, behind its own.
    unread : tuple of int
        Which inputs this graph doesn't read any more: they stay on the host.
    names : list of str
        The roots' names.
    """

    def __init__(self, fgraph, sizes):
        places = {variable: k for k, variable in enumerate(fgraph.inputs)}
        self._roots = [places[root] for root in sizes.roots]
        self.names = [root.name or f"input {places[root]}" for root in sizes.roots]
        self._compute = HostIntegers(fgraph.inputs, sizes.variables, any_op=True).function()
        shapes = [v.owner.inputs[0] for v in leaves(sizes.variables) if v.owner is not None]
        self._shaped = sorted({places[v] for v in shapes})
        # An array takes as long to read as to compute with.
        self._known = None if any(root.type.ndim for root in sizes.roots) else {}
        self.graph, equivalent = fgraph.clone_get_equiv(attach_feature=False)
        for size in sizes.variables:
            new = size.type()
            self.graph.add_input(new)
            self.graph.replace(equivalent[size], new)
        self.unread = tuple(k for k in self._roots if not self.graph.clients[self.graph.inputs[k]])

    def read(self, args):
        """Return the values of the roots."""
        return tuple([_reading(args[k]) for k in self._roots])

    def __call__(self, args):
        """Return a key that is equal for equal sizes, and the sizes, as `as_known` has them."""
        if self._known is None:
            return self._sizes(args)
        given = self.read(args), *[np.shape(args[k]) for k in self._shaped]
        if given not in self._known:
            if len(self._known) == MAX_READINGS:
                self._known.clear()
            self._known[given] = self._sizes(args)
        return self._known[given]

    def _sizes(self, args):
        values = self._compute(args)
        return tuple(map(_reading, values)), values

    def without_unread(self, args):
        """Return arguments with None in the place of those that the program doesn't read."""
        if not self.unread:
            return args
        args = list(args)
        for k in self.unread:
            args[k] = None
        return tuple(args)


def _reading(value):
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else (array.shape, array.tobytes())


def with_sizes(converted, sizes):
    """Return a function of a graph's inputs for these sizes, to be compiled."""

    @wraps(converted)
    def sized(*args):
        return converted(*args, *sizes)

    return sized


class ProgramsBySize:
    """The programs of a function, each for its sizes; ``make(sizes, key)`` makes one."""

    def __init__(self, host, make):
        self.host, self._make = host, make
        self._programs = OrderedDict()
        self._calls = self._made = 0
        self._seen = [set() for _ in host.names]
        self.last = None

    def find(self, args):
        """Return the program for these arguments; it is made if there is none."""
        key, sizes = self.host(args)
        self._calls += 1
        if key in self._programs:
            self._programs.move_to_end(key)
        else:
            # They may be parts of the arguments, which the caller can overwrite.
            self._programs[key] = self._make(list(map(copy, sizes)), key)
            if len(self._programs) > MAX_PROGRAMS:
                self._programs.popitem(last=False)
            self._count(args)
        self.last = self._programs[key]
        return self.last

    def _count(self, args):
        self._made += 1
        for seen, reading in zip(self._seen, self.host.read(args), strict=True):
            seen.add(reading)
        if self._made == MANY and self._calls < 2 * MANY:
            several = [
                f"{name} ({len(seen)} values)"
                for name, seen in zip(self.host.names, self._seen, strict=True)
                if len(seen) > 1
            ]
            warnings.warn(
                f"{MANY} programs were compiled in {self._calls} calls, because lengths depend on "
                f"{', '.join(several)}: each new value costs a compilation. Let few values repeat, "
                "by padding to a multiple, say, or take mode NUMBA or ONNX",
                stacklevel=5,
            )


class SizedFunction(ProgramsBySize):
    """A compiled function that calls the program for the sizes of its arguments."""

    def __call__(self, *args):
        return self.find(args)(*self.host.without_unread(args))

    def _abstract(self, args):
        program = self.last
        if not any(isinstance(value, jax.ShapeDtypeStruct) for value in args):
            program = self.find(args)
        elif program is None:
            names = ", ".join(self.host.names)
            raise ValueError(f"Call the function first: its program depends on {names}")
        return getattr(program, "jitted", program), self.host.without_unread(args)

    def lower(self, *args):
        """Lower as `jax.jit`; the last call's sizes are taken if arguments are only shapes."""
        program, args = self._abstract(args)
        return program.lower(*args)

    def trace(self, *args):
        """Trace as `jax.jit`; see `lower`."""
        program, args = self._abstract(args)
        return program.trace(*args)
