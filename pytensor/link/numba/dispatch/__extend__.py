"""Register our Ops when PyTensor loads its Numba dispatch."""

import pytensor.link.numba.dispatch.nn
import pytensor.link.numba.dispatch.perform

__all__ = []
