"""Scalar Ops that one formula of floats converts."""

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.formula import Term

# Formulas of scalar Ops that other packages define, by the function that such an Op names.
NAMED = {}


def named_formula(name):
    """Register ``function(*terms) -> term`` for scalar Ops whose `nfunc_spec` has this name."""

    def register(function):
        NAMED[name] = function
        return function

    return register


def scalar_formula(op_class):
    """Register ``function(*terms) -> term`` as the converter of a scalar Op of floats."""

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, builder, *inputs):
            return write_formula(function, node, builder, inputs)

        return function

    return register


def write_formula(function, node, builder, inputs):
    terms = [
        Term(builder, builder.cast(name, variable.type.dtype, "float64"))
        for name, variable in zip(inputs, node.inputs, strict=True)
    ]
    dtype = node.outputs[0].type.dtype
    return builder.cast(function(*terms).name, "float64", dtype)
