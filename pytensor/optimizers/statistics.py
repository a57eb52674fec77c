from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import pytensor
import pytensor.tensor as pt
from pytensor.compile.executor import Function
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable


class AveragedStatistics:
    """Measure the running statistics of normalizations for averaged weights.

    Averaging the running statistics of a training along with its weights leaves each of them to
    the weights of its time.  Averaged weights do better with statistics that are measured with
    them: the means over some batches of what a step would find (P. Izmailov et al., Averaging
    Weights Leads to Wider Optima and Better Generalization, 2018, section 3.2).

    Parameters
    ----------
    inputs : list of Variable
        Of the network.
    updates : mapping of SharedVariable to TensorVariable
        Each running statistic's new value in training,
        ``(1 - factor) * statistic + factor * batch's``.
    averages : mapping of SharedVariable to SharedVariable
        The average of each statistic, and of each parameter that they depend on.
    factor : float
        The batch's share in the new values, ``running_average_factor`` of
        `pytensor.tensor.batch_normalization_train`.
    mode : Mode or str, optional
    """

    def __init__(
        self,
        inputs: Sequence[Variable],
        updates: Mapping[SharedVariable, Variable],
        averages: Mapping[SharedVariable, SharedVariable],
        factor: float,
        mode: Mode | str | None = None,
    ) -> None:
        if not 0 < factor <= 1:
            raise ValueError(f"factor must be greater than 0 and at most 1, not {factor}")
        self.averages = [averages[statistic] for statistic in updates]
        self.factor = factor
        # With nothing to start from, what is left of the new value is the batch's, times a factor.
        nothing: list[Any] = [
            (v, np.zeros(v.get_value(borrow=True).shape, v.type.dtype)) for v in updates
        ]
        weights = [
            (v, pt.cast(average, v.type.dtype))
            for v, average in averages.items()
            if v not in updates
        ]
        self.measure: Function = pytensor.function(
            inputs,
            list(updates.values()),
            givens=nothing + weights,
            mode=mode,
            trust_input=True,
            on_unused_input="ignore",  # weights behind which nothing is normalized
        )

    def refresh(self, batches: Iterable[Sequence[ArrayLike]]) -> None:
        """Put the means over batches in the place of the averaged statistics.

        Parameters
        ----------
        batches : iterable of list of arrays
            Values of `inputs`, of exactly their types; one batch at least.
        """
        sums: list[Any] = [0.0] * len(self.averages)
        count = 0
        for batch in batches:
            values = map(np.asarray, self.measure(*batch))
            sums = [total + v.astype("float64") for total, v in zip(sums, values, strict=True)]
            count += 1
        if not count:
            raise ValueError("refresh was given no batch to measure statistics with")
        for average, total in zip(self.averages, sums, strict=True):
            average.set_value((total / (count * self.factor)).astype(average.type.dtype))
