"""Activation functions."""

import numbers
from typing import Any, Literal, Protocol

from pytensor.scalar import activations
from pytensor.scalar.basic import ScalarOp
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable


def _apply(op: ScalarOp, *inputs: TensorLike) -> TensorVariable:
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


class Activation(Protocol):
    def __call__(self, x: TensorLike) -> TensorVariable: ...


def _function(
    op: ScalarOp, name: str, summary: str, note: str, reference: str, example: str, result: str
) -> Activation:
    """Make the function of one tensor that an Op without parameters is."""

    def function(x: TensorLike) -> TensorVariable:
        return _apply(op, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary}

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point

    Returns
    -------
    TensorVariable of the same shape
        {note}

    References
    ----------
    {reference}

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> {example}
    {result}
    """
    return function


silu = _function(
    activations.SiLU(),
    "silu",
    "Sigmoid linear unit, ``x * sigmoid(x)``, element by element (also called swish).",
    "Exact to rounding for any finite input: no intermediate overflows.",
    'Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function '
    'approximation in reinforcement learning", Neural Networks 107 (2018).',
    "pt.silu(pt.constant([-1e4, 0.0, 1e4])).eval()",
    "array([   -0.,     0., 10000.])",
)

hard_swish = _function(
    activations.HardSwish(),
    "hard_swish",
    "Piecewise quadratic swish, ``x * clip((x + 3) / 6, 0, 1)``.",
    "The derivative is 0 at -3 and 1 at 3.",
    'Howard et al., "Searching for MobileNetV3", arXiv:1905.02244.',
    "pt.hard_swish(pt.constant([-4.0, 1.5, 4.0])).eval()",
    "array([-0.   ,  1.125,  4.   ])",
)

selu = _function(
    activations.Selu(),
    "selu",
    "Scaled exponential linear unit, ``gamma * elu(x, alpha)``.\n\n"
    "    alpha = 1.6732632423543772 and gamma = 1.0507009873554805.",
    "The derivative at 0 is ``gamma * alpha``.",
    'Klambauer, Unterthiner, Mayr and Hochreiter, "Self-normalizing neural networks", '
    "arXiv:1706.02515.",
    "pt.selu(pt.constant([-1e4, 0.0, 2.0])).eval().round(4)",
    "array([-1.7581,  0.    ,  2.1014])",
)

relu = _function(
    activations.Relu(),
    "relu",
    "Rectifier, ``maximum(x, 0)``.",
    "The derivative at 0 is 0.",
    'Nair and Hinton, "Rectified linear units improve restricted Boltzmann machines", ICML 2010.',
    "pt.relu(pt.constant([-2.0, 0.0, 2.0])).eval()",
    "array([0., 0., 2.])",
)

relu6 = _function(
    activations.Relu6(),
    "relu6",
    "Rectifier with an upper bound, ``clip(x, 0, 6)``.",
    "The derivative is zero at both bounds.",
    'Krizhevsky, "Convolutional deep belief networks on CIFAR-10", 2010.',
    "pt.relu6(pt.constant([-2.0, 2.0, 7.0])).eval()",
    "array([0., 2., 6.])",
)

mish = _function(
    activations.Mish(),
    "mish",
    "Self-regularized activation, ``x * tanh(log(1 + exp(x)))``.",
    "Exact to rounding for any finite input: no intermediate overflows.",
    'Misra, "Mish: a self regularized non-monotonic activation function", arXiv:1908.08681.',
    "pt.mish(pt.constant([-1e4, 0.0, 1e4])).eval()",
    "array([   -0.,     0., 10000.])",
)

softsign = _function(
    activations.Softsign(),
    "softsign",
    "Sigmoid with polynomial tails, ``x / (1 + abs(x))``.",
    "NaN for infinite `x`, as in other libraries.",
    'Turian, Bergstra and Bengio, "Quadratic features and deep architectures for '
    'chunking", NAACL HLT 2009.',
    "pt.softsign(pt.constant([-3.0, 0.0, 1.0])).eval()",
    "array([-0.75,  0.  ,  0.5 ])",
)


def gelu(x: TensorLike, approximate: Literal["none", "tanh"] = "none") -> TensorVariable:
    """Gaussian error linear unit, ``x * Phi(x)`` with the normal distribution function Phi.

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
    >>> pt.gelu(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([   -0.,     0., 10000.])
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    return _apply(activations.Gelu(approximate=approximate), x)


def hard_sigmoid(x: TensorLike, alpha: float = 0.2, beta: float = 0.5) -> TensorVariable:
    """Piecewise linear sigmoid, ``clip(alpha * x + beta, 0, 1)``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    alpha, beta : float
        The defaults are those of Theano and ONNX; PyTorch's `alpha` is 1/6.

    Returns
    -------
    TensorVariable of the same shape
        The derivative is zero where the line meets 0 and 1.

    Raises
    ------
    ValueError
        If `alpha` or `beta` isn't a finite number.

    References
    ----------
    Courbariaux, Bengio and David, "BinaryConnect", arXiv:1511.00363.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.hard_sigmoid(pt.constant([-3.0, 0.0, 1.25])).eval()
    array([0.  , 0.5 , 0.75])
    """
    alpha, beta = _number("hard_sigmoid", "alpha", alpha), _number("hard_sigmoid", "beta", beta)
    return _apply(activations.HardSigmoid(alpha=alpha, beta=beta), x)


def elu(x: TensorLike, alpha: float = 1.0) -> TensorVariable:
    """Exponential linear unit: `x`, and below zero ``alpha * (exp(x) - 1)``.

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
    >>> pt.elu(pt.constant([-1e4, 0.0, 1e4]), alpha=2).eval()
    array([-2.e+00,  0.e+00,  1.e+04])
    """
    return _apply(activations.Elu(alpha=_number("elu", "alpha", alpha)), x)


def prelu(x: TensorLike, alpha: TensorLike) -> TensorVariable:
    """Leaky rectifier with slopes that can be trained: `x`, and below zero ``alpha * x``.

    Parameters
    ----------
    x : tensor_like, any shape; integers are upgraded to floating point
    alpha : tensor_like
        Broadcast against `x` as NumPy does: for one slope per channel of images, its shape is
        (channels, 1, 1).  Cast to the dtype of `x` where that is floating point.

    Returns
    -------
    TensorVariable
        Differentiable for both.  The derivative for `x` at 0 is `alpha`.

    References
    ----------
    He, Zhang, Ren and Sun, "Delving deep into rectifiers", arXiv:1502.01852.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.prelu(pt.constant([[-2.0, 2.0], [-2.0, 2.0]]), [[0.5], [0.25]]).eval()
    array([[-1. ,  2. ],
           [-0.5,  2. ]])
    """
    x, alpha = as_tensor_variable(x), as_tensor_variable(alpha)
    if x.type.dtype in float_dtypes:
        alpha = cast(alpha, x.type.dtype)
    return _apply(activations.PRelu(), x, alpha)


def leaky_relu(x: TensorLike, alpha: float = 0.01) -> TensorVariable:
    """Leaky rectifier: `x`, and below zero ``alpha * x``.

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
    Maas, Hannun and Ng, "Rectifier nonlinearities improve neural network acoustic models",
    ICML 2013.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.leaky_relu(pt.constant([-2.0, 2.0]), alpha=0.5).eval()
    array([-1.,  2.])
    """
    return _apply(activations.LeakyRelu(alpha=_number("leaky_relu", "alpha", alpha)), x)
