"""Broadcasting along axes of which only run time knows whether they have one element."""

from collections.abc import Sequence

from pytensor.gradient import disconnected_type
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import arange, as_tensor_variable, switch, zeros
from pytensor.tensor.batching import batch_rule, leading_batch, shifted
from pytensor.tensor.math import eq, neq
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable


class _OfFirstInput(TensorSymbolicOp):
    """Of the second input only the shape counts; `axes` are counted from the end."""

    __props__ = ("axes",)

    def __init__(self, *, axes, **kwargs):
        self.axes = tuple(axes)
        super().__init__(**kwargs)

    def connection_pattern(self, node):
        return [[True], [False]]


class BroadcastAs(_OfFirstInput):
    """Repeat the first input along those axes on which it has one element and the second more."""

    def build_inner_graph(self, x, y):
        for axis in self.axes:
            have, other = x.shape[axis], y.shape[axis]
            # Lengths that don't fit stay as they are, and fail where both are used
            length = switch(eq(have, 1), other, have)
            x = x.take(arange(length) * neq(have, 1), axis=axis)
            static = [None] * x.type.ndim
            if y.type.shape[axis] != 1:
                static[axis] = y.type.shape[axis]
            x = specify_shape(x, static)
        return [x]

    def pullback(self, inputs, outputs, output_grads):
        (cotangent,) = output_grads
        return [SumAs(axes=self.axes)(cotangent, inputs[0]), disconnected_type()]


class SumAs(_OfFirstInput):
    """Sum the first input over those axes on which the second has one element."""

    def build_inner_graph(self, x, y):
        static = list(x.type.shape)
        for axis in self.axes:
            length, static[axis] = y.shape[axis], y.type.shape[axis]
            place = axis % x.type.ndim
            shape = [length if a == place else x.shape[a] for a in range(x.type.ndim)]
            index = (*[slice(None)] * place, arange(x.shape[axis]) * neq(length, 1))
            x = zeros(shape, dtype=x.type.dtype)[index].inc(x)
        return [specify_shape(x, static)]

    def pullback(self, inputs, outputs, output_grads):
        (cotangent,) = output_grads
        return [BroadcastAs(axes=self.axes)(cotangent, inputs[0]), disconnected_type()]


batch_rule(_OfFirstInput)(leading_batch)
# axes are counted from the end
shifted.register(_OfFirstInput, lambda op, n: op)


def broadcast_as(x: TensorLike, y: TensorLike, axes: Sequence[int]) -> TensorVariable:
    """Repeat a tensor along axes on which it has one element, as often as another is long there.

    PyTensor itself broadcasts along axes whose type says that they have one element; here run time
    decides.

    Parameters
    ----------
    x, y : tensor_like
    axes : sequence of int
        Counted from the end, so that they are both tensors' axes.

    Returns
    -------
    TensorVariable, dtype of `x`
        Along `axes` as long as `y` where `x` has length 1, elsewhere as `x`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.tensor.broadcasting import broadcast_as
    >>> x, y = pt.vector("x"), pt.vector("y")
    >>> (broadcast_as(x, y, [-1]) + y).eval({x: [1.0], y: [1.0, 2.0]})
    array([2., 3.])
    """
    return BroadcastAs(axes=axes)(as_tensor_variable(x), as_tensor_variable(y))
