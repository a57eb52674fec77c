"""Values whose number of axes depends on a condition, until the nodes that read them say which.

torch writes `squeeze` of an axis of open length as an If: one branch has an axis less. Files such
as silero-vad's declare no shape of its result, or one that fits neither branch, so only the nodes
that read it tell.
"""

from dataclasses import dataclass
from typing import Any

import pytensor.tensor as pt
from pytensor.conditional import ifelse
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx.importing.registry import Refused
from pytensor.link.onnx.importing.sizes import length_of
from pytensor.raise_op import Assert

MOST = 16  # values that one may be


@dataclass(eq=False)
class Either:
    """One of two values, by a condition; each may be such a one itself."""

    condition: Variable  # a scalar of bools
    then: Any
    otherwise: Any
    label: str  # of the If

    def side(self, number: int) -> Any:
        """Return the value if the condition holds, for 0, and the other one for 1."""
        return self.otherwise if number else self.then


@dataclass(eq=False)
class Rows:
    """A sequence of a tensor's parts, one for each cell of an axis of open length."""

    x: Any
    axis: int
    keepdims: bool


def taken(value: Any, condition: Variable, number: int) -> Any:
    """Return what a value is on one side of a condition."""
    if isinstance(value, Either) and value.condition is condition:
        return taken(value.side(number), condition, number)
    return value


def joined(either: Either, then: Any, otherwise: Any) -> Any:
    """Return results of the two sides, as one variable if that loses nothing."""
    if isinstance(then, list) or isinstance(otherwise, list):
        raise Refused(f"it makes a sequence of a value whose number of axes {why(either)}")
    if isinstance(then, Variable) and isinstance(otherwise, Variable):
        a, b = then.type, otherwise.type
        if a.dtype != b.dtype:
            raise Refused(f"its result is of dtype {a.dtype} or {b.dtype}, which {why(either)}")
        # Not for integers, which may be a shape, whose entries must stay known
        if a.ndim == b.ndim and (a.dtype.startswith("float") or a.shape == b.shape):
            return ifelse(either.condition, then, otherwise)
    if _sides(then) + _sides(otherwise) > MOST:
        raise Refused(f"it may have one of more than {MOST} shapes, of which {why(either)}")
    return Either(either.condition, then, otherwise, either.label)


def _sides(value):
    return sum(_sides(value.side(n)) for n in (0, 1)) if isinstance(value, Either) else 1


def checked(either: Either, number: int, value: Any) -> Any:
    """Return the value of the one side that fits the rest of the model, which run time checks."""
    if not isinstance(value, Variable):
        return value
    holds = pt.invert(either.condition) if number else either.condition
    branch = ("then_branch", "else_branch")[number]
    text = f"the model fits only the {branch} of an If ({either.label}), which isn't taken"
    return Assert(text)(value, holds)


def of_rank(value: Any, ndim: int | None) -> Any:
    """Return a value of `ndim` axes, which run time checks.

    Raises
    ------
    Refused
        If nothing says which side it is.
    """
    if not isinstance(value, Either):
        return value
    sides = [of_rank(value.side(number), ndim) for number in (0, 1)]
    ranks = [side.type.ndim for side in sides]
    if ranks[0] == ranks[1]:
        return ifelse(value.condition, *sides)
    if ndim not in ranks:
        raise Refused(
            f"it has {ranks[0]} or {ranks[1]} axes, which {why(value)}: fix it in the model, or "
            f"give from_onnx an input of known shape"
        )
    return checked(value, ranks.index(ndim), sides[ranks.index(ndim)])


def why(either: Either) -> str:
    """Say what the condition depends on, as the end of a sentence."""
    found = filter(None, map(length_of, ancestors([either.condition])))
    lengths = sorted({f"the length of axis {axis} of {x.name!r}" for x, axis in found if x.name})
    return f"{' and '.join(lengths) or 'a value'} decides (If: {either.label})"
