from pytensor.optimizers.basic import as_scalar
from pytensor.optimizers.muon import averaged_gradient, orthogonalize_all
from pytensor.optimizers.sgd import SGD

# Of the learning rate, for the orthogonalized part.
MUON_SHARE = 0.2


class MuSGD(SGD):
    """SGD with Nesterov's momentum, to which filters add an orthogonalized step.

    A parameter of two axes or more moves by ``lr * d + 0.2 * lr * o``, others by ``lr * d``.  Here
    d is SGD's direction with its decay, and o the orthogonalized one of `pytensor.optimizers.Muon`:
    five Newton-Schulz steps on Nesterov's moving average of the gradient, flattened to (out, rest).
    A depth-wise filter (C, 1, 3, 3) thus is a matrix (C, 9).

    Notes
    -----
    What had to be chosen where the recipe doesn't say: the moving average uses SGD's momentum, of
    the same step; it takes in the gradient after clipping, without the decay; o isn't scaled by the
    matrix' shape; and the products are float32 (on a GPU in JAX's default precision for them)
    instead of bfloat16.

    State: ``<name>.momentum_buffer`` for all parameters, ``<name>.gradient_average`` for filters.
    """

    def _update_parameters(self, params, grads, names, values):
        updates = super()._update_parameters(params, grads, names, values)
        filters, directions = [], []
        for param, grad, name in zip(params, grads, names, strict=True):
            if param.type.ndim >= 2:
                average = self._slot(param, name, "gradient_average")
                updates[average], direction = averaged_gradient(
                    average, grad, values[param]["momentum"]
                )
                filters.append(param)
                directions.append(direction)
        shapes = [param.get_value(borrow=True).shape for param in filters]
        directions = orthogonalize_all(directions, shapes)
        for param, direction in zip(filters, directions, strict=True):
            dtype = param.type.dtype
            rate = as_scalar(values[param]["learning_rate"], dtype) * as_scalar(MUON_SHARE, dtype)
            updates[param] = updates[param] - rate * direction
        return updates
