import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.link.pytorch.dispatch.subtensor import (
    check_negative_steps,
)
from pytensor.link.pytorch.dispatch.subtensor import (
    pytorch_funcify_AdvancedIncSubtensor as upstream_advanced_inc_subtensor,
)
from pytensor.tensor.subtensor import AdvancedIncSubtensor, indices_from_subtensor


@pytorch_funcify.register(AdvancedIncSubtensor)
def pytorch_funcify_AdvancedIncSubtensor(op, node, **kwargs):
    # PyTensor's own dispatch refuses slices beside indices that may repeat: the gradient of a
    # lookup along any axis but the first
    repeats = not (op.set_instead_of_inc or op.ignore_duplicates)
    if not repeats or not any(isinstance(entry, slice) for entry in op.idx_list):
        return upstream_advanced_inc_subtensor(op, node, **kwargs)

    def advanced_inc_subtensor(x, y, *flattened_indices):
        indices = indices_from_subtensor(flattened_indices, op.idx_list)
        check_negative_steps(indices)
        where = torch.arange(x.numel(), device=x.device).reshape(x.shape)[indices]
        added = y.to(x.dtype).expand(where.shape)
        return x.flatten().index_add(0, where.flatten(), added.flatten()).reshape(x.shape)

    return advanced_inc_subtensor
