"""Losses, with the names, arguments and numbers of PyTorch.

Half precision is computed in single until the end, where the sum over a batch would overflow.
PyTorch's deprecated arguments `size_average` and `reduce` aren't here.
"""

import math
from typing import Literal

import numpy as np

from pytensor.tensor import TensorLike
from pytensor.tensor import math as tm
from pytensor.tensor.basic import arange, as_tensor_variable, cast, expand_dims
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.moments import count, total
from pytensor.tensor.nn.checks import (
    axis_of,
    floats,
    integer,
    integers,
    like,
    nonnegative,
    number,
    of_shape,
    one_of,
    single,
    where,
)
from pytensor.tensor.nn.distances import at_least, distance
from pytensor.tensor.special import log_softmax
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable

type Reduction = Literal["mean", "sum", "none"]
REDUCTIONS = ("mean", "sum", "none")


def _inputs(
    function: str, x: TensorLike, *others: TensorLike, same: bool = False, name: str = "x"
) -> tuple[str, list[TensorVariable]]:
    """Return the dtype of `x`, and all inputs in it, or in single precision for half.

    With `same` the second input must have the shape of the first.
    """
    x = floats(function, name, x)
    rest = [cast(as_tensor_variable(v), x.type.dtype) for v in others]
    if same:
        rest[0] = of_shape(function, "target", rest[0], lengths_of(x), f"that of {name}")
    return x.type.dtype, single(x, *rest)


def _reduced(
    function: str, losses: TensorVariable, reduction: str, dtype: str,
    divisor: TensorVariable | None = None,
) -> TensorVariable:  # fmt: skip
    """Return losses, their sum, or their sum divided by `divisor`, by default their number."""
    if one_of(function, "reduction", reduction, REDUCTIONS) != "none":
        axes = tuple(range(losses.type.ndim))
        parts, losses = count(losses, axes), total(losses, axes)
        if reduction == "mean" and divisor is None:
            losses = losses / parts
        elif reduction == "mean":
            # Of a single sample PyTensor takes 0 / 0 for 1.
            # thoughts/upstream/quotients-of-switches.md
            is_zero = tm.eq(divisor, like(0, losses))
            losses = where(is_zero, like(np.nan, losses), losses / divisor)
    return cast(losses, dtype)


def _in_class(
    function: str, x: TensorVariable, target: TensorVariable, axis: int
) -> TensorVariable:
    """Return an array of the shape of `x` that is true at the target of each sample."""
    n = x.type.shape[axis]
    classes = arange(x.shape[axis] if n is None else n, dtype="int64")
    others = ["x" if a != axis else 0 for a in range(x.type.ndim)]
    return tm.eq(expand_dims(target, axis), classes.dimshuffle(others))


def _at_class(
    function: str, log_p: TensorVariable, target: TensorLike, weight: TensorLike | None,
    ignore_index: int, smoothing: float = 0.0,
) -> tuple[TensorVariable, TensorVariable]:  # fmt: skip
    """Return the loss of each sample whose target is a class, and what it counts in the mean."""
    axis = min(1, log_p.type.ndim - 1)
    if log_p.type.ndim == as_tensor_variable(target).type.ndim == 1:
        raise ValueError(
            f"{function}: x is a vector and target too, so x has no axis of classes; PyTorch's "
            "x.flatten(1) is x.flatten(2) here"
        )
    target = integers(function, "target", target, log_p.type.ndim - 1)
    shape = [n for a, n in enumerate(lengths_of(log_p)) if a != axis]
    why = "that of x without the axis of classes"
    target = of_shape(function, "target", target, shape, why)
    is_used = tm.neq(target, integer(function, "ignore_index", ignore_index))
    is_class = tm.and_(target >= 0, target < log_p.shape[axis])
    zero, here = like(0, log_p), _in_class(function, log_p, target, axis)
    losses = -total(where(here, log_p, zero), (axis,))
    counts = like(1, log_p)
    if weight is not None:
        weight = _of_classes(function, weight, log_p, axis)
        counts = total(where(here, weight, zero), (axis,))
        losses = losses * counts
    # A target that is no class would have loss 0, whatever the model says
    losses = where(is_class, losses, like(np.nan, log_p))
    if smoothing:
        every = log_p if weight is None else log_p * weight
        uniform = -total(every, (axis,)) / count(log_p, (axis,))
        losses = like(1 - smoothing, log_p) * losses + like(smoothing, log_p) * uniform
    return where(is_used, losses, zero), where(is_used, counts, zero)


