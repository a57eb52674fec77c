"""Activation functions."""

from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.elementwise import unary
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import broadcastable, like, normalized
from pytensor.scalar.activations import HardSigmoid
from pytensor.tensor.nn.activations import elementwise, slopes_below_zero
from pytensor.tensor.special import log_softmax, softmax

SELU_ALPHA, SELU_GAMMA = 1.6732632423543772, 1.0507009873554805
PLAIN = {
    "HardSwish": pt.nn.hardswish,
    "Mish": pt.nn.mish,
    "Sigmoid": pt.sigmoid,
    "Softplus": pt.softplus,
    "Softsign": pt.nn.softsign,
}


for _name, _function in PLAIN.items():
    operator_funcify.register(_name)(unary(_function))


@operator_funcify.register("Relu")
def relu(x):
    return pt.maximum(x, like(x, 0)) if x.type.dtype.startswith("int") else pt.nn.relu(x)


@operator_funcify.register("LeakyRelu")
def leaky_relu(x, *, alpha=0.01):
    return pt.nn.leaky_relu(x, alpha)


@operator_funcify.register("PRelu")
def prelu(x, slope):
    _, slope = broadcastable((x, slope))
    if "int" in x.type.dtype:
        return pt.switch(x < like(x, 0), x * slope, x)
    return slopes_below_zero(x, slope)


@operator_funcify.register("Elu")
def elu(x, *, alpha=1.0):
    return pt.nn.elu(x, alpha)


@operator_funcify.register("Celu")
def celu(x, *, alpha=1.0):
    if alpha == 0:
        # 0 times the exponential of infinity, by the standard's formula
        return pt.switch(x < like(x, 0), like(x, 0), like(x, np.nan))
    alpha = like(x, alpha)
    # no exponential of what is positive: its gradient would be infinity times 0
    below = alpha * pt.expm1(pt.minimum(x, like(x, 0)) / alpha)
    return pt.switch(x >= like(x, 0), x, below)


@operator_funcify.register("Selu")
def selu(x, *, alpha=SELU_ALPHA, gamma=SELU_GAMMA):
    return like(x, gamma) * pt.nn.elu(x, alpha)


@operator_funcify.register("Gelu")
def gelu(x, *, approximate: Literal["none", "tanh"] = "none"):
    return pt.nn.gelu(x, approximate=approximate)


@operator_funcify.register("HardSigmoid")
def hard_sigmoid(x, *, alpha=0.2, beta=0.5):
    return elementwise(HardSigmoid(alpha=alpha, beta=beta), x)


@operator_funcify.register("Swish")
def swish(x, *, alpha=1.0):
    return pt.silu(x) if alpha == 1 else x * pt.sigmoid(like(x, alpha) * x)


@operator_funcify.register("ThresholdedRelu")
def thresholded_relu(x, *, alpha=1.0):
    return pt.switch(x > like(x, alpha), x, like(x, 0))


@operator_funcify.register("Shrink")
def shrink(x, *, bias=0.0, lambd=0.5):
    dtype = x.type.dtype
    if dtype in ("int64", "uint64"):
        raise Refused(f"Shrink has floats as attributes, in which {dtype} has no exact values")
    # Integers of up to 32 bits are exact in double precision; fractions are cut off
    x = x if dtype.startswith("float") else pt.cast(x, "float64")
    threshold, bias = like(x, lambd), like(x, bias)
    above = pt.switch(x > threshold, x - bias, like(x, 0))
    return pt.cast(pt.switch(x < -threshold, x + bias, above), dtype)


@operator_funcify.register("Softmax")
def softmax_(x, *, axis=-1):
    return softmax(x, axis=normalized(axis, x.type.ndim))


@operator_funcify.register("LogSoftmax")
def log_softmax_(x, *, axis=-1):
    return log_softmax(x, axis=normalized(axis, x.type.ndim))


# For recurrent networks: functions of x, alpha and beta, and the defaults of those they have
OF_GATES = {
    "affine": (lambda x, a, b: like(x, a) * x + like(x, b), (1.0, 0.0)),
    "elu": (lambda x, a, b: pt.nn.elu(x, a), (1.0,)),
    "hardsigmoid": (lambda x, a, b: hard_sigmoid(x, alpha=a, beta=b), (0.2, 0.5)),
    "leakyrelu": (lambda x, a, b: pt.nn.leaky_relu(x, a), (0.01,)),
    "relu": (lambda x, a, b: pt.nn.relu(x), ()),
    "scaledtanh": (lambda x, a, b: like(x, a) * pt.tanh(like(x, b) * x), (1.0, 1.0)),
    "sigmoid": (lambda x, a, b: pt.sigmoid(x), ()),
    "softplus": (lambda x, a, b: pt.softplus(x), ()),
    "softsign": (lambda x, a, b: pt.nn.softsign(x), ()),
    "tanh": (lambda x, a, b: pt.tanh(x), ()),
    "thresholdedrelu": (lambda x, a, b: pt.switch(x >= like(x, a), x, like(x, 0)), (1.0,)),
}


def of_gates(defaults, directions: int, names, alphas, betas) -> list:
    """Return the activation functions of each direction's gates."""
    names = [*defaults] * directions if names is None else names
    given = [iter(alphas), iter(betas)]
    functions = []
    for name in names:
        if name.lower() not in OF_GATES:
            raise Refused(f"it has the activation {name!r}, which isn't one of the standard's")
        function, values = OF_GATES[name.lower()]
        # Only functions that have a parameter consume a value
        values = [
            float(np.float32(next(it, value))) for it, value in zip(given, values, strict=False)
        ]
        alpha, beta = [*values, None, None][:2]
        functions.append(lambda x, f=function, a=alpha, b=beta: f(x, a, b))
    if len(functions) != len(defaults) * directions:
        raise Refused(
            f"it has {len(names)} activations, and must have {len(defaults)} for each of its "
            f"{directions} directions"
        )
    gates = len(defaults)
    return [functions[d * gates : (d + 1) * gates] for d in range(directions)]
