"""Log losses and scores by other programs' own libraries: ``--log``."""

import importlib
import shutil
import time


class LogError(Exception):
    """A library isn't installed; the message says how to."""


class TensorBoard:
    """Writes event files into the run's folder, for ``tensorboard --logdir runs``."""

    modules = (
        "tensorboard.summary.writer.event_file_writer", "tensorboard.compat.proto.event_pb2",
        "tensorboard.compat.proto.summary_pb2",
    )  # fmt: skip

    def __init__(self, folder, options):
        writer, event, summary = map(importlib.import_module, self.modules)
        self._event, self._summary = event.Event, summary.Summary
        path = folder / "tensorboard"
        if not options.resume:
            shutil.rmtree(path, ignore_errors=True)
        self._writer = writer.EventFileWriter(str(path))

    def write(self, values, epoch):
        """Write an epoch's numbers, by name."""
        rows = [self._summary.Value(tag=name, simple_value=v) for name, v in values.items()]
        summary = self._summary(value=rows)
        self._writer.add_event(self._event(wall_time=time.time(), step=epoch, summary=summary))

    def close(self):
        """Write what is waiting."""
        self._writer.close()


class WeightsAndBiases:
    """Logs to wandb, whose settings are in the environment (``WANDB_MODE=offline``)."""

    modules = ("wandb",)

    def __init__(self, folder, options):
        [wandb] = map(importlib.import_module, self.modules)
        config = {name: str(value) for name, value in vars(options).items() if name != "arguments"}
        self._run = wandb.init(
            project="pytensor-vision", name=folder.name, dir=str(folder), config=config
        )

    def write(self, values, epoch):
        """Write an epoch's numbers, by name."""
        self._run.log(values, step=epoch)

    def close(self):
        """End wandb's run."""
        self._run.finish()


LOGGERS = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases}


def require(names):
    """Raise a LogError with the line that installs a library, where one is absent."""
    for name in names:
        try:
            for module in LOGGERS[name].modules:
                importlib.import_module(module)
        except ImportError as error:
            raise LogError(
                f"--log {name} needs its library ({error}): pip install {name}"
            ) from None
