"""Diagonals, and positions in arrays of several axes or in sorted ones."""

from functools import partial

import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands
from pytensor.tensor.extra_ops import (
    FillDiagonal,
    FillDiagonalOffset,
    RavelMultiIndex,
    SearchsortedOp,
    UnravelIndex,
)


@corrected_funcify.register(FillDiagonal)
def corrected_funcify_FillDiagonal(op, **kwargs):
    # PyTensor's fills the diagonals of the last two axes:
    # thoughts/upstream/jax-diagonals-convolutions.md.
    return partial(jnp.fill_diagonal, inplace=False)


@corrected_funcify.register(FillDiagonalOffset)
def corrected_funcify_FillDiagonalOffset(op, **kwargs):
    def fill_diagonal_offset(a, value, offset):
        rows, columns = (jnp.arange(length) for length in a.shape)
        return jnp.where(columns - rows[:, None] == offset, value, a)

    return fill_diagonal_offset


@corrected_funcify.register(RavelMultiIndex)
def corrected_funcify_RavelMultiIndex(op, **kwargs):
    def ravel_multi_index(*inputs):
        # JAX's takes no lengths that are computed.
        *indices, lengths = inputs
        pairs = list(zip(indices, lengths, strict=True))
        place = 0
        for index, length in pairs if op.order == "C" else reversed(pairs):
            if op.mode == "wrap":
                index = index % length
            elif op.mode == "clip":
                index = jnp.clip(index, 0, length - 1)
            place = place * length + index
        return jnp.asarray(place).astype("int64")

    return ravel_multi_index


@corrected_funcify.register(SearchsortedOp)
def corrected_funcify_SearchsortedOp(op, node, **kwargs):
    common = np.result_type(*(v.type.dtype for v in node.inputs[:2])).name
    others = [None] * len(node.inputs[2:])

    def searchsorted(a, v, sorter=None):
        # PyTensor's takes the sorter for the side: thoughts/upstream/jax-small-conversions.md.
        return jnp.searchsorted(a, v, side=op.side, sorter=sorter)

    return with_operands(searchsorted, node, [common] * 2 + others)


@corrected_funcify.register(UnravelIndex)
def corrected_funcify_UnravelIndex(op, node, **kwargs):
    # PyTensor's ignores the order, and returns a tuple for one output:
    # thoughts/upstream/jax-unravel-index.md.
    backwards = slice(None, None, -1 if op.order == "F" else 1)

    def unravel_index(indices, shape):
        results = jnp.unravel_index(indices, shape[backwards])[backwards]
        return results if len(node.outputs) > 1 else results[0]

    return unravel_index
