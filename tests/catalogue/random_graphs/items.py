"""What steps of random graphs take, and what chooses among what they can take."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(eq=False)  # arrays have no one truth value
class Item:
    """A variable of a graph that is drawn.

    Attributes
    ----------
    variable : TensorVariable
    value : numpy.ndarray, optional
        None where a program is drawn for values of any kind, and for shapes that its types know.
    exact : bool
        Whether every backend has the same value to the last bit.
    """

    variable: object
    value: np.ndarray | None = None
    exact: bool = True

    @property
    def dtype(self):
        return self.variable.type.dtype

    @cached_property
    def kind(self):
        return np.dtype(self.dtype).kind

    @property
    def known(self):
        """Return the lengths that the type knows."""
        return tuple(self.variable.type.shape)

    @cached_property
    def shape(self):
        return self.known if self.value is None else self.value.shape

    @property
    def ndim(self):
        return self.variable.type.ndim

    @cached_property
    def size(self):
        return int(np.prod(self.shape))

    @cached_property
    def extremes(self):
        return self.value.min(), self.value.max()

    def within(self, low, high):
        """Return whether all values are known to lie between two bounds, or there are none."""
        if self.value is None:
            return False
        return self.size == 0 or bool(low <= self.extremes[0] and self.extremes[1] <= high)


class Seeded:
    """Choices by a generator of NumPy's, so that a number is a graph.

    `search.Drawn` has the same methods for Hypothesis, which finds smaller failures by itself.
    """

    def __init__(self, rng):
        self.rng = rng

    def integer(self, low, high):
        """Draw an integer, `high` at most."""
        return int(self.rng.integers(low, high + 1))

    def choice(self, options, weights=None):
        if weights is None:
            return options[self.rng.integers(len(options))]
        return options[self.rng.choice(len(options), p=np.array(weights) / sum(weights))]

    def chance(self, probability=0.5):
        return bool(self.rng.random() < probability)

    def sample(self, count, size):
        """Draw `size` different ones of the first `count` integers."""
        return tuple(int(k) for k in self.rng.choice(count, size, replace=False))

    def permutation(self, count):
        return tuple(int(k) for k in self.rng.permutation(count))
