from collections.abc import Mapping, Sequence

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.optimizers.basic import (
    NewValues,
    Scalar,
    Schedule,
    as_scalar,
    check_number,
    wide_dtype,
)  # fmt: skip
from pytensor.optimizers.muon import averaged_gradient, orthogonalize_all
from pytensor.optimizers.sgd import SGD
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable


class MuSGD(SGD):
    r"""Update parameters by SGD, and matrices and filters by an orthogonalized step, too.

    .. math::

        w \leftarrow w - \eta (d + \sigma o)

    Here :math:`d` is the direction of `SGD` with its decay, and :math:`o` the orthogonalized one of
    `Muon`: five Newton-Schulz steps on the moving average of the gradient, with the same momentum.
    Parameters of one axis move only by :math:`\eta d`.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        :math:`\eta`, also called `lr`.
    momentum : float or scalar variable
        Less than 1; with `nesterov`, greater than 0.
    nesterov : bool
        In both parts.
    weight_decay : float, scalar variable or schedule
        Added to the gradient before SGD's momentum.  The orthogonalized part takes the gradient
        without it.
    muon_share : float
        :math:`\sigma`.

    Notes
    -----
    State: ``<name>.momentum_buffer`` for all parameters unless the momentum is the number 0,
    ``<name>.gradient_average`` for parameters of two axes or more; both are float32 for float16.

    The name is from the description of YOLO26 (Ultralytics, 2025), which leaves open what is fixed
    here: the moving average takes in the gradient without the decay, and the orthogonalized
    direction isn't scaled by the matrix' shape.

    A filter (out, in, height, width) counts as a matrix (out, in * height * width).  Products are
    float32, or the parameter's dtype where that is wider.
    """

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None, momentum: Scalar = 0.9,
        *, nesterov: bool = True, weight_decay: Scalar | Schedule = 0.0, muon_share: float = 0.2,
        lr: Scalar | Schedule | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate, momentum, nesterov=nesterov, weight_decay=weight_decay, lr=lr
        )
        check_number("momentum", momentum, high=1.0)
        check_number("muon_share", muon_share)
        self.muon_share = muon_share

    def _update_parameters(
        self, params: Sequence[TensorSharedVariable], grads: Sequence[TensorVariable],
        names: Sequence[str], values: Mapping[SharedVariable, Mapping[str, Scalar]],
    ) -> NewValues:  # fmt: skip
        updates = super()._update_parameters(params, grads, names, values)
        filters, directions = [], []
        for param, grad, name in zip(params, grads, names, strict=True):
            if param.type.ndim >= 2:
                average = self._slot(param, name, "gradient_average")
                updates[average], direction = averaged_gradient(
                    average, grad, values[param]["momentum"], self.nesterov
                )
                filters.append(param)
                directions.append(direction)
        directions = orthogonalize_all(directions, filters)
        for param, direction in zip(filters, directions, strict=True):
            dtype = wide_dtype(param)
            rate = as_scalar(values[param]["learning_rate"], dtype)
            step = rate * as_scalar(self.muon_share, dtype) * direction
            updates[param] = updates[param] - step
        return updates
