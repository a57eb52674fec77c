import math
from collections.abc import Sequence

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import shared
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    check_betas,
    check_number,
    decayed,
    epsilon_of,
    rate_of,
    shrunk,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class Adam(Optimizer):
    r"""Update parameters by Adam, with bias correction (Kingma and Ba, 2015).

    .. math::

        m &\leftarrow \beta_1 m + (1 - \beta_1) g, \qquad
        v \leftarrow \beta_2 v + (1 - \beta_2) g^2 \\
        w &\leftarrow w - \eta
            \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    With `amsgrad`, the largest :math:`v` so far takes the place of :math:`v` in the last line.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    betas : pair of float
        :math:`\beta_1, \beta_2`, each in [0, 1).
    epsilon : float
        1e-8 by default; also called `eps`.
    weight_decay : float, scalar variable or schedule
        Added to the gradient, times the parameter, before the moments.  `AdamW` decays the
        parameters directly.
    amsgrad : bool
        Never take a step larger again because gradients have become small (Reddi, Kale and Kumar,
        "On the Convergence of Adam and Beyond", 2018).

    Notes
    -----
    State: ``<name>.exp_avg``, ``<name>.exp_avg_sq`` and, with `amsgrad`, ``<name>.max_exp_avg_sq``
    of the parameter's shape and dtype, but float32 for float16, and ``step``, an int32 scalar, the
    number of steps taken, which all parameters share.

    Examples
    --------
    >>> import pytensor
    >>> from pytensor.optimizers import Adam
    >>> w = pytensor.shared(3.0, name="w")
    >>> updates = Adam(lr=0.1).minimize((w - 1) ** 2, [w])
    >>> step = pytensor.function([], updates=updates, mode="FAST_COMPILE")
    >>> for _ in range(100):
    ...     _ = step()
    >>> float(w.get_value().round(1))
    1.0
    """

    hyperparameters = ("learning_rate", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None,
        betas: Sequence[float] = (0.9, 0.999), epsilon: float | None = None,
        weight_decay: Scalar | Schedule = 0.0, amsgrad: bool = False, *,
        lr: Scalar | Schedule | None = None, eps: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr, 1e-3), weight_decay=weight_decay
        )
        self.betas = check_betas(betas)
        self.epsilon = epsilon_of(epsilon, eps, 1e-8)
        self.amsgrad = amsgrad

    def _correction(self, beta: float, dtype: str) -> TensorVariable:
        """Return 1 - beta**t as a scalar of `dtype`.

        In float32, 1 - 0.999**t itself is off by 3e-5 in the first steps; expm1 is not.
        """
        if beta == 0:
            return as_scalar(1, dtype)
        t = pt.cast(self._step() + np.int32(1), dtype)
        return -pt.expm1(t * as_scalar(math.log(beta), dtype))

    def _moments(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str
    ) -> tuple[NewValues, TensorVariable, TensorVariable]:
        """Return the updates of the moments, and their new values."""
        dtype = wide_dtype(param)
        beta1, beta2 = self.betas
        mean = self._slot(param, name, "exp_avg")
        square = self._slot(param, name, "exp_avg_sq")
        new_mean = as_scalar(beta1, dtype) * mean + as_scalar(1 - beta1, dtype) * grad
        new_square = as_scalar(beta2, dtype) * square + as_scalar(1 - beta2, dtype) * pt.sqr(grad)
        return {mean: new_mean, square: new_square}, new_mean, new_square

    def _adam_step(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str, learning_rate: Scalar
    ) -> tuple[NewValues, TensorVariable]:
        """Return the new moments, and what is to be subtracted from `param`."""
        dtype = wide_dtype(param)
        beta1, beta2 = self.betas
        updates, new_mean, new_square = self._moments(param, grad, name)
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
    r"""Update parameters by Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    The parameter first shrinks, :math:`w \leftarrow w - \eta \lambda w`, and then takes Adam's step
    for the gradient without the decay.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    betas : pair of float
    epsilon : float
        1e-8 by default; also called `eps`.
    weight_decay : float, scalar variable or schedule
        :math:`\lambda`, multiplied by the learning rate as in PyTorch.
    amsgrad : bool

    Notes
    -----
    State as in `Adam`.

    Examples
    --------
    Train a network, and don't decay its biases and gains:

    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> from pytensor.optimizers import AdamW
    >>> net, x = layers.Linear(3, 2), pt.matrix("x")
    >>> groups = [{"params": [p for p in net.parameters() if p.ndim < 2], "weight_decay": 0.0}]
    >>> updates = AdamW(lr=1e-3).minimize(net(x).mean(), net, groups=groups)
    """

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None,
        betas: Sequence[float] = (0.9, 0.999), epsilon: float | None = None,
        weight_decay: Scalar | Schedule = 1e-2, amsgrad: bool = False, *,
        lr: Scalar | Schedule | None = None, eps: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, betas, epsilon, weight_decay, amsgrad, lr=lr, eps=eps)

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        moments, delta = self._adam_step(param, grad, name, learning_rate)
        return {**moments, param: shrunk(param, learning_rate, weight_decay) - delta}


