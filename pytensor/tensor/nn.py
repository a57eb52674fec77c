"""Activation functions."""

from pytensor.scalar.nn import silu as scalar_silu
from pytensor.tensor.elemwise import Elemwise

_silu = Elemwise(scalar_silu)


def silu(x):
    """Sigmoid linear unit, ``x * sigmoid(x)``, element by element (also called swish).

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
    >>> pt.silu(pt.constant([-1e4, 0.0, 1e4])).eval()
    array([   -0.,     0., 10000.])
    """
    return _silu(x)
