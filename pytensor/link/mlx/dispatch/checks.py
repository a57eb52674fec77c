import warnings

from pytensor.link.mlx.dispatch.basic import mlx_funcify
from pytensor.raise_op import Assert, CheckAndRaise


@mlx_funcify.register(Assert)
@mlx_funcify.register(CheckAndRaise)
def mlx_funcify_CheckAndRaise(op, **kwargs):
    # PyTensor's own dispatch drops every check.  Conditions that are made from shapes have values
    # while MLX traces; those of the inputs' values have none.
    def check_and_raise(x, *conditions):
        for condition in conditions:
            try:
                holds = bool(condition)
            except ValueError:
                warnings.warn(f"MLX can't check while it traces: {op.msg}", stacklevel=2)
            else:
                if not holds:
                    raise op.exc_type(op.msg)
        return x

    return check_and_raise
