import pytensor.tensor as pt
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    check_number,
    decayed,
    epsilon_of,
    is_number,
    rate_of,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class RMSprop(Optimizer):
    r"""Update parameters by RMSprop, with momentum (Tieleman and Hinton, 2012).

    .. math::

        v &\leftarrow \alpha v + (1 - \alpha) g^2 \\
        b &\leftarrow \mu b + g / (\sqrt v + \epsilon) \\
        w &\leftarrow w - \eta b

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    alpha : float
        How much of the average of squares is kept, in [0, 1).
    epsilon : float
        1e-8 by default; also called `eps`.
        Added outside the root, as in PyTorch.
    momentum : float or scalar variable
        :math:`\mu`.  The number 0 stands for none: no buffer is kept.
    centered : bool
        Subtract the squared average gradient from :math:`v` under the root (Graves, 2013).
    weight_decay : float, scalar variable or schedule
        Added to the gradient, times the parameter.

    Notes
    -----
    State: ``<name>.square_avg``, and ``<name>.grad_avg`` and ``<name>.momentum_buffer`` where they
    are used, of the parameter's shape and dtype, but float32 for float16.
    """

    hyperparameters = ("learning_rate", "momentum", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None, alpha: float = 0.99,
        epsilon: float | None = None, *, momentum: Scalar | Schedule = 0.0, centered: bool = False,
        weight_decay: Scalar | Schedule = 0.0, lr: Scalar | Schedule | None = None,
        eps: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr, 1e-2), momentum=momentum,
            weight_decay=weight_decay,
        )  # fmt: skip
        check_number("alpha", alpha, high=1.0)
        self.alpha = alpha
        self.epsilon = epsilon_of(epsilon, eps, 1e-8)
        self.centered = centered

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, momentum: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        dtype = wide_dtype(param)
        lr = as_scalar(learning_rate, dtype, "learning_rate")
        alpha, rest = as_scalar(self.alpha, dtype), as_scalar(1 - self.alpha, dtype)
        grad = decayed(grad, param, weight_decay)

        square = self._slot(param, name, "square_avg")
        new_square = alpha * square + rest * pt.sqr(grad)
        updates: NewValues = {square: new_square}
        variance = new_square
        if self.centered:
            mean = self._slot(param, name, "grad_avg")
            new_mean = alpha * mean + rest * grad
            updates[mean] = new_mean
            # Rounding can take the difference below zero, where the root is NaN.
            variance = pt.maximum(new_square - pt.sqr(new_mean), as_scalar(0, dtype))
        direction = grad / (pt.sqrt(variance) + as_scalar(self.epsilon, dtype))
        if not is_number(momentum, 0):
            buffer = self._slot(param, name, "momentum_buffer")
            direction = as_scalar(momentum, dtype, "momentum") * buffer + direction
            updates[buffer] = direction
        return {**updates, param: param - lr * direction}
