"""Checks of integers that JAX knows while it traces."""

import numpy as np
from jax.core import Tracer

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.rewriting.host_integers import computed_from
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.type import discrete_dtypes


@corrected_funcify.register(CheckAndRaise)
def corrected_funcify_CheckAndRaise(op, node, **kwargs):
    read = computed_from(node.inputs[1:])
    if any(getattr(v.type, "dtype", None) not in discrete_dtypes for v in read):
        return jax_funcify(op, node=node, **kwargs)

    def check(x, *conditions):
        # JAX knows shapes while it traces, and integers that are part of the program: PyTensor's
        # leaves out these checks too, and warns.
        if not all(isinstance(c, Tracer) or np.asarray(c).all() for c in conditions):
            raise op.exc_type(op.msg)
        if read and any(isinstance(c, Tracer) for c in conditions):
            jax_funcify(op, node=node, **kwargs)  # which warns
        return x

    return check
