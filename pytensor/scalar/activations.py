"""Activation functions as scalar Ops, each defined by one formula for every backend."""

from functools import lru_cache

import numpy as np

from pytensor.scalar.basic import (
    Composite,
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


class Activation(UnaryScalarOp):
    """A function of one number, given by its `formula` and its `derivative`.

    Both are written with scalar Ops that each backend has, and see float32 or float64: half
    precision is computed in single.  The attributes named in `params` are part of the identity.
    """

    params = ()

    def __init__(self, **params):
        for key in self.params:
            setattr(self, key, params[key])
        super().__init__(upgrade_to_float, name=type(self).__name__.lower())

    def formula(self, x):
        """The function's value."""
        raise NotImplementedError

    def derivative(self, x):
        """The function's derivative; finite wherever `x` is."""
        raise NotImplementedError

    def composite(self, dtype):
        """The Op as a graph of other scalar Ops, for inputs of `dtype`."""
        return _composite(self, dtype)

    def impl(self, x):
        return self.composite(np.asarray(x).dtype.name).impl(x)

    def pullback(self, inputs, outputs, cotangents):
        (x,), (cotangent,) = inputs, cotangents
        dtype = outputs[0].type.dtype
        return [cotangent * cast(self.derivative(_widened(x, dtype)), dtype)]

    def c_code(self, node, name, inputs, outputs, sub):
        if node.outputs[0].type.dtype == "float16":
            raise NotImplementedError(f"{self.name}: there is no C code for half precision")
        composite = self.composite(node.inputs[0].type.dtype)
        return composite.c_code(node, name, inputs, outputs, sub)

    def c_support_code(self, **kwargs):
        return self.composite("float64").c_support_code(**kwargs)

    def c_code_cache_version(self):
        return (1, *self._values(), self.composite("float64").c_code_cache_version())

    def _values(self):
        return tuple(getattr(self, key) for key in self.params)

    def __eq__(self, other):
        return super().__eq__(other) and self._values() == other._values()

    def __hash__(self):
        return hash((super().__hash__(), self._values()))

    def __str__(self):
        values = ", ".join(f"{key}={getattr(self, key)}" for key in self.params)
        return f"{self.name}{{{values}}}" if values else self.name


def _widened(x, dtype):
    return cast(x, "float32" if dtype == "float16" else dtype)


@lru_cache(maxsize=128)
def _composite(op, dtype):
    x = get_scalar_type(dtype)()
    out = op.make_node(x).outputs[0].type.dtype
    return Composite([x], [cast(op.formula(_widened(x, out)), out)], name=op.name)


def _like(x, value):
    """A constant of the dtype of `x`: a Python number could upgrade it."""
    return constant(np.asarray(value, dtype=x.type.dtype))


def _clip(x, low, high):
    """The nearest number between two bounds; NaN stays NaN."""
    return scalar_minimum(scalar_maximum(x, _like(x, low)), _like(x, high))


class Gelu(Activation):
    """x Phi(x), with the standard normal distribution function or an approximation of it.

    Hendrycks & Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.
    """

    params = ("approximate",)

    def _inner(self, x):
        """The clipped x, and the argument of the sigmoid: (1 + tanh(u)) / 2 = sigmoid(2 u).

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


class LeakyRelu(Activation):
    """x, and alpha x below zero; Maas et al., "Rectifier nonlinearities", ICML 2013."""

    params = ("alpha",)

    def formula(self, x):
        return switch(x < _like(x, 0), _like(x, self.alpha) * x, x)

    def derivative(self, x):
        return switch(x > _like(x, 0), _like(x, 1), _like(x, self.alpha))


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
        e, two = exp(-abs(x)), _like(x, 2)
        is_positive = x > _like(x, 0)
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
