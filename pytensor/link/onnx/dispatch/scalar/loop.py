"""Loops of scalars, each element with its own number of steps."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import any_of, where
from pytensor.scalar.loop import ScalarLoop


@onnx_funcify.register(ScalarLoop)
def onnx_funcify_ScalarLoop(op, node, builder, n_steps, *inputs):
    steps, *variables = node.inputs
    n_steps = builder.cast(n_steps, steps.type.dtype, "int64")
    n_states = len(op.outputs) - op.is_while
    n_steps, *states = broadcast_first(builder, [n_steps, *inputs], n_states + 1)
    dtypes = [v.type.dtype for v in variables[:n_states]]
    active = builder.add("Greater", n_steps, builder.constant(0, "int64"))
    if op.is_while:
        # The condition of those that don't start is not met.
        states.append(builder.add("And", active, builder.add("Not", active)))
        dtypes.append("bool")

    with builder.subgraph() as body:
        step = body.add_input("step", "int64", ())
        body.add_input("any_active", "bool", ())
        running = body.add_input("active", "bool", None)
        before = [body.add_input("state", dtype, None) for dtype in dtypes]
        after = builder.inline(op.fgraph, (*before[:n_states], *inputs[n_states:]))
        results = [
            where(builder, dtype, running, new, old)
            for dtype, new, old in zip(dtypes, after, before, strict=True)
        ]
        following = builder.add("Add", step, builder.constant(1, "int64"))
        still = builder.add("And", running, builder.add("Less", following, n_steps))
        if op.is_while:
            still = builder.add("And", still, builder.add("Not", results[-1]))
        builder.output(any_of(builder, still), "bool", ())
        for name, dtype in zip((still, *results), ("bool", *dtypes), strict=True):
            builder.output(name, dtype, None)
    start = any_of(builder, active)
    _, *results = builder.add(
        "Loop", "", start, active, *states, body=body, n_outputs=len(states) + 1
    )
    return tuple(results)


def broadcast_first(builder, names, count):
    """Expand the first `count` values to the common shape of all."""
    whole = names[0]
    for name in names[1:]:
        whole = builder.add("Expand", whole, builder.add("Shape", name))
    shape = builder.add("Shape", whole)
    return [whole, *(builder.add("Expand", name, shape) for name in names[1:count])]
