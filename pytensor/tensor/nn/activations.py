"""Activation functions, with the names, arguments and numbers of PyTorch.

They are for real numbers, and raise TypeError for complex ones.
"""

from collections.abc import Callable
from typing import Any, Literal

from pytensor.scalar import activations
from pytensor.scalar.basic import ScalarOp, get_scalar_type, upgrade_to_float
from pytensor.tensor import TensorLike, special
from pytensor.tensor import math as tm
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.broadcasting import broadcast_as
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.known_lengths import length_by
from pytensor.tensor.nn.checks import axis_of, floats, like, nonnegative, number, single, where
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable


def elementwise(op: ScalarOp, *inputs: TensorLike) -> TensorVariable:
    """Apply a scalar Op of `pytensor.scalar.activations` to tensors of real numbers."""
    elemwise: Any = Elemwise(op)
    return elemwise(*(_real(op.name, v) for v in inputs))


def _real(function: str, x: TensorLike) -> TensorVariable:
    x = as_tensor_variable(x)
    if x.type.dtype.startswith("complex"):
        raise TypeError(f"{function}: x must be of real numbers, got {x.type.dtype}")
    return x


def _float(function: str, x: TensorLike) -> TensorVariable:
    """Return `x` with integers upgraded to floating point, as the Ops of activations have it."""
    x = _real(function, x)
    scalar: Any = upgrade_to_float(get_scalar_type(x.type.dtype))[0]
    return cast(x, scalar.dtype)


def relu(x: TensorLike) -> TensorVariable:
    """Return the rectifier, ``maximum(x, 0)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is 0.

    References
    ----------
    Nair and Hinton, "Rectified linear units improve restricted Boltzmann machines", ICML 2010.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.relu(pt.constant([-2.0, 0.0, 2.0])).eval()
    array([0., 0., 2.])
    """
    return elementwise(activations.Relu(), x)


def relu6(x: TensorLike) -> TensorVariable:
    """Return the rectifier with an upper bound, ``clip(x, 0, 6)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        The derivative is zero at both bounds.

    References
    ----------
    Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.relu6(pt.constant([-2.0, 2.0, 7.0])).eval()
    array([0., 2., 6.])
    """
    return elementwise(activations.Relu6(), x)


def selu(x: TensorLike) -> TensorVariable:
    """Return the scaled exponential linear unit, ``gamma * elu(x, alpha)``.

    alpha = 1.6732632423543772 and gamma = 1.0507009873554805.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is ``gamma * alpha``.

    References
    ----------
    Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks",
    arXiv:1706.02515.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.selu(pt.constant([-1e4, 0.0, 2.0])).eval().round(4)
    array([-1.7581,  0.    ,  2.1014])
    """
    return elementwise(activations.Selu(), x)


def silu(x: TensorLike) -> TensorVariable:
    """Return the sigmoid linear unit, ``x * sigmoid(x)``, which is also called swish.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        Exact to rounding for any finite input: no intermediate overflows.

    References
    ----------
    Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function
    approximation in reinforcement learning", Neural Networks 107 (2018).

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.silu(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([   -0.,     0., 10000.])
    """
    return elementwise(activations.SiLU(), x)


def mish(x: TensorLike) -> TensorVariable:
    """Return the self-regularized activation ``x * tanh(log(1 + exp(x)))``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        Exact to rounding for any finite input: no intermediate overflows.

    References
    ----------
    Misra, "Mish: a self regularized non-monotonic activation function", arXiv:1908.08681.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.mish(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([   -0.,     0., 10000.])
    """
    return elementwise(activations.Mish(), x)


def hardswish(x: TensorLike) -> TensorVariable:
    """Return the piecewise quadratic swish, ``x * clip((x + 3) / 6, 0, 1)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        The derivative is 0 at -3 and 1 at 3.

    References
    ----------
    Howard et al., "Searching for MobileNetV3", arXiv:1905.02244.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.hardswish(pt.constant([-4.0, 1.5, 4.0])).eval()
    array([-0.   ,  1.125,  4.   ])
    """
    return elementwise(activations.HardSwish(), x)


