"""Register our Ops when PyTensor loads its JAX dispatch, and let others read JAX's arrays."""

import jax

import pytensor.link.jax.dispatch.barrier
import pytensor.link.jax.dispatch.recompute
import pytensor.link.jax.dispatch.broadcasting
import pytensor.link.jax.dispatch.channels_last
import pytensor.link.jax.dispatch.collectives
import pytensor.link.jax.dispatch.conv
import pytensor.link.jax.dispatch.generators
import pytensor.link.jax.dispatch.lengths
import pytensor.link.jax.dispatch.nn
import pytensor.link.jax.dispatch.pool
import pytensor.link.jax.dispatch.resize
import pytensor.link.jax.dispatch.topk
import pytensor.link.jax.dispatch.unpool
import pytensor.link.jax.dispatch.updates
import pytensor.link.jax.dispatch.vjp
import pytensor.link.jax.fixes.callbacks
import pytensor.link.jax.fixes.draws
import pytensor.link.jax.fixes.scalar
import pytensor.link.jax.fixes.scalar_loop
import pytensor.link.jax.fixes.tridiagonal
from pytensor.link.jax.host_arrays import in_dtype, with_all_bits
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.shared_values import leaves_arrays

leaves_arrays(JAXLinker, jax.Array, with_all_bits, in_dtype)

__all__ = []
