from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    check_betas,
    rate_of,
    shrunk,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class Lion(Optimizer):
    r"""Update parameters by Lion, along the sign of an averaged gradient.

    .. math::

        w &\leftarrow (1 - \eta \lambda) w
            - \eta\, \text{sign}(\beta_1 m + (1 - \beta_1) g) \\
        m &\leftarrow \beta_2 m + (1 - \beta_2) g

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.  Each element moves by as much: take a tenth to a third of Adam's.
    betas : pair of float
        :math:`\beta_1, \beta_2`, each in [0, 1).
    weight_decay : float, scalar variable or schedule
        :math:`\lambda`, apart from the average and multiplied by the learning rate.

    Notes
    -----
    State: ``<name>.exp_avg``, of the parameter's shape and dtype, but float32 for float16.

    References
    ----------
    Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023.
    """

    hyperparameters = ("learning_rate", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None,
        betas: Sequence[float] = (0.9, 0.99), weight_decay: Scalar | Schedule = 0.0, *,
        lr: Scalar | Schedule | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr, 1e-4), weight_decay=weight_decay
        )
        self.betas = check_betas(betas)

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        dtype = wide_dtype(param)
        lr = as_scalar(learning_rate, dtype, "learning_rate")
        mean = self._slot(param, name, "exp_avg")
        now, later = (
            as_scalar(beta, dtype) * mean + as_scalar(1 - beta, dtype) * grad
            for beta in self.betas
        )
        kept = shrunk(param, learning_rate, weight_decay)
        return {mean: later, param: kept - lr * pt.sign(now)}
