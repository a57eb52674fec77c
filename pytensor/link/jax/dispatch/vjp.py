from functools import singledispatch

import jax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.vjp import SymbolicPullback


@jax_funcify.register(SymbolicPullback)
def jax_funcify_SymbolicPullback(op, **kwargs):
    return jax_pullback(op.op, n_inputs=op.n_inputs, **kwargs)


@singledispatch
def jax_pullback(op, n_inputs=1, **kwargs):
    """Return the function for the gradient of `op`; by default JAX differentiates that of `op`."""
    forward = jax_funcify(op, **kwargs)

    def pullback(*arguments):
        out, vjp = jax.vjp(forward, *arguments[:n_inputs])
        cotangents = arguments[n_inputs:]
        gradients = vjp(tuple(cotangents) if isinstance(out, tuple) else cotangents[0])
        return gradients[0] if n_inputs == 1 else tuple(gradients)

    return pullback
