"""Checks of arguments, and conversions of inputs, that several modules of `pt.nn` share."""

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, constant, switch
from pytensor.tensor.batching import shapes_differ
from pytensor.tensor.conv.basic import is_int
from pytensor.tensor.moments import widen
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.type import float_dtypes, integer_dtypes
from pytensor.tensor.variable import TensorConstant, TensorVariable


def number(function: str, name: str, value: float) -> float:
    """Check an argument that is a finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or value - value != 0:
        raise ValueError(f"{function}: {name} must be a finite number, got {value!r}")
    return float(value)


def nonnegative(function: str, name: str, value: float, most: float = np.inf) -> float:
    """Check an argument that is a number from 0 to `most`, both included."""
    if not 0 <= number(function, name, value) <= most:
        limits = f"from 0 to {most:g}" if most < np.inf else "that is 0 or more"
        raise ValueError(f"{function}: {name} must be a number {limits}, got {value!r}")
    return float(value)


def integer(function: str, name: str, value: int, least: int | None = None) -> int:
    """Check an argument that is an integer."""
    if not is_int(value) or (least is not None and value < least):
        limit = "" if least is None else f" that is {least} or more"
        raise ValueError(f"{function}: {name} must be an integer{limit}, got {value!r}")
    return int(value)


def one_of(function: str, name: str, value: str, options: Iterable[str]) -> str:
    """Check an argument that is one of a few names."""
    options = list(options)
    if value not in options:
        names = ", ".join(map(repr, options))
        raise ValueError(f"{function}: {name} must be one of {names}; got {value!r}")
    return value


def axis_of(function: str, x: TensorVariable, dim: int) -> int:
    """Check an axis of `x`; return it counted from the first one."""
    n = x.type.ndim
    if not is_int(dim) or not -n <= dim < n:
        raise ValueError(f"{function}: dim must be an axis of x, which has {n}; got {dim!r}")
    return int(dim) % n


def floats(function: str, name: str, x: TensorLike, *axes: int) -> TensorVariable:
    """Return an input that must be floating point, with one of the numbers of axes, if given."""
    x = as_tensor_variable(x)
    if x.type.dtype not in float_dtypes:
        raise TypeError(
            f"{function}: {name} must be floating point, got {x.type.dtype}; cast it first"
        )
    has_axes(function, name, x, axes)
    return x


def integers(function: str, name: str, x: TensorLike, *axes: int) -> TensorVariable:
    """Return an input that must be integers, with one of the numbers of axes, if given."""
    x = as_tensor_variable(x)
    if x.type.dtype not in integer_dtypes:
        raise TypeError(f"{function}: {name} must be integers, got {x.type.dtype}")
    has_axes(function, name, x, axes)
    return x


def has_axes(function: str, name: str, x: TensorVariable, axes: Sequence[int]) -> None:
    """Check the number of axes."""
    if axes and x.type.ndim not in axes:
        wanted = " or ".join(map(str, axes))
        raise ValueError(f"{function}: {name} must have {wanted} axes, got {x.type.ndim}")


def of_shape(
    function: str, name: str, x: TensorVariable, lengths: Sequence[Any], why: str
) -> TensorVariable:
    """Return an input that must have these lengths: integers, variables, or None for any.

    Lengths that are known are compared at once, and at run time an axis that would else be
    broadcast: one of the two lengths is known to be 1.  `why` says where the wanted ones are from.
    """
    shape = tuple(n if is_int(n) else None for n in lengths)
    if shapes_differ(x.type.shape, shape):
        raise ValueError(f"{function}: {name} must have shape {shape}, {why}; got {x.type.shape}")
    both = zip(x.type.shape, shape, lengths, strict=True)
    return specify_shape(x, [n if (own == 1) != (known == 1) else None for own, known, n in both])


def like(value: float, x: TensorVariable) -> TensorConstant:
    """Return a number as a constant of the dtype of `x`: others would change its dtype."""
    number_: Any = constant(np.asarray(value, dtype=x.type.dtype))
    return number_


def single(*values: TensorVariable) -> list[TensorVariable]:
    """Return half precision in single: sums and exponentials overflow otherwise."""
    return [widen(v) for v in values]


def where(condition: TensorVariable, yes: TensorVariable, no: TensorVariable) -> TensorVariable:
    """Choose by a condition that has no gradient: PyTensor's is of floatX, whatever is compared."""
    return switch(disconnected_grad(condition), yes, no)
