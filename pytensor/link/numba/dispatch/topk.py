from pytensor.link.numba.dispatch.basic import numba_funcify
from pytensor.link.numba.dispatch.perform import numba_funcify_through_perform
from pytensor.tensor.topk import TopK, TopKGrad

numba_funcify.register(TopK, numba_funcify_through_perform)
numba_funcify.register(TopKGrad, numba_funcify_through_perform)
