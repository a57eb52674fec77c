"""PyMC models by their names, and the laws of their draws."""

import numpy as np
import pymc as pm

MODELS = {}
# Laws of entries of a model's draws: (draws of all variables -> sample, distribution of scipy).
LAWS = {}


def model(function):
    """Register a function that adds variables to the model around it."""
    MODELS[function.__name__] = function
    return function


def law(name, sample, distribution):
    LAWS.setdefault(name, []).append((sample, distribution))


def build(name):
    with pm.Model() as result:
        MODELS[name](np.random.default_rng(7))
    return result
