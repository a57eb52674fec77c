from collections.abc import Iterable

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.optimizers.basic import check_gradients, check_parameters, names_of, shared_like
from pytensor.optimizers.updates import Gradients, OrderedUpdates


class GradientAccumulator:
    """Sums of gradients over several batches, for steps of a larger batch than fits in memory.

    Parameters
    ----------
    params : sequence of SharedVariable

    Attributes
    ----------
    gradients : list of SharedVariable
        The sums so far, in the order of `params`, called ``<name>.accumulated_gradient``.  Give
        them to an optimizer as gradients.
    state : dict of str to SharedVariable
        The same by name.

    Examples
    --------
    Two functions on the same shared variables, one run for each batch, one for each step:

    >>> import numpy as np
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.optimizers import SGD, GradientAccumulator, merge_updates
    >>> w = pytensor.shared(np.zeros(2), name="w")
    >>> x = pt.vector("x", shape=(2,))
    >>> sums = GradientAccumulator([w])
    >>> updates = sums.add_updates([w - x])
    >>> accumulate = pytensor.function([x], [], updates=updates, mode="FAST_COMPILE")
    >>> updates = SGD(0.5).get_updates([w], sums.gradients)
    >>> updates = merge_updates(updates, sums.reset_updates())
    >>> apply = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    >>> _ = accumulate(np.ones(2)), accumulate(np.array([1.0, 3.0])), apply()
    >>> w.get_value()
    array([1., 2.])
    """

    def __init__(self, params: Iterable[SharedVariable]) -> None:
        self.params = check_parameters(params)
        self.gradients = [
            shared_like(param, f"{name}.accumulated_gradient")
            for param, name in zip(self.params, names_of(self.params), strict=True)
        ]
        self.state = {gradient.name: gradient for gradient in self.gradients}

    def add_updates(self, grads: Gradients) -> OrderedUpdates:
        """Build the updates that add `grads`, one for each parameter, to the sums."""
        grads = check_gradients(self.params, grads)
        return OrderedUpdates(
            (total, total + grad) for total, grad in zip(self.gradients, grads, strict=True)
        )

    def reset_updates(self) -> OrderedUpdates:
        """Build the updates that set the sums to zero."""
        return OrderedUpdates((total, pt.zeros_like(total)) for total in self.gradients)
