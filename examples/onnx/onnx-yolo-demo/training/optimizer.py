"""The optimizers of the recipe, and which parameters they treat how."""

import numpy as np
from training.recipe import ADAMW_BETAS

from pytensor.optimizers import SGD, AdamW, MuSGD

# MuSGD: what multiplies the rate of all parameters of the head's class branch. (C3k has a
# convolution called cv3 too, which isn't meant.)
CLASS_BRANCH, CLASS_BRANCH_FACTOR = "model.23.cv3.", 3.0


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
