"""Register our rewrites when PyTensor loads its own."""

import pytensor.link.jax.rewriting.channels_last
import pytensor.link.jax.rewriting.recompute
import pytensor.link.jax.rewriting.static_shapes
import pytensor.link.jax.rewriting.updates
import pytensor.tensor.rewriting.batchnorm
import pytensor.tensor.rewriting.indices
import pytensor.tensor.rewriting.powers
import pytensor.tensor.rewriting.precision
import pytensor.tensor.rewriting.solve

__all__ = []
