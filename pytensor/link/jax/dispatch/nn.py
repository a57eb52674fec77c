import jax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.scalar.nn import SiLU


@jax_funcify.register(SiLU)
def jax_funcify_SiLU(op, **kwargs):
    return jax.nn.silu
