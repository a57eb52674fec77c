"""Powers, in the dtype of their results."""

from pytensor.compile import optdb
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.tensor.basic import cast
from pytensor.tensor.math import pow as pt_pow


@node_rewriter([pt_pow])
def local_power_in_result_dtype(fgraph, node):
    """``x ** y`` -> ``cast(x) ** y`` where the result has another dtype than ``x``.

    PyTensor writes constant powers as products of ``x``, which overflow in its dtype: of a uint8,
    ``x ** 2.0`` is 144 for 20.  See thoughts/upstream/pow-in-base-dtype.md.
    """
    base, exponent = node.inputs
    dtype = node.outputs[0].type.dtype
    if base.type.dtype == dtype:
        return None
    power = pt_pow(cast(base, dtype), exponent)
    copy_stack_trace(node.outputs[0], power)
    return [power]


# Just before PyTensor's own rewrite in "specialize", and only in mode ONNX and `jax_mode`.
optdb.register(
    "powers_in_result_dtype",
    dfs_rewriter(local_power_in_result_dtype),
    "onnx",
    "jax_tuned",
    position=1.95,
)
