"""Sums, means and variances, and what the normalizations that are made of them share."""

import numbers
from functools import reduce, wraps
from operator import mul

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Constant
from pytensor.graph.facts import improves_inside
from pytensor.scalar.basic import Cast, float32
from pytensor.scalar.basic import cast as scalar_cast
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, constant, switch
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import bitwise_or, isinf, isnan, maximum, reciprocal, sqr, sqrt
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable


def as_floating_point(function: str, x: TensorLike, least: int) -> TensorVariable:
    """Return the input of the function of that name, which must have `least` axes or more."""
    x = as_tensor_variable(x)
    if x.type.dtype not in float_dtypes:
        raise TypeError(
            f"{function}: the input must be floating point, got {x.type.dtype}; cast it first"
        )
    if x.type.ndim < least:
        axes = "1 axis" if least == 1 else f"{least} axes"
        raise ValueError(f"{function}: the input must have {axes} or more, got {x.type.ndim}")
    return x


def as_epsilon(function: str, epsilon: float, name: str = "epsilon") -> float:
    """Check what is added to a variance, an argument of that `name`; 0 is allowed."""
    if not isinstance(epsilon, numbers.Real) or not 0 <= epsilon < np.inf:
        raise ValueError(
            f"{function}: {name} must be a number that isn't negative, got {epsilon!r}"
        )
    return float(epsilon)


def accumulation_dtype(dtype: str) -> str:
    """Return the dtype that sums and weights are computed in: half precision's in single."""
    return "float32" if dtype == "float16" else dtype


class _Widen(Cast):
    """A cast to a wider floating-point dtype whose gradient has the input's own dtype.

    That of PyTensor's cast keeps the wider one, so that a parameter of float16 would get a gradient
    of float32.
    """

    def pullback(self, inputs, outputs, cotangents):
        (x,), (cotangent,) = inputs, cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [cotangent]
        return [scalar_cast(cotangent, x.type.dtype)]


_in_single = Elemwise(_Widen(float32))


def widen(x: TensorVariable) -> TensorVariable:
    """Return `x` in the dtype of its sums; its gradient has the dtype of `x`."""
    if accumulation_dtype(x.type.dtype) == x.type.dtype:
        return x
    wide: TensorVariable = _in_single(x)
    return wide


def half_in_single(build_inner_graph):
    """Compute float16 in float32: sums and counts overflow at 65,504 otherwise."""

    @wraps(build_inner_graph)
    def build(self, *inputs):
        if inputs[0].type.dtype != "float16":
            return build_inner_graph(self, *inputs)
        outputs = build_inner_graph(self, *(cast(v, "float32") for v in inputs))
        return [cast(out, "float16") for out in outputs]

    return build


def expand(parameter, axes, ndim):
    """Insert broadcast axes where a tensor of `ndim` axes is reduced."""
    kept = iter(range(parameter.type.ndim))
    return parameter.dimshuffle(["x" if a in axes else next(kept) for a in range(ndim)])


def total(x, axes, *, keepdims=False):
    """Return the sum over `axes`, accumulated in the dtype of `x`."""
    # The dtype is said because backends would accumulate float32 in float64 by default
    # (thoughts/upstream/jax-sums-in-accumulator-dtype.md); and a rewrite that turns all axes into
    # None would forget the dtype.
    # thoughts/upstream/sum-over-all-axes-acc-dtype.md
    axes = None if len(axes) == x.type.ndim else tuple(axis % x.type.ndim for axis in axes)
    return x.sum(axis=axes, keepdims=keepdims, dtype=x.type.dtype, acc_dtype=x.type.dtype)


def count(x, axes):
    """Count the elements that each statistic is over, in the dtype of `x` (float32 for float16)."""
    dtype = accumulation_dtype(x.type.dtype)
    static = [x.type.shape[a] for a in axes]
    if None not in static:
        return constant(np.asarray(np.prod(static), dtype=dtype))
    # Factor by factor: a vector of them would be int64, which a backend may lack
    return cast(reduce(mul, [x.shape[a] for a in axes]), dtype)


def at_least_one(number):
    """Return the divisor for a count, with which the mean of no elements is 0."""
    if isinstance(number, Constant):
        return constant(np.maximum(number.data, number.data.dtype.type(1)))
    return maximum(number, np.asarray(1, dtype=number.type.dtype))


def moments(x, axes, number, *, centre=True):
    """Return the mean over `axes`, `x` less its mean, and the biased variance.

    The variance is taken of the differences: the mean of squares less the square of the mean would
    have no digit left where the mean is large.  Without `centre`, 0 stands in for the mean.
    """
    divisor = at_least_one(number)
    mean = total(x, axes) / divisor if centre else None
    centred = x - expand(mean, axes, x.type.ndim) if centre else x
    if centre and isinstance(number, Constant) and number.data == 1:
        # PyTensor takes the sum of one element for the element, and x - x for 0, whatever x is.
        # thoughts/upstream/sums-of-one-element.md
        nan = np.asarray(np.nan, x.type.dtype)
        centred = switch(bitwise_or(isnan(x), isinf(x)), nan, centred)
    return mean, centred, total(sqr(centred), axes) / divisor


def inverse_std(variance, epsilon):
    """Return ``1 / sqrt(variance + epsilon)``"""
    return reciprocal(sqrt(variance + np.asarray(epsilon, dtype=variance.type.dtype)))


class SumOfSquares(OpFromGraph):
    """The sum of the squares of all elements of its inputs, by the graph that it was made with."""


improves_inside.register(SumOfSquares, lambda op: False)
