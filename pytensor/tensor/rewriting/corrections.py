"""What PyTensor's own rewrites get wrong or leave out, for modes that ask for it by the tag.

The tag is "corrections".  Without it, graphs are rewritten as PyTensor does.
"""

from pytensor.compile import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.graph.rewriting.unify import OpPattern
from pytensor.tensor.basic import (
    MakeVector,
    atleast_Nd,
    cast,
    constant,
    get_underlying_scalar_constant_value,
)
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.linalg.decomposition.cholesky import cholesky
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.psd import cho_solve
from pytensor.tensor.math import pow as pt_pow
from pytensor.tensor.rewriting.blockwise import blockwise_of
from pytensor.tensor.rewriting.linalg.utils import strip_left_expand_dims_and_transpose
from pytensor.tensor.rewriting.math import local_reduce_broadcastable
from pytensor.tensor.subtensor import AdvancedSubtensor, IncSubtensor
from pytensor.tensor.type import discrete_dtypes


@node_rewriter([blockwise_of(OpPattern(Solve, assume_a="pos"))])
def local_positive_solve_to_cholesky(fgraph, node):
    """``solve(a, b, assume_a="pos", lower=lower)`` -> ``cho_solve((cholesky(a), lower), b)``.

    PyTensor's own rewrite reads the lower triangle, whichever is given: see
    thoughts/upstream/solve-triangle.md.
    """
    a, b = node.inputs
    core = node.op.core_op
    # The gradient solves with the transposed matrix; it shall have the same factor.
    a, transposed = strip_left_expand_dims_and_transpose(a)
    lower = core.lower != transposed
    x = cho_solve((cholesky(a, lower=lower), lower), b, b_ndim=core.b_ndim)
    x = atleast_Nd(x, n=node.outputs[0].type.ndim)
    copy_stack_trace(node.outputs[0], x)
    return [x]


@node_rewriter([AdvancedSubtensor])
def local_signed_constant_indices(fgraph, node):
    """``x[[3, 0]]`` of unsigned constants -> of int64.

    PyTensor takes the step from 3 to 0 in their dtype and makes a slice with step 253 of them.
    See thoughts/upstream/slice-of-unsigned-indices.md.
    """
    x, *indices = node.inputs
    signed = [
        constant(index.data.astype("int64")) if _is_narrow_unsigned(index) else index
        for index in indices
    ]
    if signed == indices:
        return None
    new = node.op(x, *signed)
    copy_stack_trace(node.outputs[0], new)
    return [new]


def _is_narrow_unsigned(index):
    # An index beyond int64 is beyond every axis: it stays, and is an error at run time.
    return (
        isinstance(index, Constant)
        and getattr(index.type, "ndim", 0) > 0
        and index.type.dtype.startswith("uint")
        and index.data.max(initial=0) < 2**63
    )


@node_rewriter([pt_pow])
def local_power_in_result_dtype(fgraph, node):
    """``x ** y`` -> ``cast(x) ** y`` where the result has another dtype than ``x``.

    PyTensor writes constant powers as products of ``x``, which overflow in its dtype: of a uint8,
    ``x ** 2.0`` is 144 for 20.  See thoughts/upstream/pow-in-base-dtype.md.
    """
    base, exponent = node.inputs
    dtype = node.outputs[0].type.dtype
    if base.type.dtype == dtype:
        return None
    power = pt_pow(cast(base, dtype), exponent)
    copy_stack_trace(node.outputs[0], power)
    return [power]


@node_rewriter([IncSubtensor])
def local_set_subtensor_of_make_vector(fgraph, node):
    """``set_subtensor(stack([a, b, c])[1], d)`` -> ``stack([a, d, c])``.

    The shape of a split and that of a sum whose axis stays look so.
    """
    vector, value, *index = node.inputs
    if not (
        node.op.set_instead_of_inc
        and vector.owner is not None
        and isinstance(vector.owner.op, MakeVector)
        and value.type.ndim == 0
        and len(index) == 1
        and node.op.idx_list == (0,)
    ):
        return None
    try:
        position = int(get_underlying_scalar_constant_value(index[0]))
    except NotScalarConstantError:
        return None
    entries = list(vector.owner.inputs)
    if not -len(entries) <= position < len(entries):
        return None  # the error belongs to run time
    entries[position] = cast(value, vector.type.dtype)  # as writing into the vector does
    new = vector.owner.op(*entries)
    copy_stack_trace(node.outputs[0], new)
    return [new]


@node_rewriter([CAReduce])
def local_reduce_one_integer(fgraph, node):
    """Reduce integers over axes of one element, as PyTensor does; sums of one float stay.

    With those, ``x - x.mean()`` becomes x - x, and that 0, also where x is NaN or infinite.  Modes
    that ask for corrections leave out PyTensor's rewrite.
    See thoughts/upstream/sums-of-one-element.md.
    """
    if node.inputs[0].type.dtype not in discrete_dtypes:
        return None
    return local_reduce_broadcastable.transform(fgraph, node)


for name, rewriter, position in (
    # First of all, for canonicalization takes the transposition for useless and leaves `lower`.
    ("positive_solve", local_positive_solve_to_cholesky, -1),
    # Before everything that looks at indices.
    ("signed_constant_indices", local_signed_constant_indices, -0.5),
    # Just before PyTensor's own rewrite in "specialize".
    ("powers_in_result_dtype", local_power_in_result_dtype, 1.95),
):
    optdb.register(name, dfs_rewriter(rewriter), "corrections", position=position)

# Not with PyTensor's decorators, nor with the phase's name for a tag: every mode would have it, or
# `rewrite_graph`.  Shapes of what the first phase makes appear in the second.
for phase in ("canonicalize", "specialize"):
    for correction in (local_set_subtensor_of_make_vector, local_reduce_one_integer):
        optdb[phase].register(
            correction.__name__, correction, "corrections", use_db_name_as_tag=False
        )
