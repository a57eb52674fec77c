"""Mode PYTORCH for graphs with nodes that PyTensor's conversions refuse or get wrong.

::

    step = pytensor.function([x, y], loss, updates=updates, mode=pytorch_mode())

Comparisons for equality, remainders, powers, positions of maxima and gradients of lookups have
conversions here, in a table that is asked before PyTensor's; mode PYTORCH doesn't look here.  What
PyTensor's get wrong: thoughts/upstream/pytorch-conversions.md.
"""

from math import prod

import torch

from pytensor.compile.mode import Mode, get_mode
from pytensor.link.conversions import Conversions
from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.link.pytorch.dispatch.subtensor import check_negative_steps
from pytensor.link.pytorch.linker import PytorchLinker
from pytensor.scalar.activations import Activation, PRelu
from pytensor.scalar.basic import EQ, Composite, Mod, Pow, upcast
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import Argmax
from pytensor.tensor.subtensor import AdvancedIncSubtensor, indices_from_subtensor

__all__ = ["CorrectedPytorchLinker", "pytorch_mode"]

# PyTensor looks for functions of NumPy's names: torch.equal compares whole tensors, torch.mod and
# torch.power don't exist.
FUNCTIONS = {EQ: torch.eq, Mod: torch.remainder, Pow: torch.pow}
# PyTensor maps the functions for scalar Ops that no function of PyTorch is named after over each
# axis; but those for these take tensors.
OF_TENSORS = (Activation, PRelu, Composite, *FUNCTIONS)


class CorrectedPytorchLinker(PytorchLinker):
    """PyTorch linker with the conversions of this module."""

    def fgraph_convert(self, fgraph, **kwargs):
        def convert(op, **kwargs):
            function = corrected_funcify(op, **kwargs)
            # As PyTensor's linker does for its own conversion, for torch.compile.
            self.gen_functors.append((f"_{kwargs['unique_name'](function)}", function))
            return function

        return super().fgraph_convert(fgraph, conversion_func=convert, **kwargs)


def pytorch_mode():
    """Return mode PYTORCH with a `CorrectedPytorchLinker`.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    return Mode(CorrectedPytorchLinker(), get_mode("PYTORCH").provided_optimizer)


@Conversions
def corrected_funcify(op, **kwargs):
    """Convert as `pytorch_funcify`, with the conversions of this module."""
    return pytorch_funcify(op, **kwargs)


@corrected_funcify.register(EQ)
@corrected_funcify.register(Mod)
@corrected_funcify.register(Pow)
def corrected_funcify_scalar(op, node=None, **kwargs):
    function = FUNCTIONS[type(op)]
    dtypes = [] if node is None else [v.type.dtype for v in node.inputs]
    if len(set(dtypes)) < 2:
        return function
    # PyTorch would take integers and float32 to float32, PyTensor takes them to float64.
    common = getattr(torch, upcast(*dtypes))

    def of_common_dtype(*inputs):
        return function(*(torch.as_tensor(v, dtype=common) for v in inputs))

    return of_common_dtype


@corrected_funcify.register(Composite)
def corrected_funcify_Composite(op, node=None, **kwargs):
    # Rewrites of powers make some.
    return pytorch_funcify(op.fgraph, squeeze_output=True, **kwargs)


@corrected_funcify.register(Elemwise)
def corrected_funcify_Elemwise(op, node, **kwargs):
    if not isinstance(op.scalar_op, OF_TENSORS):
        return pytorch_funcify(op, node=node, **kwargs)
    function = corrected_funcify(op.scalar_op, node=node, **kwargs)

    def elemwise(*inputs):
        Elemwise._check_runtime_broadcast(node, inputs)
        return function(*inputs)

    return elemwise


@corrected_funcify.register(Argmax)
def corrected_funcify_Argmax(op, node, **kwargs):
    # PyTensor has none.
    ndim = node.inputs[0].type.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    kept = [axis for axis in range(ndim) if axis not in axes]

    def argmax(x):
        if x.dtype == torch.bool:
            x = x.to(torch.uint8)  # of booleans, PyTorch has none
        # Not -1, which may be any number where there is no row.
        x = x.permute(*kept, *axes)
        return x.reshape(*x.shape[: len(kept)], prod(x.shape[len(kept) :])).argmax(dim=-1)

    return argmax


@corrected_funcify.register(AdvancedIncSubtensor)
def corrected_funcify_AdvancedIncSubtensor(op, node, **kwargs):
    # PyTensor refuses slices next to indices that may repeat: the gradient of a lookup along any
    # axis but the first.
    repeats = not (op.set_instead_of_inc or op.ignore_duplicates)
    if not repeats or not any(isinstance(entry, slice) for entry in op.idx_list):
        return pytorch_funcify(op, node=node, **kwargs)

    def advanced_inc_subtensor(x, y, *flattened_indices):
        indices = indices_from_subtensor(flattened_indices, op.idx_list)
        check_negative_steps(indices)
        where = torch.arange(x.numel(), device=x.device).reshape(x.shape)[indices]
        added = y.to(x.dtype).expand(where.shape)
        return x.flatten().index_add(0, where.flatten(), added.flatten()).reshape(x.shape)

    return advanced_inc_subtensor
