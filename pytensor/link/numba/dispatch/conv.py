from pytensor.link.numba.dispatch.basic import numba_funcify
from pytensor.link.numba.dispatch.perform import numba_funcify_through_perform
from pytensor.tensor.conv.ops import BaseConv

numba_funcify.register(BaseConv, numba_funcify_through_perform)
