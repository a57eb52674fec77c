import mlx.core as mx

from pytensor.link.mlx.dispatch.basic import convert_dtype_to_mlx, mlx_funcify
from pytensor.scalar.activations import Activation, PRelu
from pytensor.scalar.nn import SiLU


@mlx_funcify.register(SiLU)
def mlx_funcify_SiLU(op, node, **kwargs):
    dtype = convert_dtype_to_mlx(node.outputs[0].type.dtype)

    def silu(x):
        x = x.astype(dtype)
        return x * mx.sigmoid(x)

    return silu


@mlx_funcify.register(Activation)
@mlx_funcify.register(PRelu)
def mlx_funcify_Activation(op, node, **kwargs):
    # mx.compile fuses the formula's parts
    return mlx_funcify(op.composite(*(v.type.dtype for v in node.inputs)), **kwargs)
