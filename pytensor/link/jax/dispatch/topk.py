import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.topk import TopK, TopKGrad


@jax_funcify.register(TopK)
def jax_funcify_TopK(op, **kwargs):
    def topk(x):
        values, indices = jax.lax.top_k(jnp.moveaxis(x, op.axis, -1), op.k)
        # int64 where 64-bit types are enabled; asking for it elsewhere only warns
        indices = indices.astype(jax.dtypes.canonicalize_dtype("int64"))
        return jnp.moveaxis(values, -1, op.axis), jnp.moveaxis(indices, -1, op.axis)

    return topk


@jax_funcify.register(TopKGrad)
def jax_funcify_TopKGrad(op, **kwargs):
    def topk_grad(x, indices, cotangent):
        return jnp.put_along_axis(
            jnp.zeros_like(x), indices, cotangent.astype(x.dtype), axis=op.axis, inplace=False
        )

    return topk_grad
