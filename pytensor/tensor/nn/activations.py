"""Activation functions, with the names, arguments and numbers of PyTorch.

They are for real numbers, and raise TypeError for complex ones.
"""

import numbers
from typing import Any, Literal

from pytensor.scalar import activations
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.broadcasting import broadcast_as
from pytensor.tensor.elemwise import Elemwise
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


def _number(function: str, name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or value - value != 0:
        raise ValueError(f"{function}: {name} must be a finite number, got {value!r}")
    return float(value)


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
    return elementwise(activations.Elu(alpha=_number("elu", "alpha", alpha)), x)


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
    slope = _number("leaky_relu", "negative_slope", negative_slope)
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
