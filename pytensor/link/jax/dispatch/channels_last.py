import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.rewriting.channels_last import ChannelsLast
from pytensor.tensor.conv.ops import BaseConv


@jax_funcify.register(ChannelsLast)
def jax_funcify_ChannelsLast(op, node=None, **kwargs):
    if isinstance(op.op, BaseConv):
        return jax_funcify(op.op, channels_last=True, **kwargs)
    core = jax_funcify(op.op, **kwargs)

    def channels_last(*inputs):
        # XLA cancels these transpositions against those that the Op's own code begins and ends
        # with where it works channels-last.
        out = core(
            *(jnp.moveaxis(v, -1, 1) if i in op.image_inputs else v for i, v in enumerate(inputs))
        )
        # one array, or one for each of several outputs
        return jax.tree.map(lambda v: jnp.moveaxis(v, 1, -1), out) if op.image_outputs else out

    return channels_last
