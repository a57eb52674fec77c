"""Products of matrices, and softmax."""

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands_in_result_dtype
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.einsum import Einsum
from pytensor.tensor.math import Dot
from pytensor.tensor.special import LogSoftmax, Softmax


@corrected_funcify.register(Dot)
@corrected_funcify.register(BatchedDot)
@corrected_funcify.register(Einsum)
@corrected_funcify.register(LogSoftmax)
@corrected_funcify.register(Softmax)
def corrected_funcify_in_result_dtype(op, node, **kwargs):
    return with_operands_in_result_dtype(jax_funcify(op, node=node, **kwargs), node)
