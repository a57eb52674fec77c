import jax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.rewriting.recompute import Barrier


@jax_funcify.register(Barrier)
def jax_funcify_Barrier(op, node, **kwargs):
    if len(node.outputs) == 1:
        return jax.lax.optimization_barrier

    def barrier(*values):
        return jax.lax.optimization_barrier(values)

    return barrier
