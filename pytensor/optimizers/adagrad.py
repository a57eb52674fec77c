import pytensor.tensor as pt
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    decayed,
    epsilon_of,
    rate_of,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class Adagrad(Optimizer):
    r"""Update parameters by Adagrad, in larger steps where gradients are rare.

    .. math::

        v &\leftarrow v + g^2 \\
        w &\leftarrow w - \eta\, g / (\sqrt v + \epsilon)

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    epsilon : float
        1e-10 by default; also called `eps`.
    weight_decay : float, scalar variable or schedule
        Added to the gradient, times the parameter.

    Notes
    -----
    State: ``<name>.sum``, of the parameter's shape and dtype, but float32 for float16.

    References
    ----------
    Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12, 2011.
    """

    hyperparameters = ("learning_rate", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None, *, epsilon: float | None = None,
        weight_decay: Scalar | Schedule = 0.0, lr: Scalar | Schedule | None = None,
        eps: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr, 1e-2), weight_decay=weight_decay
        )
        self.epsilon = epsilon_of(epsilon, eps, 1e-10)

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        dtype = wide_dtype(param)
        grad = decayed(grad, param, weight_decay)
        total = self._slot(param, name, "sum")
        new_total = total + pt.sqr(grad)
        step = as_scalar(learning_rate, dtype, "learning_rate") * grad
        root = pt.sqrt(new_total) + as_scalar(self.epsilon, dtype)
        return {total: new_total, param: param - step / root}
