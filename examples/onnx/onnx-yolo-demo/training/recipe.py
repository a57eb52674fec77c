"""The training recipe: its numbers, its choices, and what each iteration of a run uses."""

import math
from dataclasses import dataclass, replace

from pytensor.optimizers import schedules

OPTIMIZERS = ("sgd", "adamw", "musgd", "auto")
SCHEDULES = {"cosine": schedules.cosine, "linear": schedules.linear}
ADAMW_BETAS = (0.9, 0.999)
# Runs with more steps than this are trained with MuSGD if the choice is left to `resolve`.
MANY_STEPS = 10_000


@dataclass(frozen=True)
class Recipe:
    """Numbers of the training recipe.

    Attributes
    ----------
    optimizer : "sgd", "adamw", "musgd" or "auto"
        SGD with Nesterov's momentum, AdamW, `MuSGD`, or what `resolve` chooses.
    lr, final_lr : float
        Learning rate of the first epoch, and the last one's as a fraction of it.
    schedule : "cosine" or "linear"
        How the rate goes from the one to the other, epoch by epoch.
    momentum : float
        Of SGD and MuSGD; AdamW has betas 0.9 and 0.999.
    weight_decay : float
        Only convolution filters decay.
    warmup_epochs : float
        Over so many epochs the rate rises from 0 (that of biases starts at `warmup_bias_lr`), the
        momentum rises from `warmup_momentum`, and the batches per step from 1.
    nominal_batch : int
        Gradients are summed over about as many images before each step.
    ema_decay, ema_steps : float
        After k steps the average's decay is ``ema_decay * (1 - exp(-k / ema_steps))``.
    """

    optimizer: str = "sgd"
    lr: float = 0.01
    final_lr: float = 0.01
    schedule: str = "linear"
    momentum: float = 0.937
    weight_decay: float = 5e-4
    warmup_epochs: float = 3.0
    warmup_bias_lr: float = 0.1
    warmup_momentum: float = 0.8
    nominal_batch: int = 64
    ema_decay: float = 0.9999
    ema_steps: float = 2000.0

    def __post_init__(self):
        for name, choices in [("optimizer", OPTIMIZERS), ("schedule", SCHEDULES)]:
            if getattr(self, name) not in choices:
                raise ValueError(
                    f"{name} must be one of {', '.join(choices)}, not {getattr(self, name)!r}"
                )

    def batches_per_step(self, batch_size):
        """Batches whose gradients make one step, after the warm-up."""
        return max(round(self.nominal_batch / batch_size), 1)


def resolve(recipe, num_images, batch_size, epochs, num_classes):
    """Make the choice that ``optimizer="auto"`` leaves open.

    Parameters
    ----------
    recipe : Recipe
    num_images, batch_size, epochs : int
        Of the training set, of a batch, of the run.
    num_classes : int

    Returns
    -------
    Recipe
        `recipe` itself, unless its optimizer is "auto".  Then, if the run has more than 10,000
        steps of `nominal_batch` images, MuSGD at the rate 0.01, its momentum rising from 0.9 to
        0.937; else AdamW at the rate ``0.01 / (4 + num_classes)`` rounded to 6 decimals.  The
        warm-up's rate of biases starts at 0 with both.  The recipe's own values of these are
        replaced.
    """
    if recipe.optimizer != "auto":
        return recipe
    steps = math.ceil(num_images / max(batch_size, recipe.nominal_batch)) * epochs
    if steps > MANY_STEPS:
        chosen = {"optimizer": "musgd", "lr": 0.01, "momentum": 0.937, "warmup_momentum": 0.9}
    else:
        chosen = {"optimizer": "adamw", "lr": round(0.01 / (4 + num_classes), 6)}
    return replace(recipe, warmup_bias_lr=0.0, **chosen)


class StepSettings:
    """What each iteration of a run uses: rates, momentum, and when to step.

    Parameters
    ----------
    recipe : Recipe
    epochs, batches : int
        Of the run, and of an epoch.
    batch_size : int
    """

    def __init__(self, recipe, epochs, batches, batch_size):
        self.recipe, self.epochs, self.batches = recipe, epochs, batches
        self.factor = SCHEDULES[recipe.schedule](epochs, recipe.final_lr)
        self.accumulate = recipe.batches_per_step(batch_size)
        self.warmup = round(min(recipe.warmup_epochs, epochs - 1) * batches)
        # A run shorter than one step's batches still steps.
        self.accumulate = min(self.accumulate, epochs * batches)
        self.weight_decay = (
            recipe.weight_decay * batch_size * self.accumulate / recipe.nominal_batch
        )

    def at(self, epoch, iteration):
        """Return (rate, rate of biases, momentum, batches per step) of an iteration.

        `iteration` counts from the start of the run; the warm-up ends with number `warmup`.
        AdamW's momentum is its first beta, and isn't warmed up.
        """
        recipe = self.recipe
        lr = recipe.lr * self.factor(epoch)
        first, last = recipe.warmup_momentum, recipe.momentum
        if recipe.optimizer == "adamw":
            first = last = ADAMW_BETAS[0]

        def warmed_up(aim, start):
            return schedules.warmup(aim, self.warmup, start)(iteration)

        return (
            warmed_up(lr, 0.0),
            warmed_up(lr, recipe.warmup_bias_lr),
            warmed_up(last, first),
            max(round(warmed_up(self.accumulate, 1)), 1),
        )
