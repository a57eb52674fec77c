"""The training recipe: its numbers, its optimizers, and the rates of each iteration."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

OPTIMIZERS = ("sgd", "adamw", "musgd", "auto")
SCHEDULES = ("cosine", "linear")  # functions of pytensor.optimizers.schedules
ADAMW_BETAS = (0.9, 0.999)
# Runs with more steps than this are trained with MuSGD if the choice is left to `resolve`.
MANY_STEPS = 10_000
# With MuSGD the head's class branch learns faster by this factor. (C3k has a convolution called cv3
# too, which isn't meant.)
CLASS_BRANCH, CLASS_BRANCH_FACTOR = "model.23.cv3.", 3.0
# While old classes are kept, all layers learn slowly, and only the last ones of the class branch,
# which have the rows of new classes, faster by this factor.
KEEPING = {"lr": 0.001, "warmup_bias_lr": 0.0}
LAST_LAYER_FACTOR = 8.0
# The averages follow weights between the starting ones, 0, and the trained ones, 1: Wortsman et
# al., "Robust fine-tuning of zero-shot models" (CVPR 2022, arXiv 2109.01903).
TRAINED_SHARE = 0.5


@dataclass(frozen=True)
class Recipe:
    """Numbers of the training recipe."""

    optimizer: str = "sgd"  # with Nesterov's momentum
    lr: float = 0.01  # of the first epoch
    final_lr: float = 0.01  # of the one that would follow the last, as a fraction of the first's
    schedule: str = "linear"  # how the rate goes from the one to the other, epoch by epoch
    momentum: float = 0.937  # of SGD and MuSGD
    weight_decay: float = 5e-4  # of convolution filters
    # Over these epochs the rate rises from 0 (that of biases goes on from another), the momentum
    # rises, and the batches per step from 1.
    warmup_epochs: float = 3.0
    warmup_bias_lr: float = 0.1
    warmup_momentum: float = 0.8
    nominal_batch: int = 64  # gradients are summed over about as many images before each step
    # of the averaged weights; see `decay_of_averages`
    ema_decay: float = 0.9999
    ema_steps: float = 2000.0

    def batches_per_step(self, batch_size):
        """Return the batches whose gradients make one step, after the warm-up."""
        return max(round(self.nominal_batch / batch_size), 1)

    def decay_of_averages(self, steps):
        """Return ``ema_decay * (1 - exp(-k / ema_steps))`` of step k, after `steps` others."""
        return self.ema_decay * (1 - math.exp(-(steps + 1) / self.ema_steps))


def resolve(recipe, num_images, batch_size, epochs, num_classes):
    """Make the choice of optimizer and rates that ``optimizer="auto"`` leaves open.

    MuSGD if the run has many steps of `nominal_batch` images, else AdamW.
    """
    if recipe.optimizer != "auto":
        return recipe
    steps = math.ceil(num_images / max(batch_size, recipe.nominal_batch)) * epochs
    if steps > MANY_STEPS:
        chosen = {"optimizer": "musgd", "lr": 0.01, "momentum": 0.937, "warmup_momentum": 0.9}
    else:
        chosen = {"optimizer": "adamw", "lr": round(0.01 / (4 + num_classes), 6)}
    return replace(recipe, warmup_bias_lr=0.0, **chosen)


class Rates(NamedTuple):
    """The numbers that a step takes besides its batch."""

    lr: float
    bias_lr: float
    momentum: float  # of SGD and MuSGD
    ema_decay: float


class StepSettings:
    """Settings of each iteration of a run: its rates, and how many batches make a step.

    A run has `epochs` epochs of `batches` batches.  `lr`, `bias_lr`, `momentum` and
    `batches_per_step` are schedules of the iteration, which counts from the start of the run; the
    warm-up ends with number `warmup`.
    """

    def __init__(self, recipe, epochs, batches, batch_size):
        # PyTensor takes seconds to import, and the command line reads only the names above.
        from pytensor.optimizers import schedules

        self.recipe = recipe
        self.warmup = round(min(recipe.warmup_epochs, epochs - 1) * batches)
        # A run shorter than one step's batches still steps; the first batch of a warm-up is a step
        # of its own, at a rate of 0, that moves no filter.
        most = max(epochs * batches - (self.warmup > 0), 1)
        self.accumulate = min(recipe.batches_per_step(batch_size), most)
        self.weight_decay = (
            recipe.weight_decay * batch_size * self.accumulate / recipe.nominal_batch
        )
        factor = getattr(schedules, recipe.schedule)(epochs, recipe.final_lr)
        warm_up = partial(schedules.warmup, steps=self.warmup)

        def lr(iteration):
            return recipe.lr * factor(iteration // batches)

        self.lr = warm_up(lr)
        self.bias_lr = warm_up(lr, start=recipe.warmup_bias_lr)
        self.momentum = warm_up(recipe.momentum, start=recipe.warmup_momentum)
        self.batches_per_step = warm_up(self.accumulate, start=1)

    def at(self, iteration, steps):
        """Return (`Rates`, batches per step) of an iteration after `steps` steps."""
        rates = Rates(
            lr=self.lr(iteration),
            bias_lr=self.bias_lr(iteration),
            momentum=self.momentum(iteration),
            ema_decay=self.recipe.decay_of_averages(steps),
        )
        return rates, max(round(self.batches_per_step(iteration)), 1)


def make_optimizer(name, lr, momentum):
    """Make the optimizer of a name, without decay; `lr` and `momentum` are scalar variables."""
    from pytensor.optimizers import SGD, AdamW, MuSGD

    if name == "sgd":
        return SGD(lr, momentum=momentum, nesterov=True)
    if name == "musgd":
        return MuSGD(lr, momentum=momentum, nesterov=True)
    if name == "adamw":
        return AdamW(lr, betas=ADAMW_BETAS, weight_decay=0.0)
    raise ValueError(f"there is no optimizer {name!r}: sgd, adamw, musgd; `resolve` replaces auto")


def of_class_branch(name):
    """Return whether a parameter is of the head's class branch."""
    return name.startswith(CLASS_BRANCH)


def of_last_layer(name):
    """Return whether a parameter is of a last layer of the class branch."""
    return of_class_branch(name) and name.split(".")[4] == "2"


def parameter_groups(params, lr, bias_lr, weight_decay, fast_factor=1.0, fast=of_class_branch):
    """Make an optimizer's groups: filters, which alone decay, gammas, and biases.

    `fast_factor` multiplies the rate of the parameters whose names are `fast`.  Their biases reach
    the same rate at the end of the warm-up, from the same start as other biases.
    """
    groups = []
    for faster in (False, True):
        chosen = [p for p in params if fast(p.name) == faster]
        factor = fast_factor if faster else 1.0
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
