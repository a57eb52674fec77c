"""The k largest entries along an axis."""

from typing import Any

import numpy as np

from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scalar import discrete_dtypes
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, take_along_axis
from pytensor.tensor.batching import batch_rule, leading_batch, shifted
from pytensor.tensor.type import tensor
from pytensor.tensor.variable import TensorVariable


class TopK(Op):
    """The `k` largest entries of a tensor along one axis, and where they are.

    Sorted from large to small; among equals the lower index comes first, and NaN counts as
    larger than any number (as in `numpy.sort`).
    """

    __props__ = ("k", "axis")

    def __init__(self, k, axis):
        self.k = k
        self.axis = axis

    def make_node(self, x):
        x = as_tensor_variable(x)
        shape = list(x.type.shape)
        length = shape[self.axis]
        if length is not None:
            self.check(length)
        shape[self.axis] = self.k
        return Apply(
            self,
            [x],
            [tensor(dtype=x.type.dtype, shape=shape), tensor(dtype="int64", shape=shape)],
        )

    def check(self, length):
        """Raise ValueError if the axis has fewer than `k` entries."""
        if self.k > length:
            raise ValueError(
                f"topk: k={self.k} is larger than the length {length} of axis {self.axis}"
            )

    def infer_shape(self, node, shapes):
        (shape,) = shapes
        out = (*shape[: self.axis], as_tensor_variable(self.k), *shape[self.axis + 1 :])
        return [out, out]

    def perform(self, node, inputs, output_storage):
        (x,) = inputs
        length = x.shape[self.axis]
        self.check(length)
        # A stable ascending sort of the flipped array, read backwards, puts the lower of two
        # equal entries first without negating the values (which unsigned integers can't be).
        order = np.argsort(np.flip(x, self.axis), axis=self.axis, kind="stable")
        last = np.flip(order, self.axis).take(np.arange(self.k), axis=self.axis)
        indices = (length - 1 - last).astype("int64")
        output_storage[0][0] = np.take_along_axis(x, indices, axis=self.axis)
        output_storage[1][0] = indices

    def connection_pattern(self, node):
        return [[True, False]]

    def pullback(self, inputs, outputs, cotangents):
        (x,) = inputs
        _, indices = outputs
        cotangent, _ = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type()]
        if x.type.dtype in discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX)]
        return [TopKGrad(self.axis)(x, indices, cotangent)]


class TopKGrad(Op):
    """Scatter the gradient of the `k` values back to where they came from."""

    __props__ = ("axis",)

    def __init__(self, axis):
        self.axis = axis

    def make_node(self, x, indices, cotangent):
        x, indices, cotangent = map(as_tensor_variable, (x, indices, cotangent))
        return Apply(self, [x, indices, cotangent], [x.type()])

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def perform(self, node, inputs, output_storage):
        x, indices, cotangent = inputs
        out = np.zeros_like(x)
        np.put_along_axis(out, indices, cotangent.astype(x.dtype), axis=self.axis)
        output_storage[0][0] = out

    def connection_pattern(self, node):
        return [[False], [False], [True]]

    def pullback(self, inputs, outputs, cotangents):
        _, indices, _ = inputs
        (cotangent,) = cotangents
        gathered = take_along_axis(cotangent, indices, axis=self.axis)
        return [disconnected_type(), disconnected_type(), gathered]


@shifted.register(TopK)
def _(op, n):
    return TopK(op.k, op.axis + n)


@shifted.register(TopKGrad)
def _(op, n):
    return TopKGrad(op.axis + n)


batch_rule(TopK)(leading_batch)
batch_rule(TopKGrad)(leading_batch)


def topk(x: TensorLike, k: int, axis: int = -1) -> list[TensorVariable]:
    """Return the `k` largest entries of `x` along `axis`, and their indices.

    Parameters
    ----------
    x : tensor_like, any real dtype, at least one axis
    k : int
        How many; at least 1 and at most the length of `axis`.
    axis : int

    Returns
    -------
    values : TensorVariable
        As `x`, with length `k` along `axis`, sorted from large to small.  Among equal entries
        the lower index comes first; NaN counts as largest.  Differentiable.
    indices : TensorVariable, int64
        Same shape: ``take_along_axis(x, indices, axis)`` gives the values.

    Raises
    ------
    ValueError
        If `k` is not an integer of at least 1, or exceeds the length of `axis`, or `x` has no such
        axis.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> values, indices = pt.topk(pt.constant([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    >>> values.eval(), indices.eval()
    (array([5., 4.]), array([4, 2]))
    """
    x = as_tensor_variable(x)
    if x.type.dtype.startswith("complex"):
        raise TypeError(f"topk: x must be of real numbers, got {x.type.dtype}")
    if x.type.ndim == 0:
        raise ValueError("topk: x must have at least one axis, it is a scalar")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"topk: k must be an integer of at least 1, got {k!r}")
    ndim = x.type.ndim
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer) or not -ndim <= axis < ndim:
        raise ValueError(f"topk: axis must be an int from {-ndim} to {ndim - 1}, got {axis!r}")
    op: Any = TopK(int(k), int(axis) % ndim)
    return op(x)
