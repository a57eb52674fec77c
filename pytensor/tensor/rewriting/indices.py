"""Constant indices, in a dtype whose differences don't wrap."""

from pytensor.compile import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.tensor.basic import constant
from pytensor.tensor.subtensor import AdvancedSubtensor


@node_rewriter([AdvancedSubtensor])
def local_signed_constant_indices(fgraph, node):
    """``x[[3, 0]]`` of unsigned constants -> of int64.

    PyTensor takes the step from 3 to 0 in their dtype and makes a slice with step 253 of them.
    See thoughts/upstream/slice-of-unsigned-indices.md.
    """
    x, *indices = node.inputs
    signed = [
        constant(index.data.astype("int64")) if _is_narrow_unsigned(index) else index
        for index in indices
    ]
    if signed == indices:
        return None
    new = node.op(x, *signed)
    copy_stack_trace(node.outputs[0], new)
    return [new]


def _is_narrow_unsigned(index):
    # What is beyond int64 is beyond every axis, and stays for the error that it is.
    return (
        isinstance(index, Constant)
        and getattr(index.type, "ndim", 0) > 0
        and index.type.dtype.startswith("uint")
        and index.data.max(initial=0) < 2**63
    )


# Before everything that looks at indices, and only in mode ONNX and `jax_mode`.
optdb.register(
    "signed_constant_indices",
    dfs_rewriter(local_signed_constant_indices),
    "onnx",
    "jax_tuned",
    position=-0.5,
)
