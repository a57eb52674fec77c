import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.scalar.nn import SiLU


@jax_funcify.register(SiLU)
def jax_funcify_SiLU(op, node, **kwargs):
    dtype = node.outputs[0].type.dtype

    def silu(x):
        # jax.nn.silu takes floating point only
        return jax.nn.silu(jnp.asarray(x).astype(dtype))

    return silu
