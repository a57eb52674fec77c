from pytensor.link.mlx.dispatch.basic import mlx_funcify
from pytensor.scalar.activations import ByFormula


@mlx_funcify.register(ByFormula)
def mlx_funcify_ByFormula(op, node, **kwargs):
    # mx.compile fuses the formula's parts
    return mlx_funcify(op.composite(*(v.type.dtype for v in node.inputs)), **kwargs)
