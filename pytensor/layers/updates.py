"""Whether the graph of a training is built, and what has to be updated with each step."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.scalar.basic import Cast

type LayerUpdates = dict[SharedVariable, Variable]


class _Collected(dict[SharedVariable, Variable]):
    """Updates whose nodes know it, so that an optimizer finds them in the graph of a loss."""

    def __setitem__(self, variable: SharedVariable, new: Variable) -> None:
        super().__setitem__(variable, new)
        node = new.owner
        if node is not None and isinstance(getattr(node.op, "scalar_op", None), Cast):
            node = node.inputs[0].owner
        if node is not None:
            node.tag.updated = (*getattr(node.tag, "updated", ()), variable)


_updates: ContextVar[LayerUpdates | None] = ContextVar("updates", default=None)


@contextmanager
def training() -> Iterator[LayerUpdates]:
    """Have modules build their training graphs: statistics of the batch, and dropout.

    Yields
    ------
    dict of SharedVariable to Variable
        The new values of running statistics and generators, filled by the modules that are called:
        for `pytensor.function`, or the `updates` of `Optimizer.minimize`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> net = layers.Sequential(layers.Linear(4, 8), layers.BatchNorm(8), layers.Dropout(0.2))
    >>> with layers.training() as updates:
    ...     y = net(pt.matrix("x"))
    >>> [variable.name for variable in updates]
    ['1.running_mean', '1.running_var', '2.rng']
    """
    updates = _Collected()
    token = _updates.set(updates)
    try:
        yield updates
    finally:
        _updates.reset(token)


def current_updates() -> LayerUpdates | None:
    """Return the updates that `training` collects, or None where the inference graph is built.

    A module with state of its own reads its present value as ``updates.get(state, state)``, which
    a call before may have advanced, and sets ``updates[state]``.
    """
    return _updates.get()
