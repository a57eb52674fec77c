"""Statistics of the batch normalizations, measured for the averaged weights of a run."""

import contextlib
import itertools

from blocks import BN_MOMENTUM

from pytensor.optimizers import AveragedStatistics

IMAGES = 2400


def measure_statistics(model, step, devices):
    """Return a function that measures the statistics of a training step's averages over batches.

    Parameters
    ----------
    model : YOLO11n
    step : TrainStep
        Of the model; its images and averages are used.
    devices : Devices
    """
    model(step.images.images, training=True)
    variables = model.store.trainable | model.store.statistics
    averages = {variable: step.averages[name] for name, variable in variables.items()}
    statistics = AveragedStatistics(
        step.images.variables, dict(model.updates), averages, BN_MOMENTUM, step.mode
    )

    def measure(batches):
        arrays = (devices.shard(step.images.arguments(batch)) for batch in batches)
        statistics.refresh(arrays, devices.fetch)
        step.place_variables()

    return measure


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
