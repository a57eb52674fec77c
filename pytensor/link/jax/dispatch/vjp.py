import jax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.vjp import SymbolicPullback


@jax_funcify.register(SymbolicPullback)
def jax_funcify_SymbolicPullback(op, **kwargs):
    forward = jax_funcify(op.op, **kwargs)

    def pullback(x, cotangent):
        _, vjp = jax.vjp(forward, x)
        return vjp(cotangent)[0]

    return pullback