def _of_classes(function: str, weight: TensorLike, x: TensorVariable, axis: int) -> TensorVariable:
    """Return a weight for each class, to be multiplied by `x`."""
    weight = cast(as_tensor_variable(weight), x.type.dtype)
    classes = lengths_of(x)[axis : axis + 1]
    weight = of_shape(function, "weight", weight, classes, "a number for each class")
    return weight.dimshuffle(["x" if a != axis else 0 for a in range(x.type.ndim)])


def _total(x: TensorVariable) -> TensorVariable:
    return total(x, tuple(range(x.type.ndim)))


def cross_entropy(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    ignore_index: int = -100, reduction: Reduction = "mean", label_smoothing: float = 0.0,
) -> TensorVariable:  # fmt: skip
    """Return the cross-entropy of classes and logits.

    Parameters
    ----------
    x : tensor_like, shape (batch, classes, ...) or (classes,), floating point
        Logits, before `softmax`.
    target : tensor_like
        Classes: integers, of the shape of `x` without the axis of classes.  Or probabilities of
        the classes: floating point, shape of `x`.
    weight : tensor_like, shape (classes,), optional
    ignore_index : int
        A class whose samples count nothing, also in the mean.
    reduction : {"mean", "sum", "none"}
        The mean over classes is weighted by the `weight` of each sample's class.
    label_smoothing : float
        From 0 to 1: the part of the uniform distribution in the targets.

    Returns
    -------
    TensorVariable, dtype of `x`
        A number, or with ``"none"`` one for each sample.  NaN for a target that is no class, where
        PyTorch raises.

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, "Rethinking the Inception architecture for
    computer vision", arXiv:1512.00567, for `label_smoothing`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> logits = pt.constant([[1e4, 0.0], [0.0, 0.0]])
    >>> pt.nn.cross_entropy(logits, [0, 1]).eval().round(4).item()
    0.3466
    """
    name = "cross_entropy"
    smoothing = nonnegative(name, "label_smoothing", label_smoothing, 1)
    x, target = floats(name, "x", x), as_tensor_variable(target)
    if x.type.ndim == 0:
        raise ValueError("cross_entropy: x must have an axis of classes")
    (wide,) = single(x)
    axis = min(1, x.type.ndim - 1)
    log_p = log_softmax(wide, axis)
    if target.type.dtype not in float_dtypes:
        if target.type.ndim == x.type.ndim > 1:
            raise ValueError(
                f"{name}: target has as many axes as x, so it must be probabilities, which are "
                f"floating point; got {target.type.dtype}. Cast it, or give a class for each sample"
            )
        losses, counts = _at_class(name, log_p, target, weight, ignore_index, smoothing)
        return _reduced(name, losses, reduction, x.type.dtype, _total(counts))
    if ignore_index >= 0:
        raise ValueError(f"{name}: ignore_index is for targets that are classes, not probabilities")
    target = of_shape(name, "target", target, lengths_of(x), "that of x, for probabilities")
    target = cast(target, wide.type.dtype)
    if smoothing:
        target = target * like(1 - smoothing, wide) + like(smoothing, wide) / count(wide, (axis,))
    terms = target * log_p
    if weight is not None:
        terms = terms * _of_classes(name, weight, wide, axis)
    return _reduced(name, -total(terms, (axis,)), reduction, x.type.dtype)


