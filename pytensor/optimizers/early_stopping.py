import math


class EarlyStopping:
    """Tells when a run has stopped getting better.

    Parameters
    ----------
    patience : int
        Epochs without improvement after which the run stops; 0 lets it go on.

    Attributes
    ----------
    best_epoch : int
        0 before there was any.
    """

    def __init__(self, patience):
        if patience < 0:
            raise ValueError(f"patience must be at least 0, not {patience}")
        self.patience = patience
        self.best_epoch, self._best = 0, -math.inf

    def update(self, epoch, fitness):
        """Take note of an epoch's fitness, mAP@0.5:0.95; return whether to stop.

        Epochs that weren't validated count too, by the difference of the numbers; NaN is no
        improvement.
        """
        if fitness > self._best:
            self.best_epoch, self._best = epoch, fitness
        return 0 < self.patience <= epoch - self.best_epoch
