"""Join and split."""

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands_in_result_dtype
from pytensor.tensor.basic import Join, Split


@corrected_funcify.register(Join)
def corrected_funcify_Join(op, node, **kwargs):
    join = with_operands_in_result_dtype(jax_funcify(op, node=node, **kwargs), node)

    def joined(*arrays):
        # XLA fails if an array without elements is sliced out of the result:
        # thoughts/upstream/xla-slice-of-empty-operand.md.
        is_empty = any(not jnp.shape(v)[op.axis] for v in arrays)
        result = join(*arrays)
        return jax.lax.optimization_barrier(result) if is_empty else result

    return joined


@corrected_funcify.register(Split)
def corrected_funcify_Split(op, node, **kwargs):
    # PyTensor's warns where sizes are computed from lengths, which JAX knows.
    def split(x, sizes):
        sizes = np.asarray(sizes)
        if len(sizes) != op.len_splits or (sizes < 0).any() or sizes.sum() != x.shape[op.axis]:
            raise ValueError(
                f"{node.inputs[0]} has {x.shape[op.axis]} elements along axis {op.axis}: it can't "
                f"be split into {op.len_splits} parts of {sizes.tolist()}"
            )
        parts = jnp.split(x, np.cumsum(sizes[:-1]), axis=op.axis)
        return parts if len(parts) > 1 else parts[0]

    return split
