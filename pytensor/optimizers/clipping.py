"""Limits on gradients, applied before an optimizer sees them, and on steps."""

from collections.abc import Iterable, Sequence

import numpy as np

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.optimizers.basic import Scalar, as_scalar, check_number
from pytensor.optimizers.updates import Gradients, OrderedUpdates, Updates
from pytensor.tensor.moments import SumOfSquares
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable

# Operands of one operation.  PyTensor's Python code adds at most 32 at once, and Numba's compiler
# takes time of the square of their number for a join.
# thoughts/upstream/elemwise-32-operands.md
_AT_ONCE = 16


def _groups[Item](items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    return [items[k : k + size] for k in range(0, len(items), size)]


def _joined(vectors: list[TensorVariable], size: int = _AT_ONCE) -> TensorVariable:
    """Join vectors, in groups of groups if they are many."""
    while len(vectors) > 1:
        vectors = [pt.join(0, *g) if len(g) > 1 else g[0] for g in _groups(vectors, size)]
        size = _AT_ONCE
    return vectors[0]


def _total(scalars: Sequence[TensorVariable]) -> TensorVariable:
    """Add scalars, in groups if they are many.

    PyTensor makes one addition of additions, and of the sum of a join of single numbers, but not
    of the sum of a join of pairs.
    """
    sums = [sum(group[1:], start=group[0]) for group in _groups(scalars, _AT_ONCE)]
    if len(sums) <= 2:
        return sum(sums[1:], start=sums[0])
    vector = _joined([pt.atleast_1d(part) for part in sums], size=2)
    return pt.sum(vector, acc_dtype=vector.type.dtype)


def _sum_of_squares(grads: Iterable[TensorVariable], dtype: str) -> TensorVariable:
    """Return the sum over all gradients.

    Vectors are joined: a network has many small ones, and a loop for each takes compilers longer
    than copying them.
    """
    grads = [pt.cast(grad, dtype) for grad in grads]
    vectors = [pt.atleast_1d(grad) for grad in grads if grad.type.ndim < 2]
    others = [grad for grad in grads if grad.type.ndim >= 2]
    if vectors:
        others.append(_joined(vectors))
    # acc_dtype: PyTensor would sum float32 in float64, which JAX has not when floatX is float32.
    return _total([pt.sum(pt.sqr(grad), acc_dtype=dtype) for grad in others])


def _norm_dtype(grads: Iterable[TensorVariable]) -> str:
    """Return the widest dtype among `grads`, float32 at least: squares overflow float16 soon."""
    return str(np.result_type("float32", *(grad.type.dtype for grad in grads)))


def _tensors(grads: Gradients) -> list[TensorVariable]:
    if grads is None or isinstance(grads, Variable):
        raise TypeError("grads must be a sequence of gradients; write [grad]")
    tensors = [pt.as_tensor_variable(grad) for grad in grads]
    for position, grad in enumerate(tensors):
        if not np.issubdtype(np.dtype(grad.type.dtype), np.floating):
            raise TypeError(f"grads[{position}] has dtype {grad.type.dtype}; it must be float")
    return tensors


def _coefficient(norm: TensorVariable, max_norm: Scalar) -> TensorVariable:
    dtype = norm.type.dtype
    quotient = as_scalar(max_norm, dtype, "max_norm") / (norm + as_scalar(1e-6, dtype))
    return pt.minimum(as_scalar(1, dtype), quotient)


def clip_by_global_norm(
    grads: Gradients, max_norm: Scalar
) -> tuple[list[TensorVariable], TensorVariable]:
    """Scale all gradients together so that their joint Euclidean norm is at most `max_norm`.

    Parameters
    ----------
    grads : sequence of TensorVariable
        Of any shapes.
    max_norm : float or scalar variable

    Returns
    -------
    clipped : list of TensorVariable
        ``grad * min(1, max_norm / (norm + 1e-6))``, each of its gradient's shape and dtype: the
        formula of PyTorch's ``clip_grad_norm_``.
    norm : TensorVariable
        The joint norm before scaling, a scalar of the widest dtype among `grads`, and at least
        float32.  A NaN or infinity in any gradient makes it, and all of `clipped`, NaN or zero:
        `skip_nonfinite` leaves out such a step.

    References
    ----------
    Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", 2013.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.optimizers import clip_by_global_norm
    >>> (clipped,), norm = clip_by_global_norm([pt.constant([3.0, 4.0])], 1.0)
    >>> float(norm.eval(mode="FAST_COMPILE")), clipped.eval(mode="FAST_COMPILE").round(3)
    (5.0, array([0.6, 0.8]))
    """
    check_number("max_norm", max_norm)
    tensors = _tensors(grads)
    if not tensors:
        raise ValueError("grads is empty; give at least one gradient")
    dtype = _norm_dtype(tensors)
    inputs = [grad.type() for grad in tensors]
    squares = SumOfSquares(inputs, [_sum_of_squares(inputs, dtype)], inline=True)
    norm = pt.sqrt(squares(*tensors))
    coefficient = _coefficient(norm, max_norm)
    # Of large gradients in float16 it would be 0 in their dtype.
    factors = [pt.cast(coefficient, _norm_dtype([grad])) for grad in tensors]
    clipped = [
        pt.cast(grad * factor, grad.type.dtype)
        for grad, factor in zip(tensors, factors, strict=True)
    ]
    return clipped, norm


def skip_nonfinite(
    updates: Updates, norm: TensorVariable, skipped: TensorSharedVariable
) -> OrderedUpdates:
    """Leave out the steps whose gradients have a NaN or an infinity, and count them.

    Parameters
    ----------
    updates : mapping or iterable of pairs
        From shared tensors to their new values: the optimizer's, and what else shall stay as it is.
    norm : TensorVariable
        The gradients' norm, as `clip_by_global_norm` returns it.
    skipped : SharedVariable
        An integer scalar, to which each step that is left out adds 1.

    Returns
    -------
    OrderedUpdates
        Of the same variables, and of `skipped`.

    Examples
    --------
    >>> import numpy as np
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.optimizers import SGD, clip_by_global_norm, skip_nonfinite
    >>> w = pytensor.shared(np.zeros(2), name="w")
    >>> skipped = pytensor.shared(0, name="skipped")
    >>> grad = pt.vector("grad", shape=(2,))
    >>> grads, norm = clip_by_global_norm([grad], 10.0)
    >>> updates = skip_nonfinite(SGD(1.0).get_updates([w], grads), norm, skipped)
    >>> step = pytensor.function([grad], norm, updates=updates, mode="FAST_COMPILE")
    >>> _ = step([1.0, 2.0]), step([np.nan, 0.0])
    >>> w.get_value().round(4), int(skipped.get_value())
    (array([-1., -2.]), 1)
    """
    if skipped.type.ndim or not np.issubdtype(np.dtype(skipped.type.dtype), np.integer):
        raise TypeError(f"skipped must be an integer scalar, not {skipped.type}")
    finite = ~(pt.isnan(norm) | pt.isinf(norm))
    new_values = OrderedUpdates(updates).items()
    kept = OrderedUpdates({old: pt.switch(finite, new, old) for old, new in new_values})
    kept[skipped] = skipped + pt.cast(~finite, skipped.type.dtype)
    return kept


def clip_by_norm(grads: Gradients, max_norm: Scalar) -> list[TensorVariable]:
    """Scale each gradient separately so that its Euclidean norm is at most `max_norm`.

    Parameters
    ----------
    grads : sequence of TensorVariable
    max_norm : float or scalar variable

    Returns
    -------
    list of TensorVariable
        Of the gradients' shapes and dtypes.
    """
    return [clip_by_global_norm([grad], max_norm)[0][0] for grad in _tensors(grads)]


def clip_by_value(
    grads: Gradients, low: Scalar, high: Scalar | None = None
) -> list[TensorVariable]:
    """Limit every element of the gradients to [low, high].

    Parameters
    ----------
    grads : sequence of TensorVariable
    low, high : float or scalar variable
        Without `high`, the limits are ``[-low, low]``.

    Returns
    -------
    list of TensorVariable
        Of the gradients' shapes and dtypes.
    """
    if high is None:
        check_number("low", low)
        low, high = -low, low
    for name, limit in (("low", low), ("high", high)):
        check_number(name, limit, low=-np.inf)
    if not any(isinstance(limit, Variable) for limit in (low, high)) and low > high:
        raise ValueError(f"low must be at most high, not {low} and {high}")
    return [
        pt.clip(
            grad, as_scalar(low, grad.type.dtype, "low"), as_scalar(high, grad.type.dtype, "high")
        )
        for grad in _tensors(grads)
    ]
