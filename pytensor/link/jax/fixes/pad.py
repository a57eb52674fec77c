"""Padding."""

import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.dtypes import with_operands
from pytensor.tensor.pad import Pad


@corrected_funcify.register(Pad)
def corrected_funcify_Pad(op, node, **kwargs):
    if op.has_stat_length or op.pad_mode == "linear_ramp":
        function = _padded_by_numbers(op)
    else:
        function = jax_funcify(op, node=node, **kwargs)
    # JAX rounds means, ramps and constants to the dtype of what is padded:
    # thoughts/upstream/jax-pad.md.
    others = [None] * len(node.inputs[1:])
    return with_operands(function, node, [node.outputs[0].type.dtype, *others])


def _padded_by_numbers(op):
    """Return the function with an option that JAX must know; PyTensor's can't be hashed."""
    option = "stat_length" if op.has_stat_length else "end_values"

    def pad(x, widths, values):
        values = tuple(map(tuple, np.broadcast_to(values, (x.ndim, 2)).tolist()))
        return jnp.pad(x, widths, mode=op.pad_mode, **{option: values})

    return pad
