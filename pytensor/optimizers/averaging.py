from collections.abc import Iterable

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.optimizers.basic import (
    Scalar,
    as_scalar,
    check_number,
    check_parameters,
    names_of,
    shared_like,
    wide_dtype,
)  # fmt: skip
from pytensor.optimizers.updates import OrderedUpdates, Updates


class ExponentialMovingAverage:
    """Average parameters over training, which is usually better than the last values.

    ``average + (1 - decay) * (parameter - average)`` after each step, from the parameter's value at
    construction on.

    Parameters
    ----------
    params : sequence of SharedVariable
        Float tensors of any shape; running statistics as well as weights.
    decay : float or scalar variable
        In [0, 1]; `pytensor.optimizers.schedules.saturating` lets it grow over the first steps.

    Attributes
    ----------
    averages : list of SharedVariable
        In the order of `params`, called ``<name>.ema``, of the parameters' dtypes, but float32 for
        float16.
    state : dict of str to SharedVariable
        The same by name.

    Examples
    --------
    The updates of one function all happen at once, from the values before the call.  An average of
    what the optimizer is about to write therefore needs the optimizer's updates:

    >>> import numpy as np
    >>> import pytensor
    >>> from pytensor.optimizers import SGD, ExponentialMovingAverage, merge_updates
    >>> w = pytensor.shared(np.zeros(2), name="w")
    >>> updates = SGD(1.0).get_updates([w], [w - 1.0])
    >>> ema = ExponentialMovingAverage([w], decay=0.9)
    >>> updates = merge_updates(updates, ema.get_updates(updates))
    >>> step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    >>> _ = step()
    >>> ema.averages[0].get_value().round(6)
    array([0.1, 0.1])
    """

    def __init__(self, params: Iterable[SharedVariable], decay: Scalar) -> None:
        check_number("decay", decay)
        if not isinstance(decay, Variable) and decay > 1:
            raise ValueError(f"decay must be in [0, 1], not {decay}")
        self.params = check_parameters(params)
        self.decay = decay
        self.averages = [
            shared_like(param, f"{name}.ema", param.get_value(borrow=True))
            for param, name in zip(self.params, names_of(self.params), strict=True)
        ]
        self.state = {average.name: average for average in self.averages}

    def get_updates(self, updates: Updates = ()) -> OrderedUpdates:
        """Build one step of the averages.

        Parameters
        ----------
        updates : mapping or iterable of pairs, optional
            The other updates of the same function.  A parameter's average takes in the new value
            found there, and the parameter's present value where there is none.

        Returns
        -------
        OrderedUpdates
            Only of the averages.
        """
        new_values = dict(updates)
        result = OrderedUpdates()
        # 1 - decay is taken before rounding to float32 where that is possible.  It is rounded
        # alone: of two rounded factors the sum isn't 1, and each step would shrink the average.
        # One number for all averages, for XLA merges updates that read the same ones.
        dtypes = {wide_dtype(param) for param in self.params}
        rests = {dtype: as_scalar(1 - self.decay, dtype, "decay") for dtype in sorted(dtypes)}
        for param, average in zip(self.params, self.averages, strict=True):
            rest = rests[wide_dtype(param)]
            result[average] = average + rest * (new_values.get(param, param) - average)
        return result
