"""Loops of scalars, each element with its own number of steps."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import where
from pytensor.scalar.loop import ScalarLoop


@onnx_funcify.register(ScalarLoop)
def onnx_funcify_ScalarLoop(op, node, n_steps, *inputs):
    n_states = len(op.outputs) - op.is_while
    n_steps, *states = broadcast_first([n_steps.cast("int64"), *inputs], n_states + 1)
    active = n_steps > 0
    if op.is_while:
        # The condition of those that don't start is not met.
        states.append(active & ~active)

    def step(k, running, *before):
        after = k.builder.inline(op.fgraph, (*before[:n_states], *inputs[n_states:]))
        results = [where(running, *pair) for pair in zip(after, before, strict=True)]
        still = running & (k + 1 < n_steps)
        if op.is_while:
            still = still & ~results[-1]
        return still.any(), still, *results

    shapes = [None] * (1 + len(states))
    _, *results = n_steps.builder.loop(
        step, [active, *states], condition=active.any(), shapes=shapes
    )
    return tuple(results)


def broadcast_first(terms, count):
    """Expand the first `count` terms to the common shape of all."""
    whole = terms[0]
    for term in terms[1:]:
        whole = whole.expand_as(term)
    shape = whole.sizes()
    return [whole, *(term.expand(shape) for term in terms[1:count])]
