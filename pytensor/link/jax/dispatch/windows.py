import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.rewriting.windows import SetWindow, Window


@jax_funcify.register(Window)
def jax_funcify_Window(op, **kwargs):
    def places(x, starts):
        starts = dict(zip(op.axes, starts, strict=True))
        return [jnp.asarray(starts.get(axis, 0), int) for axis in range(x.ndim)]

    def window(x, *starts):
        lengths = dict(zip(op.axes, op.lengths, strict=True))
        shape = [lengths.get(axis, length) for axis, length in enumerate(x.shape)]
        return jax.lax.dynamic_slice(x, places(x, starts), shape)

    def set_window(x, y, *starts):
        return jax.lax.dynamic_update_slice(x, y, places(x, starts))

    return set_window if isinstance(op, SetWindow) else window
