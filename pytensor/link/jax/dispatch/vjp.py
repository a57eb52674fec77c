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
        cotangents = arguments[n_inputs:]
        cotangents = cotangents[0] if len(cotangents) == 1 else cotangents
        return pull_back(forward, *arguments[:n_inputs], cotangents=cotangents)

    return pullback


def pull_back(function, *inputs, cotangents):
    """Return the gradients for a function's inputs, from these and the gradients of its outputs."""
    out, vjp = jax.vjp(function, *inputs)
    # In mode JAX, sums of float32 are float64, and gradients through them: see
    # thoughts/upstream/jax-sums-in-accumulator-dtype.md.
    gradients = vjp(jax.tree.map(lambda o, c: c.astype(o.dtype), out, cotangents))
    return gradients[0] if len(inputs) == 1 else tuple(gradients)
