from collections.abc import Iterable

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.optimizers.basic import (
    Scalar,
    as_scalar,
    check_gradients,
    check_parameters,
    names_of,
    shared_like,
)  # fmt: skip
from pytensor.optimizers.updates import Gradients, OrderedUpdates
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.type import integer_dtypes
from pytensor.tensor.variable import TensorVariable


class GradientAccumulator:
    """Sum gradients over several batches, for steps of a larger batch than fits in memory.

    Parameters
    ----------
    params : sequence of SharedVariable
    mean : bool
        Give the means over all samples instead of the sums, also where batches have different
        numbers of samples, as the last one of an epoch.

    Attributes
    ----------
    gradients : list of TensorVariable
        In the order of `params`: give them to an optimizer.  Without `mean` they are the sums so
        far, shared variables called ``<name>.accumulated_gradient``.
    state : dict of str to SharedVariable
        The sums by name and, with `mean`, ``accumulated_samples``, their number.  Sums have the
        parameters' dtypes, but float32 for float16.

    Examples
    --------
    Two functions on the same shared variables, one run for each batch, one for each step:

    >>> import numpy as np
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.optimizers import SGD, GradientAccumulator, merge_updates
    >>> w = pytensor.shared(np.zeros(()), name="w")
    >>> x = pt.vector("x")
    >>> gradient = pytensor.grad(((w - x) ** 2).mean() / 2, w)
    >>> means = GradientAccumulator([w], mean=True)
    >>> updates = means.add_updates([gradient], samples=x.shape[0])
    >>> accumulate = pytensor.function([x], [], updates=updates, mode="FAST_COMPILE")
    >>> updates = SGD(0.5).get_updates([w], means.gradients)
    >>> updates = merge_updates(updates, means.reset_updates())
    >>> apply = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    >>> _ = accumulate([1.0, 2.0, 3.0]), accumulate([6.0]), apply()
    >>> float(w.get_value())
    1.5
    """

    def __init__(self, params: Iterable[SharedVariable], mean: bool = False) -> None:
        self.params = check_parameters(params)
        self._sums = [
            shared_like(param, f"{name}.accumulated_gradient")
            for param, name in zip(self.params, names_of(self.params), strict=True)
        ]
        self.state = {total.name: total for total in self._sums}
        self.gradients: list[TensorVariable] = list(self._sums)
        self._samples: TensorSharedVariable | None = None
        if mean:
            self._samples = shared(np.asarray(0, dtype="int32"), name="accumulated_samples")
            self.state["accumulated_samples"] = self._samples
            divisor = pt.maximum(self._samples, np.int32(1))
            self.gradients = [total / pt.cast(divisor, total.type.dtype) for total in self._sums]

    def add_updates(self, grads: Gradients, samples: Scalar | None = None) -> OrderedUpdates:
        """Build the updates that add `grads`, one for each parameter, to the sums.

        Parameters
        ----------
        grads : sequence of TensorVariable
            With `mean`, gradients of the mean over the batch.
        samples : int or integer scalar variable, optional
            How many samples the batch has; with `mean` only, and always then.
        """
        grads = check_gradients(self.params, grads)
        updates = OrderedUpdates()
        if (samples is None) != (self._samples is None):
            raise ValueError("samples must be given if, and only if, mean=True")
        if samples is not None and self._samples is not None:
            count = as_scalar(samples, None, "samples")
            if count.type.dtype not in integer_dtypes:
                raise TypeError(f"samples must be an integer, got {count.type.dtype}; cast it")
            count = pt.cast(count, "int32")
            updates[self._samples] = self._samples + count
            grads = [pt.cast(count, grad.type.dtype) * grad for grad in grads]
        updates.update(
            (total, total + grad) for total, grad in zip(self._sums, grads, strict=True)
        )
        return updates

    def reset_updates(self) -> OrderedUpdates:
        """Build the updates that set the sums, and the number of samples, to zero."""
        return OrderedUpdates((v, pt.zeros_like(v)) for v in self.state.values())
