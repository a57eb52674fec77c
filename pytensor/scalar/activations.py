"""Activation functions as scalar Ops, each defined by one formula for every backend."""

from functools import lru_cache

import numpy as np

from pytensor.graph.facts import precision
from pytensor.scalar.basic import (
    BinaryScalarOp,
    Composite,
    ScalarOp,
    UnaryScalarOp,
    abs,
    cast,
    constant,
    exp,
    expm1,
    get_scalar_type,
    reciprocal,
    scalar_maximum,
    scalar_minimum,
    switch,
    upgrade_to_float,
)
from pytensor.scalar.math import erfc, sigmoid


class ByFormula(ScalarOp):
    """A function given by its `formula`, which is written with scalar Ops that each backend has.

    It sees float32 or float64: half precision is computed in single.  The attributes named in
    `params` are part of the identity.
    """

    params = ()

    def __init__(self, **params):
        for key in self.params:
            setattr(self, key, params[key])
        super().__init__(upgrade_to_float, name=type(self).__name__.lower())

    def formula(self, *inputs):
        """Return the function's value."""
        raise NotImplementedError

    def composite(self, *dtypes):
        """Return the Op as a graph of other scalar Ops, for inputs of these dtypes."""
        return _composite(self, *dtypes)

    def impl(self, *inputs):
        return self.composite(*(np.asarray(v).dtype.name for v in inputs)).impl(*inputs)

    def c_code(self, node, name, inputs, outputs, sub):
        if node.outputs[0].type.dtype == "float16":
            raise NotImplementedError(f"{self.name}: it has no C code for float16")
        composite = self.composite(*(v.type.dtype for v in node.inputs))
        return composite.c_code(node, name, inputs, outputs, sub)

    def _in_double(self):
        return self.composite(*["float64"] * self.nin)

    def c_support_code(self, **kwargs):
        return self._in_double().c_support_code(**kwargs)

    def c_code_cache_version(self):
        return (2, *self._values(), self._in_double().c_code_cache_version())

    def _values(self):
        return tuple(getattr(self, key) for key in self.params)

    def __eq__(self, other):
        return super().__eq__(other) and self._values() == other._values()

    def __hash__(self):
        return hash((super().__hash__(), self._values()))

    def __str__(self):
        values = ", ".join(f"{key}={getattr(self, key)}" for key in self.params)
        return f"{self.name}{{{values}}}" if values else self.name


class Activation(ByFormula, UnaryScalarOp):
    """A function of one number, given by its `formula` and its `derivative`."""

    def derivative(self, x):
        """Return the function's derivative; finite wherever `x` is."""
        raise NotImplementedError

    def pullback(self, inputs, outputs, cotangents):
        (x,), (cotangent,) = inputs, cotangents
        dtype = outputs[0].type.dtype
        return [cotangent * cast(self.derivative(_widened(x, dtype)), dtype)]


def _widened(x, dtype):
    return cast(x, "float32" if dtype == "float16" else dtype)


@lru_cache(maxsize=128)
def _composite(op, *dtypes):
    inputs = [get_scalar_type(dtype)() for dtype in dtypes]
    out = op.make_node(*inputs).outputs[0].type.dtype
    value = cast(op.formula(*(_widened(v, out) for v in inputs)), out)
    return Composite(inputs, [value], name=op.name)


def _like(x, value):
    """Return a constant of the dtype of `x`: a Python number could upgrade it."""
    return constant(np.asarray(value, dtype=x.type.dtype))


def _clip(x, low, high):
    """Return the nearest number between two bounds; NaN stays NaN."""
    return scalar_minimum(scalar_maximum(x, _like(x, low)), _like(x, high))


class SiLU(Activation):
    """x sigmoid(x), also known as swish; Elfwing, Uchibe and Doya, Neural Networks 107 (2018)."""

    def formula(self, x):
        # exp(-|x|) can't overflow
        decay = exp(-abs(x))
        return switch(x < _like(x, 0), x * decay, x) / (_like(x, 1) + decay)

    def pullback(self, inputs, outputs, cotangents):
        (x,), (cotangent,) = inputs, cotangents
        s = sigmoid(x)
        # One product from the left: its rounding is that of trainings that are to go on exactly.
        return [cotangent * s * (1 + x * (1 - s))]


class Gelu(Activation):
    """x Phi(x), with the standard normal distribution function or an approximation of it.

    Hendrycks & Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
    """

    params = ("approximate",)

    def _inner(self, x):
        """Return the clipped x, and the argument of the sigmoid: (1 + tanh(u)) / 2 = sigmoid(2 u).

        Beyond 30, the sigmoid is 0 or 1; the cube must not overflow.
        """
        x = _clip(x, -30, 30)
        return x, x * (
            _like(x, 2 * np.sqrt(2 / np.pi)) * (_like(x, 1) + _like(x, 0.044715) * x * x)
        )

    def _phi(self, x):
        # erfc keeps the digits that 1 + erf would cancel where x is negative
        return _like(x, 0.5) * erfc(x * _like(x, -np.sqrt(0.5)))

    def formula(self, x):
        if self.approximate == "tanh":
            return x * sigmoid(self._inner(x)[1])
        return x * self._phi(x)

    def derivative(self, x):
        if self.approximate == "tanh":
            clipped, u = self._inner(x)
            slope = _like(x, 2 * np.sqrt(2 / np.pi)) * (
                _like(x, 1) + _like(x, 3 * 0.044715) * clipped * clipped
            )
            return sigmoid(u) + clipped * slope * sigmoid(u) * sigmoid(-u)
        # The density is zero in double precision beyond 40
        near = _clip(x, -40, 40)
        density = _like(x, 1 / np.sqrt(2 * np.pi)) * exp(_like(x, -0.5) * near * near)
        return self._phi(x) + near * density


