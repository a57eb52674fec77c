"""Register our rewrites when PyTensor loads its own."""

import pytensor.tensor.rewriting.batchnorm
import pytensor.tensor.rewriting.channels_last
import pytensor.tensor.rewriting.indices
import pytensor.tensor.rewriting.powers
import pytensor.tensor.rewriting.precision
import pytensor.tensor.rewriting.recompute
import pytensor.tensor.rewriting.solve
import pytensor.tensor.rewriting.static_shapes
import pytensor.tensor.rewriting.updates

__all__ = []
