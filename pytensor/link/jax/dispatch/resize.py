import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.resize import Resize


def _lookup(x, indices, axis):
    """Read `x` at constant `indices`; as a broadcast where each cell is repeated equally often.

    The gradient of a broadcast is a plain sum, that of a lookup a scatter.
    """
    length = x.shape[axis]
    factor, rest = divmod(len(indices), length)
    if rest == 0 and np.array_equal(indices, np.arange(len(indices)) // factor):
        shape = (*x.shape[: axis + 1], factor, *x.shape[axis + 1 :])
        repeated = jnp.broadcast_to(jnp.expand_dims(x, axis + 1), shape)
        return repeated.reshape(*x.shape[:axis], len(indices), *x.shape[axis + 1 :])
    return jnp.take(x, indices, axis=axis)


@jax_funcify.register(Resize)
def jax_funcify_Resize(op, **kwargs):
    def resize(x):
        for i in range(op.n_spatial):
            axis = x.ndim - op.n_spatial + i
            terms = []
            for indices, weights in op.taps(x.shape[axis], i):
                term = _lookup(x, indices, axis)
                if weights is not None:
                    shape = [-1 if a == axis else 1 for a in range(x.ndim)]
                    term = term * weights.astype(x.dtype).reshape(shape)
                terms.append(term)
            x = sum(terms[1:], start=terms[0])
        return x

    return resize
