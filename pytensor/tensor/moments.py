"""What batch, layer, group, instance and RMS normalization share."""

import numbers
from functools import reduce, wraps
from operator import mul

import numpy as np

from pytensor.gradient import DisconnectedType, disconnected_type, grad
from pytensor.graph.basic import Constant
from pytensor.graph.facts import precision
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, constant
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    own_batch_axes,
    shifted,
    written_out,
)
from pytensor.tensor.math import maximum, reciprocal, sqr, sqrt
from pytensor.tensor.symbolic import TensorSymbolicOp
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


def total(x, axes):
    """Return the sum over `axes`."""
    # The dtype is said because the default would accumulate float32 in float64 in mode JAX too
    # (thoughts/upstream/jax-sums-in-accumulator-dtype.md); and a rewrite that turns all axes into
    # None would forget the dtype.
    # thoughts/upstream/sum-over-all-axes-acc-dtype.md
    axis = None if len(axes) == x.type.ndim else axes
    return x.sum(axis=axis, dtype=x.type.dtype, acc_dtype=x.type.dtype)


def count(x, axes):
    """Count the elements that each statistic is over, in the dtype of `x` (float32 for float16)."""
    dtype = "float32" if x.type.dtype == "float16" else x.type.dtype
    static = [x.type.shape[a] for a in axes]
    if None not in static:
        return constant(np.asarray(np.prod(static), dtype=dtype))
    # Factor by factor: a vector of them would be int64, which JAX lacks with floatX=float32
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
    return mean, centred, total(sqr(centred), axes) / divisor


def inverse_std(variance, epsilon):
    """Return ``1 / sqrt(variance + epsilon)``"""
    return reciprocal(sqrt(variance + np.asarray(epsilon, dtype=variance.type.dtype)))


class GradientsOp(TensorSymbolicOp):
    """Gradients for several inputs as one node, which needn't compute all of them.

    The property `wanted` holds the positions of those that are its outputs; None stands for all.
    A rewrite drops those that nobody reads.
    """

    wanted = None

    def gradients(self, *inputs):
        """Return the gradients for all inputs."""
        raise NotImplementedError

    def build_inner_graph(self, *inputs):
        return self.select(self.gradients(*inputs))

    def select(self, of_all):
        """Return the entries that belong to this Op's outputs."""
        return list(of_all) if self.wanted is None else [of_all[i] for i in self.wanted]

    def only(self, positions):
        """Return the Op with the outputs at these positions alone."""
        everything = range(len(self.output_types)) if self.wanted is None else self.wanted
        props = {name: getattr(self, name) for name in self.__props__}
        return type(self)(**props | {"wanted": tuple(everything[i] for i in positions)})

    def pullback(self, inputs, outputs, cotangents):
        return pullback_as_node(self, inputs, cotangents)


class SymbolicGradients(GradientsOp):
    """Gradients for all inputs of a symbolic Op, from those and the gradients of its outputs.

    A node of its own, and not PyTensor's, because that would carry checks of shapes that JAX can't
    evaluate.  `connected` holds the positions of the outputs whose gradients there are.
    """

    __props__ = ("op", "connected", "wanted")

    def gradients(self, *inputs):
        return self.gradients_through(self.op.build_inner_graph, inputs)

    def gradients_through(self, build, inputs):
        """Return the gradients for all inputs, where `build` makes the Op's outputs of its own."""
        n_inputs = len(inputs) - len(self.connected)
        inputs, cotangents = inputs[:n_inputs], inputs[n_inputs:]
        # Copies, because an output may be an input or computed from another one: a gradient that
        # is known stands for all that flows into a variable
        outputs = [out.copy() for out in build(*inputs)]
        known = {outputs[i]: c for i, c in zip(self.connected, cotangents, strict=True)}
        return grad(None, list(inputs), known_grads=known, disconnected_inputs="ignore")

    def infer_shape(self, node, shapes):
        return self.select(shapes[: len(shapes) - len(self.connected)])


@shifted.register(SymbolicGradients)
def _(op, n):
    inner = shifted(op.op, n)
    return inner and SymbolicGradients(op=inner, connected=op.connected, wanted=op.wanted)


@written_out.register(SymbolicGradients)
def _(op, *inputs):
    return op.select(op.gradients_through(lambda *own: written_out(op.op, *own), inputs))


batch_rule(SymbolicGradients)(leading_batch)
own_batch_axes.register(SymbolicGradients, lambda op, ndim: own_batch_axes(op.op, ndim))


def pullback_as_node(op, inputs, cotangents):
    """Return the gradients for the inputs of a symbolic Op, as outputs of one node."""
    connected = [i for i, c in enumerate(cotangents) if not isinstance(c.type, DisconnectedType)]
    # Where no gradient flows the node would compute zeros
    pattern = op.connection_pattern(None)
    wanted = [n for n, row in enumerate(pattern) if any(row[i] for i in connected)]
    results = [disconnected_type() for _ in inputs]
    if wanted:
        backward = SymbolicGradients(op=op, connected=tuple(connected), wanted=tuple(wanted))
        gradients = backward(*inputs, *(cotangents[i] for i in connected), return_list=True)
        for n, gradient in zip(wanted, gradients, strict=True):
            results[n] = gradient
    return results


@precision.register(SymbolicGradients)
def _(op):
    return "normalization" if precision(op.op) == "normalization" else "single"
