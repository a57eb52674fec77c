import jax

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.elemwise import jax_funcify_CAReduce as upstream_careduce
from pytensor.tensor.elemwise import CAReduce


@jax_funcify.register(CAReduce)
def jax_funcify_CAReduce(op, node=None, **kwargs):
    # PyTensor's own dispatch accumulates in the input's dtype but returns the accumulator's:
    # a sum of float32 came out as float64 (or warned where 64-bit types are off), and everything
    # computed from it too.  Here the result has the dtype that the graph says.
    if node is None or getattr(op, "acc_dtype", None) is None:
        return upstream_careduce(op, node=node, **kwargs)
    declared = jax.dtypes.canonicalize_dtype(node.outputs[0].type.dtype).name
    return upstream_careduce(op.clone(acc_dtype=declared), node=node, **kwargs)
