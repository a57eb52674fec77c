"""PyMC models by their names, and the laws of their draws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pymc as pm


@dataclass(frozen=True)
class Model:
    """A model of the zoo.

    Attributes
    ----------
    add : callable
        Adds variables to the model around it, given a generator and lengths.
    sizes : dict of str to dict
        The lengths by "small", for comparisons that draw thousands of times, and by "large", as
        people have them; or by one of the two alone.
    """

    add: Callable
    sizes: dict[str, dict[str, int]]


MODELS: dict[str, Model] = {}
# Laws of entries of a small model's draws: (draws of all variables -> sample, SciPy's distribution)
LAWS: dict[str, list] = {}


def model(**sizes):
    """Return a decorator that registers a function as a model of these sizes."""

    def register(add):
        MODELS[add.__name__] = Model(add, sizes)
        return add

    return register


def law(name, sample, distribution):
    """Register what the small model's draws of `sample` are distributed as."""
    LAWS.setdefault(name, []).append((sample, distribution))


def names_of(size):
    """Return the names of the models of a size, which is "small" or "large"."""
    return [name for name, each in MODELS.items() if size in each.sizes]


def build(name, size):
    """Return the model of a name and a size; the data are drawn from the same seed each time."""
    found = MODELS[name]
    with pm.Model() as built:
        found.add(np.random.default_rng(7), **found.sizes[size])
    return built