def hardsigmoid(x: TensorLike) -> TensorVariable:
    """Return the piecewise linear sigmoid, ``clip(x / 6 + 1 / 2, 0, 1)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        The derivative is zero where the line meets 0 and 1.

    References
    ----------
    Howard et al., "Searching for MobileNetV3", arXiv:1905.02244; Courbariaux, Bengio and
    David, "BinaryConnect", arXiv:1511.00363, has 0.2 in the place of 1 / 6, and so have Theano and
    ONNX.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.hardsigmoid(pt.constant([-3.0, 0.0, 1.5])).eval()
    array([0.  , 0.5 , 0.75])
    """
    return elementwise(activations.HardSigmoid(alpha=1 / 6, beta=0.5), x)


def softsign(x: TensorLike) -> TensorVariable:
    """Return the sigmoid with polynomial tails, ``x / (1 + abs(x))``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        NaN for infinite `x`, as in other libraries.

    References
    ----------
    Turian, Bergstra and Bengio, "Quadratic features and deep architectures for chunking",
    NAACL HLT 2009.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.softsign(pt.constant([-3.0, 0.0, 1.0])).eval()
    array([-0.75,  0.  ,  0.5 ])
    """
    return elementwise(activations.Softsign(), x)


def gelu(x: TensorLike, *, approximate: Literal["none", "tanh"] = "none") -> TensorVariable:
    """Return the Gaussian error linear unit, ``x * Phi(x)``.

    Phi is the distribution function of the normal distribution.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    approximate : {"none", "tanh"}
        With ``"tanh"``, ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``, which
        differs by at most 5e-4.

    Returns
    -------
    TensorVariable of the same shape
        Precise for negative `x` too, where ``1 + erf`` would lose digits.

    Raises
    ------
    ValueError
        If `approximate` isn't one of those above.

    References
    ----------
    Hendrycks and Gimpel, "Gaussian error linear units (GELUs)", arXiv:1606.08415.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.gelu(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([   -0.,     0., 10000.])
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    return elementwise(activations.Gelu(approximate=approximate), x)


def elu(x: TensorLike, alpha: float = 1.0) -> TensorVariable:
    """Return the exponential linear unit: `x`, and below zero ``alpha * (exp(x) - 1)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    alpha : float

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is `alpha`.

    Raises
    ------
    ValueError
        If `alpha` isn't a finite number.

    References
    ----------
    Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning by exponential
    linear units (ELUs)", arXiv:1511.07289.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.elu(pt.constant([-1e4, 0.0, 1e4]), alpha=2).eval()
    array([-2.e+00,  0.e+00,  1.e+04])
    """
    return elementwise(activations.Elu(alpha=number("elu", "alpha", alpha)), x)


def leaky_relu(x: TensorLike, negative_slope: float = 0.01) -> TensorVariable:
    """Return the leaky rectifier: `x`, and below zero ``negative_slope * x``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    negative_slope : float

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is `negative_slope`.

    Raises
    ------
    ValueError
        If `negative_slope` isn't a finite number.

    References
    ----------
    Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models",
    ICML 2013.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.leaky_relu(pt.constant([-2.0, 2.0]), 0.5).eval()
    array([-1.,  2.])
    """
    slope = number("leaky_relu", "negative_slope", negative_slope)
    return elementwise(activations.LeakyRelu(alpha=slope), x)


def prelu(x: TensorLike, weight: TensorLike) -> TensorVariable:
    """Return the leaky rectifier with slopes that can be trained: below zero ``weight * x``.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), or any shape with a single slope
        Integers are upgraded to floating point.
    weight : tensor_like, shape (channels,), or a single slope of shape () or (1,)
        Cast to the dtype of `x` where that is floating point.

    Returns
    -------
    TensorVariable, shape of `x`
        Differentiable for both.  The derivative for `x` at 0 is `weight`.

    Raises
    ------
    ValueError
        If `weight` has more than one axis, or another length than axis 1 of `x`.

    References
    ----------
    He, Zhang, Ren and Sun, "Delving deep into rectifiers", arXiv:1502.01852.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.prelu(pt.constant([[-2.0, 2.0], [-4.0, -2.0]]), [0.5, 0.25]).eval()
    array([[-1. ,  2. ],
           [-2. , -0.5]])
    """
    x, weight = as_tensor_variable(x), as_tensor_variable(weight)
    if weight.type.ndim > 1:
        raise ValueError(f"prelu: weight must have one axis or none, got {weight.type.ndim}")
    if weight.type.ndim == 1:
        (slopes,) = weight.type.shape
        channels = x.type.shape[1] if x.type.ndim > 1 else 1
        if slopes not in (None, 1, channels) and not (channels is None and x.type.ndim > 1):
            raise ValueError(
                f"prelu: weight must have one slope, or one for each of the {channels} channels "
                f"(axis 1 of x), got {slopes}"
            )
        if slopes is None and channels == 1:
            weight, slopes = as_tensor_variable(specify_shape(weight, (1,))), 1
        weight = weight[0] if slopes == 1 else weight.dimshuffle([0, *["x"] * (x.type.ndim - 2)])
        if slopes is None:
            weight = broadcast_as(weight, x, [1 - x.type.ndim])
    return slopes_below_zero(x, weight)


def slopes_below_zero(x: TensorLike, slopes: TensorLike) -> TensorVariable:
    """Return `x`, and below zero `slopes` times it, broadcast as in NumPy and ONNX's PRelu."""
    x, slopes = as_tensor_variable(x), as_tensor_variable(slopes)
    if x.type.dtype in float_dtypes:
        slopes = cast(slopes, x.type.dtype)
    return elementwise(activations.PRelu(), x, slopes)


