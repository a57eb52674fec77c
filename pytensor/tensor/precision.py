"""Where a graph asks for float32 in mixed precision."""

from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar.basic import UnaryScalarOp, same_out
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.basic import register_canonicalize
from pytensor.tensor.type import float_dtypes

__all__ = ["full_precision"]


class FullPrecision(UnaryScalarOp):
    """The identity, which rewrites remove, but not in mixed precision."""

    # for functions that are compiled without rewrites
    nfunc_spec = ("positive", 1, 1)

    def impl(self, x):
        return x

    def pullback(self, inputs, outputs, cotangents):
        return cotangents

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{outputs[0]} = {inputs[0]};"

    def c_code_cache_version(self):
        return (1,)


full_precision_mark = Elemwise(FullPrecision(same_out, name="full_precision"))


@register_canonicalize("fast_compile")
@node_rewriter([full_precision_mark])
def local_remove_full_precision(fgraph, node):
    """Take the mark away; a linker of mixed precision excludes this."""
    return node.inputs


def full_precision(x):
    """Let all that is computed elementwise from `x` be float32, in mixed precision too.

    Made for the outputs of a network, before its loss: with
    ``mode=jax_mode(precision="bf16")`` they come out of the last layer in bfloat16, and so would
    the first functions of a loss.  Elsewhere it is the identity.  The gradient is the identity
    in any case.

    Parameters
    ----------
    x : tensor_like, any shape, floating point

    Returns
    -------
    TensorVariable of the same type

    Raises
    ------
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> full_precision(pt.constant([0.5, 2.0])).eval()
    array([0.5, 2. ])
    """
    x = as_tensor_variable(x)
    if x.type.dtype not in float_dtypes:
        raise TypeError(
            f"full_precision: x must be floating point, got {x.type.dtype}; cast it first"
        )
    return full_precision_mark(x)
