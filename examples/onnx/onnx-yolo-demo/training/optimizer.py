"""The optimizers of the recipe, and which parameters they treat how."""

import numpy as np
from training.recipe import ADAMW_BETAS

from pytensor.optimizers import SGD, AdamW
from pytensor.optimizers.basic import as_scalar
from pytensor.optimizers.muon import averaged_gradient, orthogonalize_all

# MuSGD: what multiplies the rate of the orthogonalized part, and of all parameters of the head's
# class branch. (C3k has a convolution called cv3 too, which isn't meant.)
MUON_SHARE = 0.2
CLASS_BRANCH, CLASS_BRANCH_FACTOR = "model.23.cv3.", 3.0


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


def make_optimizer(name, lr, momentum):
    """Return the optimizer called "sgd", "adamw" or "musgd", without decay.

    Parameters
    ----------
    name : str
    lr, momentum : scalar variable
        AdamW has no momentum.
    """
    if name == "sgd":
        return SGD(lr, momentum=momentum, nesterov=True)
    if name == "musgd":
        return MuSGD(lr, momentum=momentum, nesterov=True)
    if name == "adamw":
        return AdamW(lr, betas=ADAMW_BETAS, weight_decay=0.0)
    raise ValueError(
        f"there is no optimizer {name!r}; give sgd, adamw or musgd, and resolve a recipe that says "
        "auto first"
    )


def parameter_groups(params, lr, bias_lr, weight_decay, class_factor=1.0):
    """Groups of an optimizer: filters, which alone decay, gammas, and biases.

    Parameters
    ----------
    params : sequence of shared variable
        Named as in the state dict.
    lr, bias_lr : scalar variable
        Rates of filters and gammas, and of all biases.
    weight_decay : float
    class_factor : float
        Multiplies the rate `lr` of the head's class branch.  Its biases reach the same rate at the
        end of the warm-up, from the same start as other biases.

    Returns
    -------
    list of dict
    """
    groups = []
    for of_class_branch in (False, True):
        chosen = [p for p in params if p.name.startswith(CLASS_BRANCH) == of_class_branch]
        factor = class_factor if of_class_branch else 1.0
        rate, bias_rate = lr, bias_lr
        if factor != 1.0:
            rate = lr * np.float32(factor)
            # While it warms up, bias_lr = (1 - s) * start + s * target and lr = s * target.
            bias_rate = bias_lr + lr * np.float32(factor - 1.0)
        biases = [p for p in chosen if p.name.endswith(".bias")]
        weights = [p for p in chosen if not p.name.endswith(".bias")]
        filters = [p for p in weights if p.type.ndim == 4]
        gammas = [p for p in weights if p.type.ndim != 4]
        groups += [
            {"params": filters, "learning_rate": rate, "weight_decay": weight_decay},
            {"params": gammas, "learning_rate": rate},
            {"params": biases, "learning_rate": bias_rate},
        ]
    return groups