def sigmoid(x: TensorLike) -> TensorVariable:
    """Return the logistic function, ``1 / (1 + exp(-x))``; it is `pytensor.tensor.sigmoid`.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.sigmoid(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([0. , 0.5, 1. ])
    """
    return tm.sigmoid(_float("sigmoid", x))


def logsigmoid(x: TensorLike) -> TensorVariable:
    """Return the logarithm of the logistic function, ``-softplus(-x)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        Finite for any finite input.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.logsigmoid(pt.constant([-1e4, 0.0, 1e4])).eval().round(4)
    array([-1.000e+04, -6.931e-01, -0.000e+00])
    """
    return -tm.softplus(-_float("logsigmoid", x))


def tanh(x: TensorLike) -> TensorVariable:
    """Return the hyperbolic tangent; it is `pytensor.tensor.tanh`.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.tanh(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([-1.,  0.,  1.])
    """
    return tm.tanh(_float("tanh", x))


def softplus(x: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> TensorVariable:
    """Return the smooth rectifier, ``log(1 + exp(beta * x)) / beta``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    beta : float
    threshold : float
        Where ``beta * x`` is larger, the result is `x` itself.

    Returns
    -------
    TensorVariable of the same shape

    Raises
    ------
    ValueError
        If `beta` or `threshold` isn't a finite number, or `beta` is 0.

    References
    ----------
    Dugas, Bengio, Belisle, Nadeau and Garcia, "Incorporating second-order functional knowledge
    for better option pricing", NIPS 2000.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.softplus(pt.constant([-1e4, 0.0, 1e4])).eval().round(4)
    array([0.000e+00, 6.931e-01, 1.000e+04])
    """
    x = _float("softplus", x)
    if number("softplus", "beta", beta) == 0:
        raise ValueError("softplus: beta must not be 0")
    scaled = x if beta == 1 else x * like(beta, x)
    smooth = tm.softplus(scaled)
    if beta != 1:
        smooth = smooth / like(beta, x)
    return where(scaled > like(number("softplus", "threshold", threshold), x), x, smooth)


def hardtanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> TensorVariable:
    """Return `x` within two bounds, ``clip(x, min_val, max_val)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    min_val, max_val : float

    Returns
    -------
    TensorVariable of the same shape
        The derivative is zero at both bounds.

    Raises
    ------
    ValueError
        If a bound isn't a finite number, or `min_val` is above `max_val`.

    References
    ----------
    Collobert, "Large scale machine learning", PhD thesis, Universite de Paris VI, 2004.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.hardtanh(pt.constant([-2.0, 0.5, 2.0])).eval()
    array([-1. ,  0.5,  1. ])
    """
    x = _float("hardtanh", x)
    low, high = number("hardtanh", "min_val", min_val), number("hardtanh", "max_val", max_val)
    if low > high:
        raise ValueError(f"hardtanh: min_val must be at most max_val, got {low:g} and {high:g}")
    return where(x <= like(low, x), like(low, x), where(x >= like(high, x), like(high, x), x))


def celu(x: TensorLike, alpha: float = 1.0) -> TensorVariable:
    """Return the continuously differentiable `elu`: below zero ``alpha * (exp(x / alpha) - 1)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    alpha : float

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is 1.

    Raises
    ------
    ValueError
        If `alpha` isn't a finite number, or is 0.

    References
    ----------
    Barron, "Continuously differentiable exponential linear units", arXiv:1704.07483.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.celu(pt.constant([-1e4, 0.0, 2.0]), 0.5).eval()
    array([-0.5,  0. ,  2. ])
    """
    x = _float("celu", x)
    if number("celu", "alpha", alpha) == 0:
        raise ValueError("celu: alpha must not be 0")
    # The exponential must be finite above zero, too: its gradient is multiplied by 0 there
    below = like(alpha, x) * tm.expm1(tm.minimum(x, like(0, x)) / like(alpha, x))
    return where(x > like(0, x), x, below)


def softshrink(x: TensorLike, lambd: float = 0.5) -> TensorVariable:
    """Return `x` moved towards zero by `lambd`, and zero within ``[-lambd, lambd]``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    lambd : float
        Not negative.

    Returns
    -------
    TensorVariable of the same shape

    Raises
    ------
    ValueError
        If `lambd` isn't a finite number that is 0 or more.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.softshrink(pt.constant([-2.0, 0.25, 2.0])).eval()
    array([-1.5,  0. ,  1.5])
    """
    x = _float("softshrink", x)
    bound = like(nonnegative("softshrink", "lambd", lambd), x)
    shrunk = where(x > bound, x - bound, where(x < -bound, x + bound, like(0, x)))
    return where(tm.isnan(x), x, shrunk)


def hardshrink(x: TensorLike, lambd: float = 0.5) -> TensorVariable:
    """Return `x`, and zero within ``[-lambd, lambd]``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    lambd : float

    Returns
    -------
    TensorVariable of the same shape

    Raises
    ------
    ValueError
        If `lambd` isn't a finite number.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.hardshrink(pt.constant([-2.0, 0.25, 2.0])).eval()
    array([-2.,  0.,  2.])
    """
    x = _float("hardshrink", x)
    bound = like(number("hardshrink", "lambd", lambd), x)
    return where(tm.and_(x >= -bound, x <= bound), like(0, x), x)


def tanhshrink(x: TensorLike) -> TensorVariable:
    """Return ``x - tanh(x)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        Near 0 it has the rounding error of the difference, as in PyTorch.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.tanhshrink(pt.constant([-20.0, 0.0, 20.0])).eval()
    array([-19.,   0.,  19.])
    """
    x = _float("tanhshrink", x)
    return x - tm.tanh(x)


def threshold(x: TensorLike, threshold: float, value: float) -> TensorVariable:
    """Return `x` where it is above a threshold, and a value elsewhere.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    threshold, value : float

    Returns
    -------
    TensorVariable of the same shape

    Raises
    ------
    ValueError
        If `threshold` or `value` isn't a finite number.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.threshold(pt.constant([-2.0, 0.5, 2.0]), 1, -1).eval()
    array([-1., -1.,  2.])
    """
    x = _float("threshold", x)
    bound = like(number("threshold", "threshold", threshold), x)
    return where(x <= bound, like(number("threshold", "value", value), x), x)


def rrelu(
    x: TensorLike, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False
) -> TensorVariable:
    """Return the randomized leaky rectifier as networks evaluate it, with the mean of its slopes.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    lower, upper : float
        The slope below zero is ``(lower + upper) / 2``.
    training : bool
        PyTorch draws slopes in training; here only False is taken.

    Returns
    -------
    TensorVariable of the same shape

    Raises
    ------
    ValueError
        If a slope isn't a finite number, `lower` is above `upper`, or `training` is True.

    References
    ----------
    Xu, Wang, Chen and Li, "Empirical evaluation of rectified activations in convolutional
    network", arXiv:1505.00853.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.rrelu(pt.constant([-2.0, 2.0]), 0.25, 0.75).eval()
    array([-1.,  2.])
    """
    low, high = number("rrelu", "lower", lower), number("rrelu", "upper", upper)
    if low > high:
        raise ValueError(f"rrelu: lower must be at most upper, got {low:g} and {high:g}")
    if flag("rrelu: training", training):
        raise ValueError(
            "rrelu: training=True isn't implemented; for random slopes, use prelu(x, slopes)"
        )
    return leaky_relu(x, (low + high) / 2)


def glu(x: TensorLike, dim: int = -1) -> TensorVariable:
    """Return the gated linear unit ``a * sigmoid(b)`` of the two halves a and b of `x`.

    Parameters
    ----------
    x : tensor_like, floating point, of an even length along `dim`
    dim : int

    Returns
    -------
    TensorVariable, half as long along `dim`

    Raises
    ------
    ValueError
        If `x` has no axis `dim`, or is known to have an odd length there.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Dauphin, Fan, Auli and Grangier, "Language modeling with gated convolutional networks",
    arXiv:1612.08083.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.glu(pt.constant([2.0, 4.0, 0.0, 1e4])).eval()
    array([1., 4.])
    """
    x = floats("glu", "x", x)
    axis = axis_of("glu", x, dim)
    length = x.type.shape[axis]
    if length is not None and length % 2:
        raise ValueError(f"glu: the length of x along dim={dim} must be even, got {length}")
    lengths = lengths_of(x)
    lengths[axis : axis + 1] = [2, length_by(lambda n: n // 2, lengths[axis])]
    halves = x.reshape(lengths).dimshuffle(axis, *(a for a in range(x.type.ndim + 1) if a != axis))
    return halves[0] * tm.sigmoid(halves[1])


def softmax(x: TensorLike, dim: int, *, dtype: str | None = None) -> TensorVariable:
    """Return exponentials divided by their sum along an axis, ``exp(x) / sum(exp(x))``.

    Parameters
    ----------
    x : tensor_like, floating point, unless `dtype` is given
    dim : int
        PyTorch guesses it where it is left out, with a warning; here it must be given.
    dtype : str, optional
        What `x` is cast to before.

    Returns
    -------
    TensorVariable, shape of `x`
        The maximum is subtracted first, so nothing overflows.  Half precision is computed in
        single.

    Raises
    ------
    ValueError
        If `x` has no axis `dim`.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.softmax(pt.constant([1e4, 1e4, 0.0]), 0).eval()
    array([0.5, 0.5, 0. ])
    """
    return _along("softmax", special.softmax, x, dim, dtype)


def log_softmax(x: TensorLike, dim: int, *, dtype: str | None = None) -> TensorVariable:
    """Return the logarithm of `softmax`, ``x - log(sum(exp(x)))``.

    Parameters
    ----------
    x : tensor_like, floating point, unless `dtype` is given
    dim : int
    dtype : str, optional
        What `x` is cast to before.

    Returns
    -------
    TensorVariable, shape of `x`
        More precise than the logarithm of `softmax`, and finite for any finite input.

    Raises
    ------
    ValueError
        If `x` has no axis `dim`.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.log_softmax(pt.constant([0.0, -1e4]), 0).eval()
    array([     0., -10000.])
    """
    return _along("log_softmax", special.log_softmax, x, dim, dtype)


def softmin(x: TensorLike, dim: int, *, dtype: str | None = None) -> TensorVariable:
    """Return the `softmax` of ``-x``.

    Parameters
    ----------
    x : tensor_like, floating point, unless `dtype` is given
    dim : int
    dtype : str, optional
        What ``-x`` is cast to before.

    Returns
    -------
    TensorVariable, shape of `x`

    Raises
    ------
    ValueError
        If `x` has no axis `dim`.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.softmin(pt.constant([0.0, 0.0, 1e4]), 0).eval()
    array([0.5, 0.5, 0. ])
    """
    return _along("softmin", lambda x, axis: special.softmax(-x, axis), x, dim, dtype)


def _along(
    name: str, function: Callable[..., Any], x: TensorLike, dim: int, dtype: str | None
) -> TensorVariable:
    x = as_tensor_variable(x)
    x = floats(name, "x", x if dtype is None else cast(x, dtype))
    (wide,) = single(x)
    return cast(function(wide, axis_of(name, x, dim)), x.type.dtype)
