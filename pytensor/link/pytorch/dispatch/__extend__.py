"""Register our Ops when PyTensor loads its PyTorch dispatch."""

import pytensor.link.pytorch.dispatch.conv
import pytensor.link.pytorch.dispatch.nn
import pytensor.link.pytorch.dispatch.normalization
import pytensor.link.pytorch.dispatch.pool
import pytensor.link.pytorch.dispatch.resize
import pytensor.link.pytorch.dispatch.scalar_functions
import pytensor.link.pytorch.dispatch.topk
import pytensor.link.pytorch.dispatch.vjp

__all__ = []
