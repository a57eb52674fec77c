"""`KnownLength`, which plain mode JAX computes while it traces, where lengths are still numbers.

thoughts/upstream/jax-arithmetic-of-lengths.md
"""

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.rewriting.host_integers import HostIntegers
from pytensor.tensor.known_lengths import KnownLength


@jax_funcify.register(KnownLength)
def jax_funcify_KnownLength(op, **kwargs):
    graph = op.fgraph.unfreeze()
    compute = HostIntegers(graph.inputs, graph.outputs, any_op=True).function()

    def known_length(*lengths):
        return compute(lengths)[0]

    return known_length
