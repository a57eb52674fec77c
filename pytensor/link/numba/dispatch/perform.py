"""Ops that Numba runs through their NumPy code."""

import numba

from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.basic import get_numba_type, numba_funcify, numba_njit
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose
from pytensor.tensor.topk import TopK, TopKGrad


@numba_funcify.register(Conv)
@numba_funcify.register(ConvTranspose)
@numba_funcify.register(ConvGradInput)
@numba_funcify.register(ConvGradFilters)
@numba_funcify.register(TopK)
@numba_funcify.register(TopKGrad)
def numba_funcify_through_perform(op, node, **kwargs):
    # PyTensor would do the same unasked, with a warning per node that the Op has no Numba code.
    # These have vectorised NumPy code, and the time is spent in BLAS or in sorting.
    n_outputs = len(node.outputs)
    if n_outputs == 1:
        types = get_numba_type(node.outputs[0].type)
    else:
        types = numba.types.Tuple([get_numba_type(out.type) for out in node.outputs])

    # Numba pickles what `run` refers to.  The node itself would bring the whole graph along, with
    # the values of its shared variables, for each node.
    alone = Apply(op, [v.type() for v in node.inputs], [v.type() for v in node.outputs])

    def run(inputs):
        storage = [[None] for _ in range(n_outputs)]
        op.perform(alone, inputs, storage)
        return storage[0][0] if n_outputs == 1 else tuple(cell[0] for cell in storage)

    @numba_njit
    def perform(*inputs):
        with numba.objmode(result=types):
            result = run(inputs)
        return result

    return perform
