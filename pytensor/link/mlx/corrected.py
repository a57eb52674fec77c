"""Mode MLX for graphs with ranges made from shapes, and with checks.

::

    f = pytensor.function([x], pt.resize(x, scale=2), mode=mlx_mode())

Poolings, resize and top-k have such ranges.  Their conversion, and that of checks, is in a table
that is asked before PyTensor's; mode MLX doesn't look here.
"""

import warnings

import mlx.core as mx

from pytensor.compile.mode import Mode, get_mode
from pytensor.link.conversions import Conversions
from pytensor.link.mlx.dispatch.basic import convert_dtype_to_mlx, mlx_funcify
from pytensor.link.mlx.linker import MLXLinker
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import ARange

__all__ = ["CorrectedMLXLinker", "mlx_mode"]


class CorrectedMLXLinker(MLXLinker):
    """MLX linker with the conversions of this module."""

    def fgraph_convert(self, fgraph, **kwargs):
        return super().fgraph_convert(fgraph, conversion_func=corrected_funcify, **kwargs)


def mlx_mode(use_compile=True):
    """Return mode MLX with a `CorrectedMLXLinker`.

    Parameters
    ----------
    use_compile : bool
        Whether MLX compiles functions; otherwise it runs them node by node.

    Returns
    -------
    pytensor.compile.mode.Mode
    """
    return Mode(CorrectedMLXLinker(use_compile), get_mode("MLX").provided_optimizer)


@Conversions
def corrected_funcify(op, **kwargs):
    """Convert as `mlx_funcify`, with the conversions of this module."""
    return mlx_funcify(op, **kwargs)


@corrected_funcify.register(ARange)
def corrected_funcify_ARange(op, **kwargs):
    # PyTensor's refuses bounds that aren't constants of the graph; those that are made from shapes
    # have values while MLX traces.  See thoughts/upstream/mlx-conversions.md.
    dtype = convert_dtype_to_mlx(op.dtype)

    def arange(*bounds):
        return mx.arange(*(bound.item() for bound in bounds), dtype=dtype)

    return arange


@corrected_funcify.register(CheckAndRaise)
def corrected_funcify_CheckAndRaise(op, **kwargs):
    # PyTensor's drops every check.  Conditions that are made from shapes have values while MLX
    # traces; assertions on the inputs' values have none.
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
