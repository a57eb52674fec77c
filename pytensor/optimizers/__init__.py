"""First-order optimizers whose steps are updates of shared variables.

>>> import numpy as np
>>> import pytensor
>>> import pytensor.tensor as pt
>>> from pytensor.optimizers import SGD, schedules
>>> weight = pytensor.shared(np.array([3.0, -2.0]), name="weight")
>>> cost = pt.sum(weight**2)
>>> optimizer = SGD(learning_rate=0.25, momentum=0.9)
>>> updates = optimizer.get_updates([weight], pytensor.grad(cost, [weight]))
>>> step = pytensor.function([], cost, updates=updates, mode="FAST_COMPILE")
>>> float(step()), float(step())
(13.0, 3.25)
>>> list(optimizer.state)
['weight.momentum_buffer']

A learning rate, momentum or weight decay may be a number, a symbolic scalar (a shared variable
which the training loop sets, an input of the compiled function), or a schedule: a function of the
number of steps.

>>> rate = schedules.one_cycle(steps=1000, peak=0.1)
>>> updates = SGD(lr=rate, momentum=0.9).minimize(cost, [weight])
"""

from typing import Any

from pytensor.optimizers import schedules
from pytensor.optimizers.accumulation import GradientAccumulator
from pytensor.optimizers.adagrad import Adagrad
from pytensor.optimizers.adam import Adam, AdamW, NAdam
from pytensor.optimizers.averaging import ExponentialMovingAverage
from pytensor.optimizers.basic import Optimizer
from pytensor.optimizers.clipping import (
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    skip_nonfinite,
)
from pytensor.optimizers.early_stopping import EarlyStopping
from pytensor.optimizers.lion import Lion
from pytensor.optimizers.muon import Muon, orthogonalize
from pytensor.optimizers.musgd import MuSGD
from pytensor.optimizers.plateau import ReduceLROnPlateau
from pytensor.optimizers.rmsprop import RMSprop
from pytensor.optimizers.sgd import SGD
from pytensor.optimizers.statistics import AveragedStatistics
from pytensor.optimizers.updates import OrderedUpdates, merge_updates
from pytensor.tensor.missing_names import missing_name

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "AveragedStatistics",
    "EarlyStopping",
    "ExponentialMovingAverage",
    "GradientAccumulator",
    "Lion",
    "MuSGD",
    "Muon",
    "NAdam",
    "Optimizer",
    "OrderedUpdates",
    "RMSprop",
    "ReduceLROnPlateau",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "merge_updates",
    "orthogonalize",
    "schedules",
    "skip_nonfinite",
]


def __getattr__(name: str) -> Any:
    elsewhere = {"lr_scheduler": "use pytensor.optimizers.schedules"}
    raise missing_name(f"module {__name__!r}", name, __all__, elsewhere)
