import math


class EarlyStopping:
    """Tell when a training has stopped getting better.

    Parameters
    ----------
    patience : int
        Epochs without improvement after which to stop; 0 never stops.

    Attributes
    ----------
    best_epoch : int
        0 before there was any.

    Examples
    --------
    >>> from pytensor.optimizers import EarlyStopping
    >>> stopping = EarlyStopping(patience=2)
    >>> [stopping.update(epoch, score) for epoch, score in enumerate([0.3, 0.5, 0.4, 0.5], 1)]
    [False, False, False, True]
    >>> stopping.best_epoch
    2
    """

    def __init__(self, patience: int) -> None:
        if patience < 0:
            raise ValueError(f"patience must be at least 0, not {patience}")
        self.patience = patience
        self.best_epoch, self._best = 0, -math.inf

    def update(self, epoch: int, score: float) -> bool:
        """Take note of an epoch's score, and return whether to stop.

        Parameters
        ----------
        epoch : int
            Its number.  Epochs without a score count too, by the difference of the numbers.
        score : float
            Better if larger: minus the loss, say.  NaN is no improvement.
        """
        if score > self._best:
            self.best_epoch, self._best = epoch, score
        return 0 < self.patience <= epoch - self.best_epoch
