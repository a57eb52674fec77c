"""Sigmoid, softplus and the like."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import output_dtype
from pytensor.link.onnx.write.formula import (
    double_formula,
    exp,
    expm1,
    log,
    log1p,
    minus_abs,
    scalar_formula,
)
from pytensor.link.onnx.write.term import maximum, where
from pytensor.scalar import math as psm


# onnxruntime's kernel is off by 1e-7 in single precision, as much as rounding a number near 1 is.
# In double precision it's off by 1e-12 of the result, and zero below -40.
# thoughts/upstream/onnxruntime-rounding.md
@double_formula(psm.Sigmoid, "Sigmoid")
def sigmoid(x):
    decay = exp(minus_abs(x))
    return where(x < 0.0, decay, 1.0) / (1.0 + decay)


@onnx_funcify.register(psm.Softplus)
def onnx_funcify_Softplus(op, node, x):
    x = x.cast(output_dtype(node))
    if x.dtype != "float64":
        # In half precision onnxruntime has no kernel: it computes log(1 + exp(x)), which overflows.
        return x.cast("float32").node("Softplus").cast(x.dtype)
    return maximum(x, 0.0) + log1p(exp(minus_abs(x)))


@scalar_formula(psm.Log1mexp)
def log1mexp(x):
    # M. Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.
    return where(x < -np.log(2), log1p(-exp(x)), log(-expm1(x)))
