from pytensor import config
from pytensor.link.numba.dispatch.basic import (
    numba_funcify_and_cache_key,
    register_funcify_and_cache_key,
)
from pytensor.link.numba.dispatch.kernels import source_key
from pytensor.scalar.as_written import AsWritten


@register_funcify_and_cache_key(AsWritten)
def numba_funcify_AsWritten(op, node, **kwargs):
    inner = op.scalar_op.make_node(*node.inputs)
    # LLVM would divide by reciprocals, and change the order of sums
    with config.change_flags(numba__fastmath=False):
        function, key = numba_funcify_and_cache_key(op.scalar_op, node=inner, **kwargs)
    return function, key and source_key("as written", key)
