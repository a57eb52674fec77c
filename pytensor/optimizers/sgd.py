import pytensor.tensor as pt
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    is_number,
    rate_of,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class SGD(Optimizer):
    r"""Update parameters by stochastic gradient descent, with momentum and weight decay.

    .. math::

        d &= \nabla f(w) + \lambda w \\
        b &\leftarrow \mu b + d \\
        w &\leftarrow w - \eta b \quad\text{or, nesterov,}\quad w - \eta (d + \mu b)

    The formulation is that of Sutskever et al. (2013), with the learning rate applied to the
    momentum buffer as PyTorch does, so that a changed learning rate acts at once.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    momentum : float or scalar variable
        :math:`\mu`.  The number 0 stands for none: no buffer is kept.
    nesterov : bool
        Step along the gradient expected at the end of the momentum step; needs a momentum.
    weight_decay : float, scalar variable or schedule
        :math:`\lambda`, added to the gradient before the momentum.

    Notes
    -----
    State: ``<name>.momentum_buffer``, of the parameter's shape and dtype, but float32 for float16.

    Examples
    --------
    A learning rate that falls from 0.1 to 0 in 1,000 steps:

    >>> import pytensor
    >>> from pytensor.optimizers import SGD, schedules
    >>> w = pytensor.shared(3.0, name="w")
    >>> optimizer = SGD(lr=schedules.cosine(1000, initial=0.1), momentum=0.9)
    >>> updates = optimizer.minimize((w - 1) ** 2, [w])
    >>> step = pytensor.function([], updates=updates, mode="FAST_COMPILE")
    >>> for _ in range(200):
    ...     _ = step()
    >>> float(w.get_value().round(1))
    1.0
    """

    hyperparameters = ("learning_rate", "momentum", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None, momentum: Scalar | Schedule = 0.0,
        *, nesterov: bool = False, weight_decay: Scalar | Schedule = 0.0,
        lr: Scalar | Schedule | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr), momentum=momentum, weight_decay=weight_decay
        )
        if nesterov and is_number(momentum, 0):
            raise ValueError("nesterov=True needs a momentum greater than 0")
        self.nesterov = nesterov

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, momentum: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        dtype = wide_dtype(param)
        lr = as_scalar(learning_rate, dtype, "learning_rate")
        terms = [grad]
        if not is_number(weight_decay, 0):
            terms.append(as_scalar(weight_decay, dtype, "weight_decay") * param)
        if is_number(momentum, 0):
            return {param: param - lr * sum(terms[1:], terms[0])}
        momentum = as_scalar(momentum, dtype, "momentum")
        buffer = self._slot(param, name, "momentum_buffer")
        # In this order, for a partial sum that both have in common would be written to memory.
        new_buffer = pt.add(momentum * buffer, *terms)
        direction = pt.add(momentum * new_buffer, *terms) if self.nesterov else new_buffer
        return {buffer: new_buffer, param: param - lr * direction}
