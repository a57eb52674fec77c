"""Have PyTensor's JAX dispatch import our conversions when it meets their Ops.

And let other backends read JAX's arrays.
"""

import jax
import numpy as np

import pytensor.link.jax.dispatch.table
from pytensor.link.jax.dispatch.basic import jax_typify
from pytensor.link.jax.generators import state_of
from pytensor.link.jax.host_arrays import in_dtype, with_all_bits
from pytensor.link.jax.linker import JAXLinker
from pytensor.link.shared_values import leaves_arrays

jax_typify.register(np.random.Generator, state_of)
leaves_arrays(JAXLinker, jax.Array, with_all_bits, in_dtype)

__all__ = []
