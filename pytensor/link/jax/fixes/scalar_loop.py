import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.scalar.loop import ScalarLoop


@jax_funcify.register(ScalarLoop)
def jax_funcify_ScalarLoop(op, **kwargs):
    step = jax_funcify(op.fgraph)
    carried = len(op.outputs) - op.is_while
    dtypes = [jax.dtypes.canonicalize_dtype(v.type.dtype) for v in op.inputs]

    def loop(n_steps, *inputs):
        values = [jnp.asarray(x).astype(dtype) for x, dtype in zip(inputs, dtypes, strict=True)]
        carry, constants = values[:carried], values[carried:]

        def goes_on(state):
            k, done, _ = state
            return (k < n_steps) & ~done

        def advance(state):
            k, done, carry = state
            results = step(*carry, *constants)
            if op.is_while:
                *results, done = results
            # A number of Python's has no dtype of its own.
            results = [jnp.asarray(x).astype(v.dtype) for x, v in zip(results, carry, strict=True)]
            return k + 1, jnp.asarray(done), results

        # Without a step the condition is False, as in Python and Numba, where C has True:
        # thoughts/upstream/loops-and-diagonals-in-python.md.
        start = jnp.zeros_like(n_steps), jnp.asarray(False), carry
        _, done, carry = jax.lax.while_loop(goes_on, advance, start)
        results = (*carry, done) if op.is_while else tuple(carry)
        return results[0] if len(results) == 1 else results

    return jnp.vectorize(loop)