class NAdam(Adam):
    r"""Update parameters by Adam with Nesterov's momentum (Dozat, 2016).

    .. math::

        \mu_t &= \beta_1 (1 - 0.96^{t \psi} / 2) \\
        w &\leftarrow w - \eta
            \frac{\mu_{t+1} m / (1 - \prod_{i \le t+1} \mu_i)
                   + (1 - \mu_t) g / (1 - \prod_{i \le t} \mu_i)}
                  {\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    with the moments :math:`m, v` of `Adam`.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    betas : pair of float
    epsilon : float
        1e-8 by default; also called `eps`.
    weight_decay : float, scalar variable or schedule
        Added to the gradient, times the parameter, before the moments.
    momentum_decay : float
        :math:`\psi`.

    Notes
    -----
    State as in `Adam`, and ``<name>.mu_product``, a scalar.
    """

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None,
        betas: Sequence[float] = (0.9, 0.999), epsilon: float | None = None,
        weight_decay: Scalar | Schedule = 0.0, momentum_decay: float = 4e-3, *,
        lr: Scalar | Schedule | None = None, eps: float | None = None,
    ) -> None:  # fmt: skip
        rate = rate_of(learning_rate, lr, 2e-3)
        super().__init__(rate, betas, epsilon, weight_decay, eps=eps)
        check_number("momentum_decay", momentum_decay)
        self.momentum_decay = momentum_decay

    def _mu(self, steps: int, dtype: str) -> TensorVariable:
        """Return the momentum `steps` steps after those taken."""
        t = pt.cast(self._step() + np.int32(steps), dtype)
        decay = pt.exp(t * as_scalar(self.momentum_decay * math.log(0.96), dtype))
        half = as_scalar(0.5, dtype)
        return as_scalar(self.betas[0], dtype) * (as_scalar(1, dtype) - half * decay)

    def _product(self, name: str, dtype: str) -> TensorSharedVariable:
        """Return the state variable of the momenta's product."""
        key = f"{name}.mu_product"
        if key not in self.state:
            self.state[key] = shared(np.ones((), dtype), name=key)
        return self.state[key]

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        dtype = wide_dtype(param)
        grad = decayed(grad, param, weight_decay)
        updates, new_mean, new_square = self._moments(param, grad, name)
        one = as_scalar(1, dtype)
        now, later = self._mu(1, dtype), self._mu(2, dtype)
        old_product = self._product(name, dtype)
        product = old_product * now
        ahead = later / (one - product * later) * new_mean + (one - now) / (one - product) * grad
        root = pt.sqrt(new_square / self._correction(self.betas[1], dtype))
        step = as_scalar(learning_rate, dtype) * ahead / (root + as_scalar(self.epsilon, dtype))
        return {**updates, old_product: product, param: param - step}
