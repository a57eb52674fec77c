"""Activation functions: ONNX's operators of the same name, where they are as good and as fast."""

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.scalar import output_dtype
from pytensor.scalar import activations


@onnx_funcify.register(activations.Activation)
def onnx_funcify_Activation(op, node, builder, x):
    composite = op.composite(node.inputs[0].type.dtype)
    return builder.inline(composite.fgraph, (x,))


SINGLE = {
    "Gelu": lambda op: ("Gelu", dict(approximate=op.approximate)),
    "Mish": lambda op: ("Mish", {}),
    "HardSwish": lambda op: ("HardSwish", {}),
    "HardSigmoid": lambda op: ("HardSigmoid", dict(alpha=op.alpha,beta=op.beta)),
    "Elu": lambda op: ("Elu", dict(alpha=op.alpha)),
    "LeakyRelu": lambda op: ("LeakyRelu", dict(alpha=op.alpha)),
    "Softsign": lambda op: ("Softsign", {}),
}
