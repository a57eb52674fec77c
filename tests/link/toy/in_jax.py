import jax.numpy as jnp

from pytensor.link.jax.dispatch import jax_funcify
from tests.link.toy.op import Mirror


@jax_funcify.register(Mirror)
def jax_funcify_Mirror(op, **kwargs):
    def mirror(x):
        return jnp.flip(x, -1)

    return mirror
