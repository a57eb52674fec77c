"""Statistics of the batch normalizations, measured for the averaged weights.

Training averages the running statistics like the weights.  But each of them belongs to weights of
its own time, not to the averaged ones.  Weights that are kept are better off with statistics of
their own: the means over some batches of training images, as the last epochs saw them
(P. Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018,
section 3.2, does so for weights averaged by other factors).
"""

import contextlib
import itertools

import numpy as np
from blocks import BN_MOMENTUM

import pytensor

IMAGES = 2400


class Statistics:
    """Measures the statistics of a training step's averaged weights.

    Parameters
    ----------
    model : YOLO11n
    step : TrainStep
        Of the model; its images and averages are used.
    devices : parallel.Devices
    """

    def __init__(self, model, step, devices):
        self.step, self.devices = step, devices
        names = {variable: name for name, variable in model.store.statistics.items()}
        model(step.images.images, training=True)
        updates = dict(model.updates)
        self.names = [names[variable] for variable in updates]
        # With nothing to start from, what is left of the new value is the batch's, times a factor.
        nothing = [(v, np.zeros(v.type.shape, v.type.dtype)) for v in updates]
        weights = [(v, step.averages[name]) for name, v in model.store.trainable.items()]
        self.measure = pytensor.function(
            step.images.variables,
            list(updates.values()),
            givens=nothing + weights,
            mode=step.mode,
            trust_input=True,
            on_unused_input="ignore",  # the last layers' weights, behind which none is normalized
        )

    def refresh(self, batches):
        """Put the means over batches in the place of the averaged statistics.

        Parameters
        ----------
        batches : iterable of Batch
        """
        sums, count = [0.0] * len(self.names), 0
        for batch in batches:
            rows = self.devices.shard(self.step.images.arguments(batch))
            values = map(self.devices.fetch, self.measure(*rows))
            sums = [total + v.astype("float64") for total, v in zip(sums, values, strict=True)]
            count += 1
        for name, total in zip(self.names, sums, strict=True):
            mean = (total / (count * BN_MOMENTUM)).astype("float32")
            self.step.averages[name].set_value(mean)
        self.step.place_variables()


def chosen_batches(loader, epochs, images):
    """Batches to measure with: those that would come after the last epoch, two epochs at most.

    Parameters
    ----------
    loader : BatchLoader
    epochs : int
        Of the training.
    images : int
        How many at least.
    """
    count = min(-(-images // loader.batch_size), 2 * len(loader))
    for epoch in (epochs, epochs + 1):
        with contextlib.closing(loader.epoch(epoch)) as batches:
            yield from itertools.islice(batches, count)
        count -= min(count, len(loader))
