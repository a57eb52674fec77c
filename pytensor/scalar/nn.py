"""Activation functions as scalar Ops."""

import numpy as np

from pytensor.scalar.basic import UnaryScalarOp, float_types, upgrade_to_float
from pytensor.scalar.math import sigmoid


class SiLU(UnaryScalarOp):
    """Sigmoid linear unit, ``x * sigmoid(x)``, also known as swish."""

    def impl(self, x):
        # exp(-|x|) can't overflow, and half precision is computed in single
        work = np.float32(x) if np.asarray(x).dtype.itemsize <= 2 else x
        decay = np.exp(-np.abs(work))
        value = (work if work >= 0 else work * decay) / (1 + decay)
        return value.astype(np.float16) if getattr(x, "dtype", None) == np.float16 else value

    def pullback(self, inputs, outputs, cotangents):
        (x,) = inputs
        (cotangent,) = cotangents
        s = sigmoid(x)
        return [cotangent * s * (1 + x * (1 - s))]

    def c_code(self, node, name, inputs, outputs, sub):
        (x,), (z,) = inputs, outputs
        if node.inputs[0].type not in float_types:
            raise NotImplementedError("SiLU: C code is written for floating point only")
        exp = "exp" if node.inputs[0].type.dtype == "float64" else "expf"
        one = "1.0" if node.inputs[0].type.dtype == "float64" else "1.0f"
        return f"""
        {{
            const npy_{node.inputs[0].type.dtype} decay = {exp}({x} < 0 ? {x} : -{x});
            {z} = ({x} < 0 ? {x} * decay : {x}) / ({one} + decay);
        }}
        """

    def c_code_cache_version(self):
        return (1,)


silu = SiLU(upgrade_to_float, name="silu")
