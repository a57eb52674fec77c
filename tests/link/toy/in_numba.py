import numpy as np

from pytensor.link.numba.dispatch.basic import numba_njit, register_funcify_default_op_cache_key
from tests.link.toy.op import Mirror


@register_funcify_default_op_cache_key(Mirror)
def numba_funcify_Mirror(op, **kwargs):
    @numba_njit
    def mirror(x):
        return np.ascontiguousarray(x[..., ::-1])

    return mirror
