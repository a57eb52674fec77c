"""States of random generators in programs: they are values, which no draw changes."""

from pytensor.compile.ops import DeepCopyOp
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.random import jax_funcify_RandomVariable as upstream_draw
from pytensor.link.jax.fixes import random  # noqa: F401 (it registers distributions)
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.type import DenseTensorType

__all__ = []

_upstream_copy = jax_funcify.dispatch(DeepCopyOp)


@jax_funcify.register(RandomVariable)
def jax_funcify_draw(op, node, **kwargs):
    """Convert as PyTensor, whose function writes the next key into the state that it is given."""
    function = upstream_draw(op, node=node, **kwargs)

    def draw(state, *args):
        return function(dict(state), *args)

    return draw


@jax_funcify.register(DeepCopyOp)
def jax_funcify_copy(op, node, **kwargs):
    if isinstance(node.inputs[0].type, DenseTensorType):
        return _upstream_copy(op, node=node, **kwargs)
    return lambda value: value
