"""Images with left and right exchanged: what the Op computes, and the facts about it."""

import numpy as np

from pytensor.graph.basic import Apply
from pytensor.graph.facts import Layout, layout, precision
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.batching import batch_rule, leading_batch, shifted
from pytensor.tensor.variable import TensorVariable


class Mirror(Op):
    """Images with left and right exchanged."""

    __props__ = ()

    def make_node(self, x):
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.flip(inputs[0], -1).copy()

    def infer_shape(self, node, shapes):
        return shapes

    def pullback(self, inputs, outputs, cotangents):
        return [self(*cotangents)]


@shifted.register(Mirror)
def _(op, n):
    return op  # whose axis is counted from the end


batch_rule(Mirror)(leading_batch)
layout.register(Mirror, lambda op: Layout())
precision.register(Mirror, lambda op: "view")


def mirror(x: TensorLike) -> TensorVariable:
    """Exchange left and right of images.

    Parameters
    ----------
    x : tensor_like, at least one axis

    Returns
    -------
    TensorVariable, shape and dtype of `x`

    Raises
    ------
    ValueError
        If `x` is a scalar.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from tests.link.toy.op import mirror
    >>> mirror(pt.constant([3.0, 1.0, 4.0])).eval()
    array([4., 1., 3.])
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0:
        raise ValueError("mirror: x must have at least one axis, it is a scalar")
    op: Op = Mirror()
    return op(x)  # type: ignore[return-value]
