from functools import partial

import torch
import torch.nn.functional as F

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.scalar import activations

# PyTorch's own functions; those missing there are written in terms of others
ACTIVATIONS = {
    activations.Elu: lambda op: partial(F.elu, alpha=op.alpha),
    activations.Gelu: lambda op: partial(F.gelu, approximate=op.approximate),
    activations.HardSigmoid: lambda op: lambda x: (op.alpha * x + op.beta).clamp(0, 1),
    activations.HardSwish: lambda op: F.hardswish,
    activations.LeakyRelu: lambda op: partial(F.leaky_relu, negative_slope=op.alpha),
    activations.Mish: lambda op: F.mish,
    activations.PRelu: lambda op: lambda x, alpha: torch.where(x < 0, alpha * x, x),
    activations.Relu: lambda op: F.relu,
    activations.Relu6: lambda op: F.relu6,
    activations.Selu: lambda op: F.selu,
    activations.SiLU: lambda op: F.silu,
    activations.Softsign: lambda op: F.softsign,
}


@pytorch_funcify.register(activations.ByFormula)
def pytorch_funcify_ByFormula(op, node, **kwargs):
    dtype = getattr(torch, node.outputs[0].type.dtype)
    # Half precision is computed in single
    work = torch.float32 if dtype == torch.float16 else dtype
    function = ACTIVATIONS[type(op)](op)

    def activation(*inputs):
        return function(*(v.to(work) for v in inputs)).to(dtype)

    return activation
