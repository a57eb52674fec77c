"""Register our Ops when PyTensor loads its Numba dispatch."""

import pytensor.link.numba.dispatch.nn
import pytensor.link.numba.dispatch.perform
import pytensor.link.numba.dispatch.pool
import pytensor.link.numba.dispatch.resize

__all__ = []
