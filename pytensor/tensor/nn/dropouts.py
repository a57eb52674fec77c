"""Dropout, with the names, arguments and numbers of PyTorch, and a generator by name.

A generator is a variable of `pytensor.tensor.random`, and follows its rule: what draws returns the
next generator before its result if it is asked for.
"""

import math
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.math import eq
from pytensor.tensor.moments import as_floating_point
from pytensor.tensor.nn.checks import floats, like, nonnegative, where
from pytensor.tensor.random.basic import bernoulli
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.variable import TensorVariable

# What `selu` tends to for small inputs
LOWEST = -1.6732632423543772 * 1.0507009873554805


def dropout(
    x: TensorLike, p: float = 0.5, training: bool = True, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set entries to zero at random, and divide the others by ``1 - p``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
    p : float
        The probability that an entry is set to zero, from 0 to 1.
    training : bool
        Otherwise the result is `x`.
    rng : random generator variable
        Such as ``pt.random.shared_rng(seed=0)``; needed where something is drawn.  Two calls with
        one generator draw the same mask: give the second call the next generator of the first.
    return_next_rng : bool
        Whether to return the next generator, too.  Make it an update of `pytensor.function`, for
        another mask in each call.

    Returns
    -------
    next_rng : random generator variable
        Only with `return_next_rng`; `rng` itself where nothing is drawn.
    out : TensorVariable, shape and dtype of `x`

    Raises
    ------
    ValueError
        If `p` isn't a number from 0 to 1, `training` isn't True or False, or `rng` is missing.
    TypeError
        If `x` isn't floating point, or `rng` isn't a random generator variable.

    References
    ----------
    Hinton, Srivastava, Krizhevsky, Sutskever and Salakhutdinov, "Improving neural networks by
    preventing co-adaptation of feature detectors", arXiv:1207.0580.

    Examples
    --------
    >>> import pytensor, pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> next_rng, out = pt.nn.dropout(pt.ones(6), 0.5, rng=rng, return_next_rng=True)
    >>> f = pytensor.function([], out, updates={rng: next_rng})
    >>> set(f().tolist()) <= {0.0, 2.0}
    True
    """
    x = floats("dropout", "x", x)
    return _dropout("dropout", x, p, training, rng, return_next_rng)


def dropout1d(
    x: TensorLike, p: float = 0.5, training: bool = True, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set whole channels to zero at random, as `dropout` does single entries.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, length) or (channels, length), floating point
    p, training, rng, return_next_rng
        As in `dropout`.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        After the next generator, with `return_next_rng`.

    Raises
    ------
    ValueError, TypeError
        As `dropout`, or if `x` has another number of axes.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> out = pt.nn.dropout1d(pt.ones((2, 3, 4)), rng=rng).eval()
    >>> bool((out.min(axis=2) == out.max(axis=2)).all())
    True
    """
    x = floats("dropout1d", "x", x, 3, 2)
    return _dropout("dropout1d", x, p, training, rng, return_next_rng, shared=1)


def dropout2d(
    x: TensorLike, p: float = 0.5, training: bool = True, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set whole channels of images to zero at random, as `dropout` does single entries.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, height, width), floating point
        PyTorch takes three axes for (batch, channels, length), with a warning: use `dropout1d`.
    p, training, rng, return_next_rng
        As in `dropout`.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        After the next generator, with `return_next_rng`.

    Raises
    ------
    ValueError, TypeError
        As `dropout`, or if `x` has another number of axes.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> out = pt.nn.dropout2d(pt.ones((2, 3, 4, 5)), rng=rng).eval()
    >>> bool((out.min(axis=(2, 3)) == out.max(axis=(2, 3))).all())
    True
    """
    x = floats("dropout2d", "x", x, 4)
    return _dropout("dropout2d", x, p, training, rng, return_next_rng, shared=2)


def dropout3d(
    x: TensorLike, p: float = 0.5, training: bool = True, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set whole channels of volumes to zero at random, as `dropout` does single entries.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, depth, height, width), or without the batch
        Floating point.
    p, training, rng, return_next_rng
        As in `dropout`.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        After the next generator, with `return_next_rng`.

    Raises
    ------
    ValueError, TypeError
        As `dropout`, or if `x` has another number of axes.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> pt.nn.dropout3d(pt.ones((2, 3, 4, 5, 6)), rng=rng).eval().shape
    (2, 3, 4, 5, 6)
    """
    x = floats("dropout3d", "x", x, 5, 4)
    return _dropout("dropout3d", x, p, training, rng, return_next_rng, shared=3)


def alpha_dropout(
    x: TensorLike, p: float = 0.5, training: bool = False, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set entries at random to what `selu` tends to, and keep mean 0 and variance 1.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
    p : float
        The probability that an entry is set, from 0 to 1.
    training : bool
        False by default, as in PyTorch: then the result is `x`.
    rng, return_next_rng
        As in `dropout`.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        After the next generator, with `return_next_rng`.

    Raises
    ------
    ValueError, TypeError
        As `dropout`.

    References
    ----------
    Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks",
    arXiv:1706.02515.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> out = pt.nn.alpha_dropout(pt.random.normal(size=10_000, rng=rng, return_next_rng=True)[1],
    ...                           0.2, True, rng=pt.random.shared_rng(seed=1))
    >>> bool(abs(out.mean().eval()) < 0.1 and abs(out.std().eval() - 1) < 0.1)
    True
    """
    x = floats("alpha_dropout", "x", x)
    return _dropout("alpha_dropout", x, p, training, rng, return_next_rng, alpha=True)


def feature_alpha_dropout(
    x: TensorLike, p: float = 0.5, training: bool = False, *, rng: Variable | None = None,
    return_next_rng: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Set whole channels at random, as `alpha_dropout` does single entries.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    p, training, rng, return_next_rng
        As in `alpha_dropout`.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        After the next generator, with `return_next_rng`.

    Raises
    ------
    ValueError, TypeError
        As `dropout`, or if `x` has less than two axes.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> rng = pt.random.shared_rng(seed=0)
    >>> out = pt.nn.feature_alpha_dropout(pt.zeros((2, 3, 4)), 0.5, True, rng=rng).eval()
    >>> bool((out.min(axis=2) == out.max(axis=2)).all())
    True
    """
    x = as_floating_point("feature_alpha_dropout", x, 2)
    how = {"shared": x.type.ndim - 2, "alpha": True}
    return _dropout("feature_alpha_dropout", x, p, training, rng, return_next_rng, **how)


def _dropout(
    function: str, x: TensorVariable, p: float, training: bool, rng: Variable | None,
    return_next_rng: bool, *, shared: int = 0, alpha: bool = False,
) -> Any:  # fmt: skip
    """Draw a mask, of which the `shared` last axes have the same entry, and apply it."""
    p = nonnegative(function, "p", p, 1)
    if not flag(f"{function}: training", training) or p == 0:
        return (rng, x) if return_next_rng else x
    if rng is None:
        raise ValueError(
            f"{function}: rng is missing; give a generator, such as pt.random.shared_rng(seed=0)"
        )
    if not isinstance(rng, Variable) or not isinstance(rng.type, RandomType):
        raise TypeError(
            f"{function}: rng must be a random generator variable, such as "
            f"pt.random.shared_rng(seed=0); got {rng!r}"
        )
    if p == 1:
        out = x * like(0, x)
        return (rng, out) if return_next_rng else out
    own = lengths_of(x)[: x.type.ndim - shared]
    next_rng, mask = bernoulli(1 - p, size=own, rng=rng, return_next_rng=True)
    keep = eq(mask.dimshuffle([*range(len(own)), *["x"] * shared]), 1)
    if alpha:
        scale = 1 / math.sqrt((p * LOWEST**2 + 1) * (1 - p))
        shift = -LOWEST * scale * p
        kept, dropped = x * like(scale, x) + like(shift, x), like(LOWEST * scale + shift, x)
    else:
        kept, dropped = x * like(1 / (1 - p), x), like(0, x)
    out = where(keep, kept, dropped)
    return (next_rng, out) if return_next_rng else out
