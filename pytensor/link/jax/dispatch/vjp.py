from functools import partial

import jax

from pytensor.link.conversions import Conversions
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_funcify_OpFromGraph
from pytensor.tensor.pullback import SymbolicPullback


@jax_funcify.register(SymbolicPullback)
def jax_funcify_SymbolicPullback(op, **kwargs):
    return jax_pullback(op.op, op, **kwargs)


@partial(Conversions, modules={"pytensor.tensor.pool": "pytensor.link.jax.dispatch.pool"})
def jax_pullback(op, pullback, **kwargs):
    """Return the function for `pullback`, that of `op`; by default its inner graph's."""
    return jax_funcify_OpFromGraph(pullback, **kwargs)


def differentiated(op, pullback, **kwargs):
    """Return the function for `pullback` that JAX makes of the one for `op`."""
    forward = jax_funcify(op, **kwargs)

    def connected(*inputs):
        outputs = forward(*inputs)
        outputs = outputs if isinstance(outputs, tuple | list) else [outputs]
        return [outputs[i] for i in pullback.connected]

    def pull(*arguments):
        inputs, cotangents = pullback.split(arguments)
        gradients = pull_back(connected, *inputs, cotangents=list(cotangents))
        gradients = pullback.select(gradients if len(inputs) > 1 else [gradients])
        return gradients[0] if len(gradients) == 1 else tuple(gradients)

    return pull


@jax_pullback.register(SymbolicPullback)
def jax_pullback_SymbolicPullback(op, pullback, **kwargs):
    innermost = op.op
    while isinstance(innermost, SymbolicPullback):
        innermost = innermost.op
    return jax_pullback.dispatch(type(innermost))(op, pullback, **kwargs)


def pull_back(function, *inputs, cotangents):
    """Return the gradients for a function's inputs, from these and its outputs' gradients."""
    out, vjp = jax.vjp(function, *inputs)
    # In mode JAX, sums of float32 are float64, and gradients through them: see
    # thoughts/upstream/jax-sums-in-accumulator-dtype.md.
    gradients = vjp(jax.tree.map(lambda o, c: c.astype(o.dtype), out, cotangents))
    return gradients[0] if len(inputs) == 1 else tuple(gradients)
