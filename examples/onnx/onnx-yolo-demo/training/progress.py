"""Where a training run stands."""

from dataclasses import dataclass, field

from training.train_step import LOSS_PARTS


@dataclass
class Progress:
    """Where a run stands; saved with each checkpoint."""

    epoch: int = 0  # epochs finished
    iteration: int = 0  # batches of the run
    last_step: int = -1  # iteration of the latest step of the optimizer
    steps: int = 0
    best: float = -1.0  # mAP@0.5:0.95
    rows: list = field(default_factory=list)
    # of the epoch that is running
    batch: int = 0
    sums: list = field(default_factory=lambda: [0.0] * len(LOSS_PARTS))  # of the losses
    seconds: float = 0.0
    waited: float = 0.0  # seconds without a batch
    # after steps that were not finite
    lr_factor: float = 1.0
    roll_backs: int = 0

    def next_epoch(self, row):
        """Close the running epoch."""
        self.rows.append(row)
        self.epoch += 1
        fresh = Progress()
        self.batch, self.sums = fresh.batch, fresh.sums
        self.seconds, self.waited = fresh.seconds, fresh.waited


class BadStep(Exception):
    """The loss or the gradient of a step isn't finite."""