class HardSigmoid(Activation):
    """The line alpha x + beta, cut off at 0 and 1."""

    params = ("alpha", "beta")

    def _line(self, x):
        return _like(x, self.alpha) * x + _like(x, self.beta)

    def formula(self, x):
        return _clip(self._line(x), 0, 1)

    def derivative(self, x):
        line = self._line(x)
        inside = switch(line < _like(x, 1), _like(x, self.alpha), _like(x, 0))
        return switch(line > _like(x, 0), inside, _like(x, 0))


class HardSwish(Activation):
    """x clip((x + 3) / 6, 0, 1); Howard et al., "Searching for MobileNetV3", arXiv:1905.02244."""

    def formula(self, x):
        return x * _clip(x * _like(x, 1 / 6) + _like(x, 0.5), 0, 1)

    def derivative(self, x):
        slope = x * _like(x, 1 / 3) + _like(x, 0.5)
        below = switch(x < _like(x, 3), slope, _like(x, 1))
        return switch(x > _like(x, -3), below, _like(x, 0))


class Elu(Activation):
    """x, and alpha (exp(x) - 1) below zero; Clevert et al., arXiv:1511.07289."""

    params = ("alpha",)

    def formula(self, x):
        negative = _like(x, self.alpha) * expm1(scalar_minimum(x, _like(x, 0)))
        return switch(x > _like(x, 0), x, negative)

    def derivative(self, x):
        negative = _like(x, self.alpha) * exp(scalar_minimum(x, _like(x, 0)))
        return switch(x > _like(x, 0), _like(x, 1), negative)


class Selu(Activation):
    """gamma x, and gamma alpha (exp(x) - 1) below zero; Klambauer et al., arXiv:1706.02515."""

    # With these, zero mean and unit variance are a fixed point
    alpha = 1.6732632423543772
    gamma = 1.0507009873554805

    def _branches(self, x, positive, function):
        negative = _like(x, self.gamma * self.alpha) * function(scalar_minimum(x, _like(x, 0)))
        return switch(x > _like(x, 0), _like(x, self.gamma) * positive, negative)

    def formula(self, x):
        return self._branches(x, x, expm1)

    def derivative(self, x):
        return self._branches(x, _like(x, 1), exp)


class Relu(Activation):
    """x, and 0 below zero; Nair and Hinton, ICML 2010."""

    def formula(self, x):
        return scalar_maximum(x, _like(x, 0))

    def derivative(self, x):
        return switch(x > _like(x, 0), _like(x, 1), _like(x, 0))


class LeakyRelu(Activation):
    """x, and alpha x below zero; Maas et al., "Rectifier nonlinearities", ICML 2013."""

    params = ("alpha",)

    def formula(self, x):
        return switch(x < _like(x, 0), _like(x, self.alpha) * x, x)

    def derivative(self, x):
        return switch(x > _like(x, 0), _like(x, 1), _like(x, self.alpha))


class PRelu(ByFormula, BinaryScalarOp):
    """x, and alpha x below zero; He et al., arXiv:1502.01852."""

    def formula(self, x, alpha):
        return switch(x < _like(x, 0), alpha * x, x)

    def pullback(self, inputs, outputs, cotangents):
        (cotangent,) = cotangents
        dtype = outputs[0].type.dtype
        x, alpha = (_widened(v, dtype) for v in inputs)
        slope = switch(x > _like(x, 0), _like(x, 1), alpha)
        below = switch(x > _like(x, 0), _like(x, 0), x)
        return [cotangent * cast(v, dtype) for v in (slope, below)]


class Relu6(Activation):
    """x, cut off at 0 and 6; Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010."""

    def formula(self, x):
        return _clip(x, 0, 6)

    def derivative(self, x):
        below = switch(x < _like(x, 6), _like(x, 1), _like(x, 0))
        return switch(x > _like(x, 0), below, _like(x, 0))


class Mish(Activation):
    """x tanh(log(1 + exp(x))); Misra, arXiv:1908.08681.

    With e = exp(-|x|), the tanh is a quotient of polynomials of e with positive terms only.
    """

    def _parts(self, x):
        is_positive = x > _like(x, 0)
        # Not -abs(x), whose derivative is 0 at 0
        e, two = exp(switch(is_positive, -x, x)), _like(x, 2)
        numerator = switch(is_positive, _like(x, 1) + two * e, e * (e + two))
        rest = switch(is_positive, two * e * e, two)
        return e, numerator, numerator + rest

    def formula(self, x):
        _, numerator, denominator = self._parts(x)
        return x * (numerator / denominator)

    def derivative(self, x):
        e, numerator, denominator = self._parts(x)
        # tanh + x sigmoid (1 - tanh**2), whose last two factors are the slope
        power = switch(x > _like(x, 0), e * e, e)
        slope = _like(x, 4) * power * (_like(x, 1) + e) / (denominator * denominator)
        return numerator / denominator + x * slope


class Softsign(Activation):
    """x / (1 + |x|); Turian, Bergstra and Bengio, NAACL HLT 2009."""

    def formula(self, x):
        return x / (_like(x, 1) + abs(x))

    def derivative(self, x):
        quotient = reciprocal(_like(x, 1) + abs(x))
        return quotient * quotient


precision.register(ByFormula, lambda op: "cheap")
