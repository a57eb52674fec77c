"""The mapping that ``pytensor.function(..., updates=...)`` takes, and how to join several."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable

# PyTensor says that `grad` may return any of these; of a list it returns a list.
type Gradients = Variable | Sequence[Variable] | None
type Updates = Mapping[Any, Variable] | Iterable[tuple[SharedVariable, Variable]]


class OrderedUpdates(dict[Variable, Variable]):  # as `pytensor.function` wants it
    """Hold new values of shared variables, in the order in which they were added.

    A dict whose keys must be shared variables, and which refuses to replace the new value of a
    variable by another one: two updates of one variable are a mistake, and the last would win in
    silence.

    Examples
    --------
    >>> import pytensor
    >>> from pytensor.optimizers import OrderedUpdates
    >>> count = pytensor.shared(0, name="count")
    >>> updates = OrderedUpdates({count: count + 1})
    >>> updates[count] = count + 2
    Traceback (most recent call last):
    ValueError: count has two different updates; keep one of them
    """

    def __init__(self, updates: Updates = ()) -> None:
        super().__init__()
        self.update(updates)

    def __setitem__(self, variable: SharedVariable, new_value: Variable) -> None:
        if not isinstance(variable, SharedVariable):
            raise TypeError(f"updates: {variable!r} is not a shared variable")
        if variable in self and self[variable] is not new_value:
            raise ValueError(f"{variable} has two different updates; keep one of them")
        super().__setitem__(variable, new_value)

    def setdefault(self, variable: SharedVariable, new_value: Variable) -> Variable:
        if variable not in self:
            self[variable] = new_value
        return self[variable]

    def update(self, updates: Updates = ()) -> None:
        # not by way of a dict, where the last of two pairs would win
        for variable, new_value in updates.items() if isinstance(updates, Mapping) else updates:
            self[variable] = new_value

    def __or__(self, other: Updates) -> "OrderedUpdates":
        return merge_updates(self, other)

    def __ror__(self, other: Updates) -> "OrderedUpdates":
        return merge_updates(other, self)

    def __ior__(self, other: Updates) -> Self:
        self.update(other)
        return self

    def copy(self) -> Self:
        return type(self)(self)


def merge_updates(*updates: Updates) -> OrderedUpdates:
    """Join several mappings of updates into one.

    Parameters
    ----------
    *updates : mapping or iterable of pairs
        From shared variables to their new values.

    Returns
    -------
    OrderedUpdates

    Raises
    ------
    ValueError
        If a variable has two different new values.
    """
    merged = OrderedUpdates()
    for each in updates:
        merged.update(each)
    return merged
