import math
from collections.abc import Sequence

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    as_scalar,
    check_number,
    decayed,
    is_number,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class Adam(Optimizer):
    r"""Adam (Kingma and Ba, 2015), with bias correction.

    .. math::

        m &\leftarrow \beta_1 m + (1 - \beta_1) g, \qquad
        v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        w &\leftarrow w - \eta
            \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    With `amsgrad`, the largest :math:`v` so far takes the place of :math:`v` in the last line.

    Parameters
    ----------
    learning_rate : float or scalar variable
    betas : pair of float
        :math:`\beta_1, \beta_2`, each in [0, 1).
    epsilon : float
    weight_decay : float or scalar variable
        Added to the gradient, times the parameter, before the moments; see `AdamW` for decay apart
        from them.
    amsgrad : bool
        Never take a step larger again because gradients have become small (Reddi, Kale and Kumar,
        "On the Convergence of Adam and Beyond", 2018).

    Notes
    -----
    State: ``<name>.exp_avg``, ``<name>.exp_avg_sq`` and, with `amsgrad`, ``<name>.max_exp_avg_sq``
    of the parameter's shape and dtype, but float32 for float16, and ``step``, an int32 scalar, the
    number of steps taken, which all parameters share.
    """

    hyperparameters = ("learning_rate", "weight_decay")

    def __init__(
        self, learning_rate: Scalar = 1e-3, betas: Sequence[float] = (0.9, 0.999),
        epsilon: float = 1e-8, weight_decay: Scalar = 0.0, amsgrad: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate=learning_rate, weight_decay=weight_decay)
        self.betas = tuple(betas)
        if len(self.betas) != 2:
            raise ValueError(f"betas must be two numbers, not {betas!r}")
        for position, beta in enumerate(self.betas):
            check_number(f"betas[{position}]", beta, high=1.0)
        check_number("epsilon", epsilon)
        self.epsilon = epsilon
        self.amsgrad = amsgrad

    def _step(self) -> TensorSharedVariable:
        if "step" not in self.state:
            # int32, for JAX has no int64 when floatX is float32.
            self.state["step"] = shared(np.asarray(0, dtype="int32"), name="step")
        return self.state["step"]

    def _common_updates(self) -> NewValues:
        return {self._step(): self._step() + np.int32(1)}

    def _correction(self, beta: float, dtype: str) -> TensorVariable:
        """Return 1 - beta**t as a scalar of `dtype`.

        In float32, 1 - 0.999**t itself is off by 3e-5 in the first steps; expm1 is not.
        """
        if beta == 0:
            return as_scalar(1, dtype)
        t = pt.cast(self._step() + np.int32(1), dtype)
        return -pt.expm1(t * as_scalar(math.log(beta), dtype))

    def _adam_step(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str, learning_rate: Scalar
    ) -> tuple[NewValues, TensorVariable]:
        """Return the new moments, and what is to be subtracted from `param`."""
        dtype = wide_dtype(param)
        beta1, beta2 = self.betas
        mean = self._slot(param, name, "exp_avg")
        square = self._slot(param, name, "exp_avg_sq")
        new_mean = as_scalar(beta1, dtype) * mean + as_scalar(1 - beta1, dtype) * grad
        new_square = as_scalar(beta2, dtype) * square + as_scalar(1 - beta2, dtype) * pt.sqr(grad)
        updates: NewValues = {mean: new_mean, square: new_square}
        if self.amsgrad:
            largest = self._slot(param, name, "max_exp_avg_sq")
            updates[largest] = new_square = pt.maximum(largest, new_square)
        scale = as_scalar(learning_rate, dtype, "learning_rate") / self._correction(beta1, dtype)
        root = pt.sqrt(new_square) / pt.sqrt(self._correction(beta2, dtype))
        delta = scale * new_mean / (root + as_scalar(self.epsilon, dtype))
        return updates, delta

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        grad = decayed(grad, param, weight_decay)
        moments, delta = self._adam_step(param, grad, name, learning_rate)
        return {**moments, param: param - delta}


class AdamW(Adam):
    r"""Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    The parameter first shrinks, :math:`w \leftarrow w - \eta \lambda w`, and then takes Adam's step
    for the gradient alone; the decay goes through neither moment.

    Parameters
    ----------
    learning_rate : float or scalar variable
    betas : pair of float
    epsilon : float
    weight_decay : float or scalar variable
        :math:`\lambda`, multiplied by the learning rate as in PyTorch.
    amsgrad : bool

    Notes
    -----
    State as in `Adam`.
    """

    def __init__(
        self, learning_rate: Scalar = 1e-3, betas: Sequence[float] = (0.9, 0.999),
        epsilon: float = 1e-8, weight_decay: Scalar = 1e-2, amsgrad: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, betas, epsilon, weight_decay, amsgrad)

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        moments, delta = self._adam_step(param, grad, name, learning_rate)
        kept = param
        if not is_number(weight_decay, 0):
            dtype = wide_dtype(param)
            lr = as_scalar(learning_rate, dtype, "learning_rate")
            decay = as_scalar(weight_decay, dtype, "weight_decay")
            kept = param * (as_scalar(1, dtype) - lr * decay)
        return {**moments, param: kept - delta}