def nll_loss(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    ignore_index: int = -100, reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return the negative log likelihood of classes.

    Parameters
    ----------
    x : tensor_like, shape (batch, classes, ...) or (classes,), floating point
        Logarithms of probabilities, as of `log_softmax`.
    target : tensor_like, integers, shape of `x` without the axis of classes
    weight, ignore_index, reduction
        As in `cross_entropy`.

    Returns
    -------
    TensorVariable, dtype of `x`
        A number, or with ``"none"`` one for each sample.  NaN for a target that is no class.

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point, or `target` isn't integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.nll_loss(pt.constant([[-0.5, -1.0], [-2.0, -0.25]]), [0, 1]).eval()
    array(0.375)
    """
    dtype, (x,) = _inputs("nll_loss", x)
    if x.type.ndim == 0:
        raise ValueError("nll_loss: x must have an axis of classes")
    losses, counts = _at_class("nll_loss", x, target, weight, ignore_index)
    return _reduced("nll_loss", losses, reduction, dtype, _total(counts))


def binary_cross_entropy(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return ``-target * log(x) - (1 - target) * log(1 - x)``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Probabilities.
    target : tensor_like, shape of `x`
        Cast to the dtype of `x`.
    weight : tensor_like, broadcast to the shape of `x`, optional
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`
        The logarithms are -100 at least, as in PyTorch; and so is the loss finite.  NaN for an `x`
        that isn't from 0 to 1, where PyTorch raises.

    Raises
    ------
    ValueError
        If the shapes differ, or `reduction` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    See Also
    --------
    binary_cross_entropy_with_logits : more precise, where `x` comes from `sigmoid`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, target = pt.constant([0.5, 0.0]), [1.0, 1.0]
    >>> pt.nn.binary_cross_entropy(x, target, reduction="none").eval().round(4)
    array([  0.6931, 100.    ])
    """
    name = "binary_cross_entropy"
    dtype, (x, target) = _inputs(name, x, target, same=True)
    one = like(1, x)
    losses = -(target * _clamped_log(x) + (one - target) * _clamped_log(one - x))
    is_probability = tm.and_(x >= like(0, x), x <= one)
    losses = where(is_probability, losses, like(np.nan, x))
    return _reduced(name, _weighted(name, losses, weight), reduction, dtype)


def _clamped_log(p: TensorVariable) -> TensorVariable:
    # The logarithm must be finite at 0, too: its gradient is multiplied by 0 there
    is_positive = p > like(0, p)
    log = tm.log(where(is_positive, p, like(1, p)))
    return where(is_positive, tm.maximum(log, like(-100, p)), like(-100, p))


def _weighted(function: str, losses: TensorVariable, weight: TensorLike | None) -> TensorVariable:
    if weight is None:
        return losses
    weight = cast(as_tensor_variable(weight), losses.type.dtype)
    if weight.type.ndim > losses.type.ndim:
        raise ValueError(
            f"{function}: weight must have {losses.type.ndim} axes at most, got {weight.type.ndim}"
        )
    return losses * weight


def binary_cross_entropy_with_logits(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    reduction: Reduction = "mean", pos_weight: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """Return `binary_cross_entropy` of ``sigmoid(x)``, without its loss of precision.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Logits, before `sigmoid`.
    target : tensor_like, shape of `x`
        Cast to the dtype of `x`.
    weight : tensor_like, broadcast to the shape of `x`, optional
    reduction : {"mean", "sum", "none"}
    pos_weight : tensor_like, broadcast to the shape of `x`, optional
        What the term of the target counts, ``-target * log(sigmoid(x))``.

    Returns
    -------
    TensorVariable, dtype of `x`
        Finite for any finite input.

    Raises
    ------
    ValueError
        If the shapes differ, or `reduction` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.binary_cross_entropy_with_logits(pt.constant([-1e4, 1e4]), [0.0, 0.0]).eval()
    array(5000.)
    """
    name = "binary_cross_entropy_with_logits"
    dtype, (x, target) = _inputs(name, x, target, same=True)
    # Of two terms, so that neither is a small difference of large numbers
    positive = _weighted(name, target * tm.softplus(-x), pos_weight)
    losses = positive + (like(1, x) - target) * tm.softplus(x)
    return _reduced(name, _weighted(name, losses, weight), reduction, dtype)


def mse_loss(x: TensorLike, target: TensorLike, *, reduction: Reduction = "mean") -> TensorVariable:
    """Return squared differences, ``(x - target) ** 2``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
    target : tensor_like, shape of `x`
        Cast to the dtype of `x`.  PyTorch broadcasts another shape, with a warning; here it is an
        error.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If the shapes differ, or `reduction` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.mse_loss(pt.constant([1.0, 2.0]), [1.0, 4.0]).eval()
    array(2.)
    """
    dtype, (x, target) = _inputs("mse_loss", x, target, same=True)
    return _reduced("mse_loss", tm.sqr(x - target), reduction, dtype)


def l1_loss(x: TensorLike, target: TensorLike, *, reduction: Reduction = "mean") -> TensorVariable:
    """Return absolute differences, ``abs(x - target)``.

    Parameters
    ----------
    x, target, reduction
        As in `mse_loss`.

    Returns
    -------
    TensorVariable, dtype of `x`
        The derivative where both are equal is 0.

    Raises
    ------
    ValueError, TypeError
        As `mse_loss`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.l1_loss(pt.constant([1.0, 2.0]), [1.0, 4.0]).eval()
    array(1.)
    """
    dtype, (x, target) = _inputs("l1_loss", x, target, same=True)
    return _reduced("l1_loss", tm.abs(x - target), reduction, dtype)


def smooth_l1_loss(
    x: TensorLike, target: TensorLike, *, reduction: Reduction = "mean", beta: float = 1.0
) -> TensorVariable:
    """Return absolute differences d less ``beta / 2``, or ``d ** 2 / (2 * beta)`` below `beta`.

    Parameters
    ----------
    x, target, reduction
        As in `mse_loss`.
    beta : float
        0 or more; with 0 it is `l1_loss`.

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError, TypeError
        As `mse_loss`, or if `beta` is negative.

    References
    ----------
    Girshick, "Fast R-CNN", arXiv:1504.08083.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.smooth_l1_loss(pt.constant([0.5, 3.0]), [0.0, 0.0], reduction="none").eval()
    array([0.125, 2.5  ])
    """
    name = "smooth_l1_loss"
    dtype, (x, target) = _inputs(name, x, target, same=True)
    losses = tm.abs(x - target)
    if nonnegative(name, "beta", beta) > 0:
        border, half = like(beta, x), like(0.5, x)
        # Of the size the second derivative would be 0 where both are equal
        below = half * tm.sqr(x - target) / border
        losses = where(losses < border, below, losses - half * border)
    return _reduced(name, losses, reduction, dtype)


def huber_loss(
    x: TensorLike, target: TensorLike, reduction: Reduction = "mean", delta: float = 1.0
) -> TensorVariable:
    """Return ``d ** 2 / 2`` of differences d up to `delta`, and ``delta * (abs(d) - delta / 2)``.

    Parameters
    ----------
    x, target, reduction
        As in `mse_loss`.
    delta : float
        Positive.

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError, TypeError
        As `mse_loss`, or if `delta` isn't positive.

    References
    ----------
    Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35
    (1964).

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.huber_loss(pt.constant([0.5, 3.0]), [0.0, 0.0], "none", 2).eval()
    array([0.125, 4.   ])
    """
    dtype, (x, target) = _inputs("huber_loss", x, target, same=True)
    if number("huber_loss", "delta", delta) <= 0:
        raise ValueError(f"huber_loss: delta must be positive, got {delta!r}")
    size, border, half = tm.abs(x - target), like(delta, x), like(0.5, x)
    losses = where(size <= border, half * tm.sqr(x - target), border * (size - half * border))
    return _reduced("huber_loss", losses, reduction, dtype)


def kl_div(
    x: TensorLike, target: TensorLike, *,
    reduction: Literal["mean", "batchmean", "sum", "none"] = "mean", log_target: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the terms of the Kullback-Leibler divergence, ``target * (log(target) - x)``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Logarithms of probabilities.
    target : tensor_like, broadcast with `x`
        Probabilities; cast to the dtype of `x`.
    reduction : {"mean", "batchmean", "sum", "none"}
        ``"mean"`` is over all entries; ``"batchmean"``, the sum divided by the length of the first
        axis, is the divergence.
    log_target : bool
        Whether `target` has logarithms of probabilities, too.

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.log(pt.constant([[0.25, 0.75]]))
    >>> pt.nn.kl_div(x, [[0.0, 1.0]], reduction="batchmean").eval().round(4).item()
    0.2877
    """
    dtype, (x, target) = _inputs("kl_div", x, target)
    if flag("kl_div: log_target", log_target):
        losses = tm.exp(target) * (target - x)
    else:
        log = tm.log(where(tm.eq(target, like(0, x)), like(1, x), target))
        losses = target * log - target * x
    one_of("kl_div", "reduction", reduction, (*REDUCTIONS, "batchmean"))
    if reduction == "batchmean":
        axis_of("kl_div", x, 0)
        return _reduced("kl_div", losses, "mean", dtype, count(x, (0,)))
    return _reduced("kl_div", losses, reduction, dtype)


def poisson_nll_loss(
    x: TensorLike, target: TensorLike, log_input: bool = True, full: bool = False, *,
    eps: float = 1e-8, reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return the negative log likelihood of counts with a Poisson distribution.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Logarithms of the rates, or with ``log_input=False`` the rates.
    target : tensor_like, broadcast with `x`
        Counts; cast to the dtype of `x`.
    log_input : bool
        Whether the loss is ``exp(x) - target * x``, else ``x - target * log(x + eps)``.
    full : bool
        Whether to add Stirling's approximation of ``log(target!)``, for targets above 1.
    eps : float
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.poisson_nll_loss(pt.constant([0.0, 0.0]), [1.0, 3.0]).eval()
    array(1.)
    """
    name = "poisson_nll_loss"
    dtype, (x, target) = _inputs(name, x, target)
    least = like(nonnegative(name, "eps", eps), x)
    if flag(f"{name}: log_input", log_input):
        losses = tm.exp(x) - target * x
    else:
        losses = x - target * tm.log(x + least)
    if flag(f"{name}: full", full):
        is_large = target > like(1, x)
        n = where(is_large, target, like(1, x))
        log_factorial = n * tm.log(n) - n + like(0.5, x) * tm.log(like(2 * math.pi, x) * n)
        losses = losses + where(is_large, log_factorial, like(0, x))
    return _reduced(name, losses, reduction, dtype)


def gaussian_nll_loss(
    x: TensorLike, target: TensorLike, var: TensorLike, full: bool = False, eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return the negative log likelihood of targets with a normal distribution.

    ``(log(var) + (x - target) ** 2 / var) / 2``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Expectations.
    target : tensor_like, shape of `x`
    var : tensor_like, shape of `x`, or with one entry along the last axis, or without it, or ()
        Variances, not negative.  All are cast to the dtype of `x`.
    full : bool
        Whether to add ``log(2 * pi) / 2``.
    eps : float
        The least variance, positive; the gradient doesn't see this bound.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If the shapes don't fit, or an argument isn't one of those above.  A negative variance
        isn't noticed, where PyTorch raises: it becomes `eps`.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Nix and Weigend, "Estimating the mean and variance of the target probability distribution",
    ICNN 1994.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.gaussian_nll_loss(pt.constant([1.0, 2.0]), [1.0, 4.0], [1.0, 1.0]).eval()
    array(1.)
    """
    name = "gaussian_nll_loss"
    dtype, (x, target, variance) = _inputs(name, x, target, var, same=True)
    if number(name, "eps", eps) <= 0:
        raise ValueError(f"{name}: eps must be positive, got {eps!r}")
    if variance.type.ndim == x.type.ndim - 1 and variance.type.ndim > 0:
        variance = variance[..., None]
    if variance.type.ndim not in (0, x.type.ndim):
        raise ValueError(
            f"{name}: var must have the shape of x, {x.type.shape}, or one entry along its last "
            f"axis; got {variance.type.shape}"
        )
    variance = at_least(variance, eps)
    losses = like(0.5, x) * (tm.log(variance) + tm.sqr(x - target) / variance)
    if flag(f"{name}: full", full):
        losses = losses + like(0.5 * math.log(2 * math.pi), x)
    return _reduced(name, losses, reduction, dtype)


def cosine_embedding_loss(
    x1: TensorLike, x2: TensorLike, target: TensorLike, margin: float = 0.0, *,
    reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return ``1 - cos(x1, x2)`` for equal pairs, and ``maximum(0, cos(x1, x2) - margin)``.

    Parameters
    ----------
    x1, x2 : tensor_like, shape (batch, features) or (features,), floating point
    target : tensor_like, shape (batch,) or ()
        1 for equal pairs, -1 for others.  `x2` and `target` are cast to the dtype of `x1`.
    margin : float
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x1`

    Raises
    ------
    ValueError
        If the shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `x1` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 0.0], [1.0, 0.0]])
    >>> pt.nn.cosine_embedding_loss(x, [[0.0, 1.0], [1.0, 0.0]], [1, -1]).eval().round(4).item()
    1.0
    """
    name = "cosine_embedding_loss"
    dtype, (x1, x2, target) = _inputs(name, x1, x2, target, name="x1")
    if x1.type.ndim not in (1, 2) or x2.type.ndim != x1.type.ndim:
        raise ValueError(
            f"{name}: x1 and x2 must have 1 or 2 axes, and as many as each other; got "
            f"{x1.type.ndim} and {x2.type.ndim}"
        )
    target = of_shape(name, "target", target, lengths_of(x1)[:-1], "a number for each pair")
    # PyTorch adds 1e-12 to the squares, here
    squares = [total(tm.sqr(v), (-1,)) + like(1e-12, v) for v in (x1, x2)]
    cosine = total(x1 * x2, (-1,)) / tm.sqrt(squares[0] * squares[1])
    zero = like(0, x1)
    apart = tm.maximum(cosine - like(number(name, "margin", margin), x1), zero)
    losses = where(tm.eq(target, like(-1, x1)), apart, zero)
    losses = where(tm.eq(target, like(1, x1)), like(1, x1) - cosine, losses)
    return _reduced(name, losses, reduction, dtype)


def margin_ranking_loss(
    x1: TensorLike, x2: TensorLike, target: TensorLike, margin: float = 0.0, *,
    reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return ``maximum(0, margin - target * (x1 - x2))``.

    Parameters
    ----------
    x1, x2 : tensor_like, any shape, floating point
    target : tensor_like
        1 where `x1` should be larger, -1 where `x2` should.  All have the same number of axes and
        are broadcast; `x2` and `target` are cast to the dtype of `x1`.
    margin : float
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x1`

    Raises
    ------
    ValueError
        If the numbers of axes differ, or an argument isn't one of those above.
    TypeError
        If `x1` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.margin_ranking_loss(pt.constant([1.0, 1.0]), [0.0, 3.0], [1, 1]).eval()
    array(1.)
    """
    name = "margin_ranking_loss"
    dtype, (x1, x2, target) = _inputs(name, x1, x2, target, name="x1")
    axes = [v.type.ndim for v in (x1, x2, target)]
    if len(set(axes)) > 1:
        raise ValueError(f"{name}: x1, x2 and target must have as many axes, got {axes}")
    margins = like(number(name, "margin", margin), x1) - target * (x1 - x2)
    return _reduced(name, tm.maximum(margins, like(0, x1)), reduction, dtype)


def hinge_embedding_loss(
    x: TensorLike, target: TensorLike, margin: float = 1.0, *, reduction: Reduction = "mean"
) -> TensorVariable:
    """Return `x` where the target is 1, and ``maximum(0, margin - x)`` where it is -1.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
        Distances.
    target : tensor_like, broadcast with `x`
        Cast to the dtype of `x`.  Where it is neither 1 nor -1, the loss is the sum of both.
    margin : float
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.hinge_embedding_loss(pt.constant([0.5, 0.25]), [1, -1]).eval()
    array(0.625)
    """
    name = "hinge_embedding_loss"
    dtype, (x, target) = _inputs(name, x, target)
    zero, apart = like(0, x), like(number(name, "margin", margin), x) - x
    losses = where(tm.eq(target, like(1, x)), zero, tm.maximum(apart, zero))
    losses = losses + where(tm.eq(target, like(-1, x)), zero, x)
    return _reduced(name, losses, reduction, dtype)


def triplet_margin_loss(
    anchor: TensorLike, positive: TensorLike, negative: TensorLike, margin: float = 1.0,
    p: float = 2, eps: float = 1e-6, swap: bool = False, *, reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return ``maximum(0, d(anchor, positive) - d(anchor, negative) + margin)``.

    Parameters
    ----------
    anchor, positive, negative : tensor_like, shape (batch, features) or (features,)
        `anchor` is floating point; the others are cast to its dtype.
    margin : float
        Positive.
    p, eps : float
        Of d, `pairwise_distance`.
    swap : bool
        Whether ``d(positive, negative)`` takes the place of ``d(anchor, negative)`` where it is
        smaller.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `anchor`

    Raises
    ------
    ValueError
        If the numbers of axes differ, or an argument isn't one of those above.
    TypeError
        If `anchor` isn't floating point.

    References
    ----------
    Balntas, Riba, Ponsa and Mikolajczyk, "Learning local feature descriptors with triplets and
    shallow convolutional neural networks", BMVC 2016.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.triplet_margin_loss(pt.constant([[0.0]]), [[1.0]], [[3.0]], 4.0, eps=0).eval()
    array(2.)
    """
    name = "triplet_margin_loss"
    dtype, points = _inputs(name, anchor, positive, negative, name="anchor")
    axes = [v.type.ndim for v in points]
    if len(set(axes)) > 1 or 0 in axes:
        raise ValueError(f"{name}: the inputs must have as many axes, 1 or more; got {axes}")
    if number(name, "margin", margin) <= 0:
        raise ValueError(f"{name}: margin must be positive, got {margin!r}")
    a, b, c = points
    far = distance(name, a, c, p, eps)
    if flag(f"{name}: swap", swap):
        far = tm.minimum(far, distance(name, b, c, p, eps))
    losses = tm.maximum(like(margin, a) + distance(name, a, b, p, eps) - far, like(0, a))
    return _reduced(name, losses, reduction, dtype)


def soft_margin_loss(
    x: TensorLike, target: TensorLike, *, reduction: Reduction = "mean"
) -> TensorVariable:
    """Return ``log(1 + exp(-target * x))``.

    Parameters
    ----------
    x : tensor_like, any shape, floating point
    target : tensor_like, shape of `x`
        1 or -1; cast to the dtype of `x`.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`
        Finite for any finite input.

    Raises
    ------
    ValueError, TypeError
        As `mse_loss`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.soft_margin_loss(pt.constant([1e4, 1e4]), [1, -1]).eval()
    array(5000.)
    """
    dtype, (x, target) = _inputs("soft_margin_loss", x, target, same=True)
    return _reduced("soft_margin_loss", tm.softplus(-target * x), reduction, dtype)


def multilabel_soft_margin_loss(
    x: TensorLike, target: TensorLike, weight: TensorLike | None = None, *,
    reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return the mean over classes of `binary_cross_entropy_with_logits`.

    Parameters
    ----------
    x : tensor_like, shape (..., classes), floating point
        Logits.
    target : tensor_like, shape of `x`
        0 or 1; cast to the dtype of `x`.
    weight : tensor_like, broadcast to the shape of `x`, optional
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If the shapes differ, or `reduction` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.multilabel_soft_margin_loss(pt.constant([[1e4, -1e4]]), [[1, 1]]).eval()
    array(5000.)
    """
    name = "multilabel_soft_margin_loss"
    dtype, (x, target) = _inputs(name, x, target, same=True)
    axis = axis_of(name, x, -1)
    losses = binary_cross_entropy_with_logits(x, target, weight, reduction="none")
    return _reduced(name, total(losses, (axis,)) / count(x, (axis,)), reduction, dtype)


def multi_margin_loss(
    x: TensorLike, target: TensorLike, p: Literal[1, 2] = 1, margin: float = 1.0,
    weight: TensorLike | None = None, *, reduction: Reduction = "mean",
) -> TensorVariable:  # fmt: skip
    """Return ``maximum(0, margin - x[target] + x[k]) ** p``, averaged over the classes k.

    The term of the target itself is 0.

    Parameters
    ----------
    x : tensor_like, shape (batch, classes) or (classes,), floating point
    target : tensor_like, integers, shape (batch,) or ()
    p : {1, 2}
    margin : float
    weight : tensor_like, shape (classes,), optional
        What the samples of each class count; the mean is over their number all the same.
    reduction : {"mean", "sum", "none"}

    Returns
    -------
    TensorVariable, dtype of `x`
        NaN for a target that is no class, where PyTorch raises.

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point, or `target` isn't integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.multi_margin_loss(pt.constant([[3.0, 2.5, 0.0, 3.0]]), [0]).eval()
    array(0.375)
    """
    name = "multi_margin_loss"
    dtype, (x,) = _inputs(name, x)
    if x.type.ndim not in (1, 2):
        raise ValueError(f"{name}: x must have 1 or 2 axes, got {x.type.ndim}")
    if p not in (1, 2):
        raise ValueError(f"{name}: p must be 1 or 2, got {p!r}")
    axis = x.type.ndim - 1
    target = integers(name, "target", target, axis)
    target = of_shape(name, "target", target, lengths_of(x)[:axis], "a class for each sample")
    here, zero = _in_class(name, x, target, axis), like(0, x)
    own = total(where(here, x, zero), (axis,))
    margins = like(number(name, "margin", margin), x) - expand_dims(own, axis) + x
    terms = where(here, zero, tm.maximum(margins, zero))
    losses = total(tm.sqr(terms) if p == 2 else terms, (axis,)) / count(x, (axis,))
    if weight is not None:
        weight = _of_classes(name, weight, x, axis)
        losses = losses * total(where(here, weight, zero), (axis,))
    is_class = tm.and_(target >= 0, target < x.shape[axis])
    return _reduced(name, where(is_class, losses, like(np.nan, x)), reduction, dtype)
