"""Sums and means over the devices that share the rows of a batch.

A graph is that of one device, which sees its own rows.  What must be the same on all devices, as a
gradient, is summed over them: by `all_reduce`.  It does something in functions that are compiled
for several devices, with ``jax_mode(mesh=...)``; in all others it is the identity.
"""

from collections.abc import Sequence
from typing import Literal

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import _vectorize_node
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.scalar import discrete_dtypes
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.rewriting.basic import register_canonicalize
from pytensor.tensor.variable import TensorVariable

__all__ = ["all_reduce"]

REDUCTIONS = ("sum", "mean")


class AllReduce(Op):
    """Reduce each input over the devices: `reductions` has "sum" or "mean" for each."""

    __props__ = ("reductions",)

    def __init__(self, reductions):
        self.reductions = reductions
        # One device's result is its own value
        self.view_map = {i: [i] for i in range(len(reductions))}

    def make_node(self, *inputs):
        inputs = [as_tensor_variable(v) for v in inputs]
        return Apply(self, inputs, [v.type() for v in inputs])

    def perform(self, node, inputs, output_storage):
        for storage, value in zip(output_storage, inputs, strict=True):
            storage[0] = value

    def do_constant_folding(self, fgraph, node):
        # A constant's sum is as many times the constant as there are devices.
        return False

    def infer_shape(self, node, shapes):
        return shapes

    def connection_pattern(self, node):
        n = len(self.reductions)
        return [[i == k for k in range(n)] for i in range(n)]

    def pullback(self, inputs, outputs, cotangents):
        # Each device's loss depends on this device's input; of the total it is the sum of all.
        positions = [i for i, c in enumerate(cotangents) if _has_gradient(c, inputs[i])]
        results = [
            disconnected_type() if isinstance(c.type, DisconnectedType) else v.zeros_like(c.dtype)
            for v, c in zip(inputs, cotangents, strict=True)
        ]
        if positions:
            op = AllReduce(tuple(self.reductions[i] for i in positions))
            for i, gradient in zip(
                positions, op(*(cotangents[i] for i in positions), return_list=True), strict=True
            ):
                results[i] = gradient
        return results


def _has_gradient(cotangent, variable):
    return not isinstance(cotangent.type, DisconnectedType) and (
        variable.type.dtype not in discrete_dtypes
    )


@_vectorize_node.register(AllReduce)
def _(op, node, *batched_inputs):
    return op.make_node(*batched_inputs)


@register_canonicalize("fast_compile")
@node_rewriter([AllReduce])
def local_all_reduce_of_one_device(fgraph, node):
    """Take the node away; a linker for several devices excludes this."""
    return node.inputs


def all_reduce(
    variables: Sequence[TensorLike],
    reductions: Literal["sum", "mean"] | Sequence[Literal["sum", "mean"]] = "sum",
) -> list[TensorVariable]:
    """Sum variables, or take their mean, over the devices that share a batch.

    All of them are sent at once: one message for each dtype.  On one device it is the identity.

    Parameters
    ----------
    variables : sequence of tensor_like, any shapes and dtypes
    reductions : "sum", "mean", or one of the two for each variable
        Means are of floating-point variables.

    Returns
    -------
    list of TensorVariable of the same types
        Differentiable: the gradient of a sum over devices is the sum of their gradients.

    Raises
    ------
    ValueError
        If a reduction is neither, or their number isn't that of the variables.
    TypeError
        If a mean is asked for of integers.

    Examples
    --------
    >>> import pytensor, pytensor.tensor as pt
    >>> from pytensor.tensor.collectives import all_reduce
    >>> x = pt.vector("x")
    >>> total, number = all_reduce([x.sum(), x.shape[0]])
    >>> mean = total / number  # of all rows, wherever they lie
    """
    inputs = [as_tensor_variable(v) for v in variables]
    if isinstance(reductions, str):
        reductions = [reductions] * len(inputs)
    if len(reductions) != len(inputs):
        raise ValueError(
            f"all_reduce: {len(reductions)} reductions for {len(inputs)} variables; give one for "
            "each, or one for all"
        )
    for variable, reduction in zip(inputs, reductions, strict=True):
        if reduction not in REDUCTIONS:
            raise ValueError(f"all_reduce: reductions are {REDUCTIONS}, got {reduction!r}")
        if reduction == "mean" and variable.type.dtype in discrete_dtypes:
            raise TypeError(
                f"all_reduce: {variable} is {variable.type.dtype}, and only floats have a mean; "
                "cast it, or take the sum"
            )
    return AllReduce(tuple(reductions))(*inputs, return_list=True) if inputs else []
