import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.link.pytorch.dispatch.elemwise import (
    pytorch_funcify_Elemwise as upstream_elemwise,
)
from pytensor.scalar.activations import ByFormula
from pytensor.scalar.basic import EQ, Composite, Mod, Pow
from pytensor.tensor.elemwise import Elemwise

# PyTensor's own dispatch looks for functions of NumPy's names, and torch.equal compares whole
# tensors, torch.mod and torch.power don't exist.
FUNCTIONS = {EQ: torch.eq, Mod: torch.remainder, Pow: torch.pow}

OF_TENSORS = (ByFormula, Composite, *FUNCTIONS)


@pytorch_funcify.register(EQ)
@pytorch_funcify.register(Mod)
@pytorch_funcify.register(Pow)
def pytorch_funcify_scalar(op, **kwargs):
    return FUNCTIONS[type(op)]


@pytorch_funcify.register(Composite)
def pytorch_funcify_Composite(op, node=None, **kwargs):
    # Rewrites of powers make some
    return pytorch_funcify(op.fgraph, squeeze_output=True, **kwargs)


@pytorch_funcify.register(Elemwise)
def pytorch_funcify_Elemwise(op, node, **kwargs):
    # PyTensor's own dispatch maps scalar Ops that no function of PyTorch is named after over each
    # axis with vmap; the functions for these take tensors.
    if not isinstance(op.scalar_op, OF_TENSORS):
        return upstream_elemwise(op, node=node, **kwargs)
    function = pytorch_funcify(op.scalar_op, node=node, **kwargs)

    def elemwise(*inputs):
        Elemwise._check_runtime_broadcast(node, inputs)
        return function(*inputs)

    return elemwise
