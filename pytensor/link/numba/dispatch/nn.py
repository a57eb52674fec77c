import math

import numpy as np

from pytensor.link.numba.dispatch.basic import numba_njit
from pytensor.link.numba.dispatch.scalar import (
    numba_funcify_Composite,
    register_scalar_funcify,
    scalar_op_cache_key,
)
from pytensor.scalar.activations import Activation, PRelu
from pytensor.scalar.nn import SiLU


@register_scalar_funcify(SiLU)
def numba_funcify_SiLU(op, node, **kwargs):
    # Integers are converted first: the negative of an unsigned one would wrap around
    dtype = np.dtype(node.outputs[0].type.dtype).type

    @numba_njit
    def silu(x):
        x = dtype(x)
        decay = math.exp(-abs(x))
        return (x if x >= 0 else x * decay) / (1 + decay)

    return silu, scalar_op_cache_key(op, dtype=np.dtype(dtype).name)


@register_scalar_funcify(Activation)
@register_scalar_funcify(PRelu)
def numba_funcify_Activation(op, node, **kwargs):
    composite = op.composite(*(v.type.dtype for v in node.inputs))
    return numba_funcify_Composite(composite, composite.make_node(*composite.inputs), **kwargs)
