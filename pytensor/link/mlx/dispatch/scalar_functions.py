from pytensor.link.mlx.dispatch.basic import mlx_funcify
from pytensor.scalar.as_written import AsWritten


@mlx_funcify.register(AsWritten)
def mlx_funcify_AsWritten(op, **kwargs):
    return mlx_funcify(op.scalar_op, **kwargs)
