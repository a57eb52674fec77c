"""Products of matrices."""

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands_in_result_dtype
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.einsum import Einsum
from pytensor.tensor.math import Dot


@corrected_funcify.register(Dot)
@corrected_funcify.register(BatchedDot)
@corrected_funcify.register(Einsum)
def corrected_funcify_Dot(op, node, **kwargs):
    return with_operands_in_result_dtype(jax_funcify(op, node=node, **kwargs), node)
