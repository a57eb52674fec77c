"""Bounds of arrays of indices, from the smallest and the largest elements of a function's inputs.

They are found in a fraction of the time that the arrays take, but may be wider than these.
"""

import numpy as np

from pytensor import scalar as ps
from pytensor.graph.basic import Constant
from pytensor.link.jax.rewriting.host_integers import HostIntegers, formula, operation, read_by
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import Subtensor

__all__ = ["IndexBounds"]

SAME_ELEMENTS = (CheckAndRaise, DimShuffle, Reshape, SpecifyShape)
INCREASING = (ps.Add, ps.Cast, ps.Clip, ps.Identity, ps.Maximum, ps.Minimum)


class IndexBounds(HostIntegers):
    """Source of a function that computes a lower and an upper bound of arrays of integers.

    It takes the parameters of `HostIntegers`.
    """

    def __init__(self, inputs, variables):
        self._pairs = {}
        super().__init__(inputs, variables)

    def __contains__(self, variable):
        return variable in self._pairs or super().__contains__(variable)

    def _result(self, variable):
        return f"({', '.join(self._pair(variable))})"

    def _pair(self, variable):
        """Return the names of the bounds of a variable."""
        if variable not in self._pairs:
            if isinstance(variable, Constant):
                pair = tuple(map(str, extrema(variable.data)))
            elif variable.type.ndim:
                pair = self._assigned_pair(f"{self._function(extrema)}({self._name(variable)})")
            else:
                pair = (self._name(variable),) * 2
            self._pairs[variable] = pair
        return self._pairs[variable]

    def _assigned_pair(self, expression):
        names = f"low{len(self.lines)}", f"high{len(self.lines)}"
        self.lines.append(f"{', '.join(names)} = {expression}")
        return names

    def _add(self, node):
        (out,), read = node.outputs, read_by(node)
        if not out.type.ndim and all(isinstance(v, Constant) or v in self._named for v in read):
            return super()._add(node)
        info = None if out.type.dtype == "bool" else np.iinfo(out.type.dtype)
        least, most = (int(info.min), int(info.max)) if info else (0, 1)
        low, high = self._assigned_pair(self._bounds(node) or f"{least}, {most}")
        # Integers that overflow can have any value.
        inside = f"{least} <= {low} and {high} <= {most}"
        self.lines.append(f"if not ({inside}): {low}, {high} = {least}, {most}")
        self._pairs[out] = low, high

    def _bounds(self, node):
        """Return an expression for the bounds of a node's result, or None."""
        op = operation(node)
        if isinstance(op, (*SAME_ELEMENTS, Subtensor)):
            return ", ".join(self._pair(node.inputs[0]))
        if isinstance(op, ps.Switch) and (padding := _padding(node)):
            elements, *variables = padding
            pairs = [bound for v in variables for bound in self._pair(v)]
            return f"{self._function(union_without)}({self._name(elements)}, {', '.join(pairs)})"
        if isinstance(op, ps.Switch | Join):
            joined = node.inputs[isinstance(op, ps.Switch) :]
            lows, highs = zip(*map(self._pair, joined), strict=True)
            return f"min({', '.join(lows)}), max({', '.join(highs)})"
        if isinstance(op, (*INCREASING, ps.Neg, ps.Sub)):
            pairs = list(map(self._pair, node.inputs))
            if isinstance(op, ps.Neg | ps.Sub):
                pairs[-1] = pairs[-1][::-1]
            return ", ".join(formula(op, ends) for ends in zip(*pairs, strict=True))
        return None


def _padding(node):
    """Return an input, and c, x and y, if a node is where(y == c, x, y) of its elements y.

    Labels are often so, where `c` stands for none of the classes.
    """
    condition, *branches = node.inputs
    kind = type(condition.owner and operation(condition.owner))
    if kind not in (ps.EQ, ps.NEQ):
        return None
    x, y = branches if kind is ps.EQ else reversed(branches)
    if y not in condition.owner.inputs:
        return None
    c, elements = condition.owner.inputs[condition.owner.inputs[0] is y], y
    while elements.owner and isinstance(elements.owner.op, SAME_ELEMENTS):
        elements = elements.owner.inputs[0]
    return None if elements.owner or not elements.type.ndim else (elements, c, x, y)


def extrema(array):
    """Return the smallest and the largest element as integers; 0 of none."""
    return (int(np.min(array)), int(np.max(array))) if np.size(array) else (0, 0)


def union_without(array, c, last, x_low, x_high, low, high):
    """Return bounds of two arrays, of the second without the elements that are `c`.

    Parameters
    ----------
    array : numpy.ndarray
        The elements of the second.
    c, last : int
        Bounds of what is left out.
    x_low, x_high, low, high : int
        Bounds of the arrays.
    """
    if c == last and c in (low, high):
        if low == high:
            return x_low, x_high
        unsigned, count = f"u{array.itemsize}", 2 ** (8 * array.itemsize)
        # Read as unsigned, -1 is the largest of all: if c is, all negative elements are c.
        if c == low < 0 <= high and int(array.view(unsigned).max()) == c + count:
            low = 0
        # Modulo a power of two, no distance of another element is as large as that of c.
        elif c == low:
            low += 1
            low += int((array - array.dtype.type(low)).view(unsigned).min())
        else:
            high -= 1
            high -= int((array.dtype.type(high) - array).view(unsigned).min())
    return min(low, x_low), max(high, x_high)
