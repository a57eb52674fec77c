import numpy as np

import pytensor
from pytensor.compile.sharedvalue import shared
from pytensor.optimizers.basic import check_number
from pytensor.tensor.sharedvar import TensorSharedVariable


class ReduceLROnPlateau:
    """Shrink a learning rate when a loss has stopped falling, as in PyTorch.

    Parameters
    ----------
    learning_rate : float
        The first one.
    factor : float
        What it is multiplied by, in (0, 1).
    patience : int
        Epochs without improvement that are waited for.
    threshold : float
        A loss is an improvement if it is less than ``1 - threshold`` times the best one.
    minimum : float
        The rate isn't made smaller than that.

    Attributes
    ----------
    rate : SharedVariable
        A scalar of dtype floatX, for an optimizer.
    state : dict of str to SharedVariable
        What has to be saved to go on: the rate, the best loss, and the epochs since.

    Examples
    --------
    >>> from pytensor.optimizers import SGD, ReduceLROnPlateau
    >>> plateau = ReduceLROnPlateau(0.1, factor=0.5, patience=1)
    >>> optimizer = SGD(plateau.rate)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     plateau.update(loss)
    >>> float(plateau.rate.get_value())
    0.05
    """

    def __init__(
        self, learning_rate: float, factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, minimum: float = 0.0,
    ) -> None:  # fmt: skip
        check_number("learning_rate", learning_rate)
        if not 0 < factor < 1:
            raise ValueError(f"factor must be greater than 0 and less than 1, not {factor}")
        if patience < 0:
            raise ValueError(f"patience must be at least 0, not {patience}")
        self.factor, self.patience = factor, patience
        self.threshold, self.minimum = threshold, minimum
        values = {
            "rate": np.asarray(learning_rate, pytensor.config.floatX),
            "best": np.finfo("float64").max,
            "waited": np.int64(0),
        }
        self.state: dict[str, TensorSharedVariable] = {
            f"plateau.{name}": shared(value, name=f"plateau.{name}")
            for name, value in values.items()
        }
        self.rate, self._best, self._waited = self.state.values()

    def update(self, loss: float) -> None:
        """Take note of an epoch's loss; NaN is no improvement."""
        if loss < float(self._best.get_value()) * (1 - self.threshold):
            self._best.set_value(np.float64(loss))
            self._waited.set_value(np.int64(0))
            return
        waited = int(self._waited.get_value()) + 1
        if waited > self.patience:
            rate = float(self.rate.get_value())
            rate = min(rate, max(rate * self.factor, self.minimum))
            self.rate.set_value(np.asarray(rate, self.rate.type.dtype))
            waited = 0
        self._waited.set_value(np.int64(waited))
