"""Loops that PyTensor's conversion of `Scan` leaves out: by a condition, and with unequal steps."""

from itertools import count

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.tuned.sizes import as_known

__all__ = ["StepsInPython", "while_loop"]


def while_loop(op, step):
    """Return the function of a `Scan` that a condition ends, of which the last values are wanted.

    `step` is the function of its inner graph.  The number of steps may be traced.
    """

    def loop(*outer):
        n_steps, sequences = outer[0], op.outer_seqs(outer)
        constants = op.outer_non_seqs(outer)

        def goes_on(carry):
            i, done, _ = carry
            return (i < n_steps) & ~done

        def body(carry):
            i, _, states = carry
            now = [jax.lax.dynamic_index_in_dim(s, i, keepdims=False) for s in sequences]
            *new, done = step(*now, *states, *constants)
            return i + 1, jnp.asarray(done, bool), new

        states = jax.tree.map(jnp.asarray, op.outer_untraced_sit_sot(list(outer)))
        start = jnp.asarray(0), jnp.asarray(False), states
        last = jax.lax.while_loop(goes_on, body, start)[2]
        return last[0] if len(last) == 1 else last

    return loop


class StepsInPython:
    """An inner graph of a `Scan` whose steps JAX traces one by one: lengths differ within.

    Parameters
    ----------
    fgraph : FrozenFunctionGraph
    step : callable
        The function of the graph.
    sequences : dict of int to numpy.ndarray
        The known sequences, by the places of the graph's inputs.
    """

    def __init__(self, fgraph, step, sequences):
        self.fgraph, self.step, self.sequences = fgraph, step, sequences


@jax_funcify.register(StepsInPython)
def jax_funcify_StepsInPython(graph, **kwargs):
    numbers = count()

    def step(*args):
        i, args = next(numbers), list(args)
        for k, sequence in graph.sequences.items():
            args[k] = as_known(sequence[i])
        with jax.disable_jit(False):  # other loops, within
            return graph.step(*args)

    return step
