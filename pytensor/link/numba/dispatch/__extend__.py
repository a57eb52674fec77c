"""Register our Ops when PyTensor loads its Numba dispatch."""

import pytensor.link.numba.dispatch.conv
import pytensor.link.numba.dispatch.nn
import pytensor.link.numba.dispatch.pool
import pytensor.link.numba.dispatch.resize
import pytensor.link.numba.dispatch.scalar_functions
import pytensor.link.numba.dispatch.topk

__all__ = []
