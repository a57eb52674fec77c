r"""Distributions of start values, with the names and numbers of `torch.nn.init`.

Each function here returns a distribution: a function of a generator and a shape, which returns an
array.  `parameter` and `restart` take one.

>>> import numpy as np
>>> from pytensor.layers import init
>>> init.orthogonal()(np.random.default_rng(0), (2, 2)).shape
(2, 2)

A weight's first axis counts its outputs, the second one its inputs, and the product of the others
how often each of them is used: (out, in, height, width) has a fan-in of in * height * width.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pytensor.tensor.missing_names import missing_name

__all__ = [
    "constant", "kaiming_normal", "kaiming_uniform", "normal", "orthogonal", "truncated_normal",
    "uniform", "xavier_normal", "xavier_uniform",
]  # fmt: skip

# What to write for names of `torch.nn.init` that aren't here
FORM = "use init.{}, in layers.parameter(shape, ...) or layers.restart(weight, ...)"
ELSEWHERE = {
    "ones": FORM.format("constant(1.0)"),
    "trunc_normal": FORM.format("truncated_normal(std)"),
    "zeros": FORM.format("constant(0.0)"),
}


def __getattr__(name: str) -> Any:
    raise missing_name(f"module {__name__!r}", name, __all__, ELSEWHERE, FORM.format("{}(...)"))


type Distribution = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
type Fan = Literal["fan_in", "fan_out"]


# Partial functions rather than closures, so that modules can be pickled.
def _constant(value: ArrayLike, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.array(np.broadcast_to(value, shape))


def _uniform(bound: float, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.uniform(-bound, bound, shape)


def _normal(
    mean: float, std: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    return rng.normal(mean, std, shape)


def constant(value: ArrayLike) -> Distribution:
    """Return the distribution that has one value: a number, or an array that fits the shape."""
    return partial(_constant, value)


def uniform(bound: float) -> Distribution:
    """Return the uniform distribution from ``-bound`` to `bound`."""
    return partial(_uniform, bound)


def normal(std: float = 1.0, mean: float = 0.0) -> Distribution:
    """Return the normal distribution."""
    return partial(_normal, mean, std)


def truncated_normal(std: float = 1.0, limit: float = 2.0) -> Distribution:
    """Return a normal distribution without what is further from 0 than `limit`.

    Parameters
    ----------
    std : float
        Before it is truncated.
    limit : float
        A value, as in PyTorch: not a number of standard deviations.
    """
    if not std > 0 or not limit > 0:
        raise ValueError(f"std and limit must be greater than 0, not {std} and {limit}")
    return partial(_truncated_normal, std, limit)


def _truncated_normal(
    std: float, limit: float, rng: np.random.Generator, shape: tuple[int, ...]
) -> np.ndarray:
    if limit < std:  # where most of the normal distribution's values would be rejected
        draw, accept = partial(rng.uniform, -limit, limit), lambda v: np.exp(-0.5 * (v / std) ** 2)
    else:
        draw, accept = partial(rng.normal, 0.0, std), lambda v: np.abs(v) <= limit
    values = np.empty(math.prod(shape))
    missing = np.arange(values.size)
    while missing.size:
        values[missing] = drawn = draw(size=missing.size)
        missing = missing[rng.uniform(size=missing.size) >= accept(drawn)]
    return values.reshape(shape)


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return how many inputs an output has, and how many outputs an input."""
    if len(shape) < 2:
        raise ValueError(f"a weight of shape {shape} has no fan-in: it needs two axes or more")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _scaled(
    draw: Callable[[float], Distribution], gain: float, mode: Fan | Literal["mean"],
    rng: np.random.Generator, shape: tuple[int, ...],
) -> np.ndarray:  # fmt: skip
    """Draw with the standard deviation ``gain / sqrt(fan)``."""
    into, out = fans(shape)
    fan = {"fan_in": into, "fan_out": out, "mean": (into + out) / 2}[mode]
    return draw(gain / math.sqrt(max(fan, 1)))(rng, shape)


def _uniform_of_std(std: float) -> Distribution:
    return uniform(std * math.sqrt(3))


def _kaiming(draw: Callable[[float], Distribution], slope: float, mode: Fan) -> Distribution:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode must be 'fan_in' or 'fan_out', not {mode!r}")
    return partial(_scaled, draw, math.sqrt(2 / (1 + slope**2)), mode)


def kaiming_uniform(slope: float = 0.0, mode: Fan = "fan_in") -> Distribution:
    """Return the uniform distribution of variance ``2 / (1 + slope**2) / fan``.

    Parameters
    ----------
    slope : float
        Of the leaky ReLU that follows; 0 is ReLU.
    mode : "fan_in" or "fan_out"
        Whether values or gradients keep their size.

    References
    ----------
    He et al., "Delving deep into rectifiers", ICCV 2015.
    """
    return _kaiming(_uniform_of_std, slope, mode)


def kaiming_normal(slope: float = 0.0, mode: Fan = "fan_in") -> Distribution:
    """Return the normal distribution of the variance of `kaiming_uniform`."""
    return _kaiming(normal, slope, mode)


def xavier_uniform(gain: float = 1.0) -> Distribution:
    """Return the uniform distribution of variance ``2 * gain**2 / (fan-in + fan-out)``.

    References
    ----------
    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    AISTATS 2010.
    """
    return partial(_scaled, _uniform_of_std, gain, "mean")


def xavier_normal(gain: float = 1.0) -> Distribution:
    """Return the normal distribution of the variance of `xavier_uniform`."""
    return partial(_scaled, normal, gain, "mean")


def orthogonal(gain: float = 1.0) -> Distribution:
    """Return the distribution of matrices whose rows, or columns, are orthogonal.

    A weight counts as a matrix (out, the product of the other axes); its rows, or its columns
    where it has more rows than columns, have the length `gain`.

    References
    ----------
    Saxe, McClelland and Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
    linear neural networks", ICLR 2014.
    """
    return partial(_orthogonal, gain)


def _orthogonal(gain: float, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    fans(shape)  # refuses a vector
    rows, columns = shape[0], math.prod(shape[1:])
    tall = rng.normal(size=(max(rows, columns), min(rows, columns)))
    q: Any
    q, r = np.linalg.qr(tall)
    q *= np.where(np.diag(r) < 0, -gain, gain)  # uniform over all such matrices only then
    return (q if rows >= columns else q.T).reshape(shape)
