import mlx.core as mx

from pytensor.link.mlx.dispatch.basic import convert_dtype_to_mlx, mlx_funcify
from pytensor.tensor.basic import ARange


@mlx_funcify.register(ARange)
def mlx_funcify_ARange(op, **kwargs):
    # PyTensor's own dispatch refuses bounds that aren't constants of the graph; those that are
    # made from shapes have values while MLX traces.
    dtype = convert_dtype_to_mlx(op.dtype)

    def arange(*bounds):
        return mx.arange(*(bound.item() for bound in bounds), dtype=dtype)

    return arange
