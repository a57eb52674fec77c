from functools import partial

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.scalar import activations

# JAX's own functions; those missing here are written in terms of others
ACTIVATIONS = {
    activations.Elu: lambda op: partial(jax.nn.elu, alpha=op.alpha),
    activations.Gelu: lambda op: partial(jax.nn.gelu, approximate=op.approximate == "tanh"),
    activations.HardSigmoid: lambda op: lambda x: jnp.clip(op.alpha * x + op.beta, 0, 1),
    activations.HardSwish: lambda op: jax.nn.hard_swish,
    activations.LeakyRelu: lambda op: partial(jax.nn.leaky_relu, negative_slope=op.alpha),
    activations.Mish: lambda op: jax.nn.mish,
    activations.PRelu: lambda op: lambda x, alpha: jnp.where(x < 0, alpha * x, x),
    activations.Relu: lambda op: jax.nn.relu,
    activations.Relu6: lambda op: jax.nn.relu6,
    activations.Selu: lambda op: jax.nn.selu,
    activations.SiLU: lambda op: jax.nn.silu,
    activations.Softsign: lambda op: jax.nn.soft_sign,
}


@jax_funcify.register(activations.ByFormula)
def jax_funcify_ByFormula(op, node, **kwargs):
    dtype = node.outputs[0].type.dtype
    # Half precision is computed in single
    work = "float32" if dtype == "float16" else dtype
    function = ACTIVATIONS[type(op)](op)

    def activation(*inputs):
        return function(*(jnp.asarray(v).astype(work) for v in inputs)).astype(dtype)

    return activation
