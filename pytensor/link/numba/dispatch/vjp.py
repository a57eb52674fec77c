from functools import singledispatch

from pytensor.link.numba.dispatch.basic import register_funcify_and_cache_key
from pytensor.link.numba.dispatch.compile_ops import numba_funcify_OpFromGraph
from pytensor.tensor.pullback import SymbolicPullback


@singledispatch
def numba_pullback(op, node, symbolic, **kwargs):
    """Return the function for the gradient of `op`, and its key; by default the inner graph's."""
    return numba_funcify_OpFromGraph(symbolic, node=node, **kwargs)


@register_funcify_and_cache_key(SymbolicPullback)
def numba_funcify_SymbolicPullback(op, node, **kwargs):
    return numba_pullback(op.op, node, op, **kwargs)
