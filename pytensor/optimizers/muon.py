import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.optimizers.basic import (
    NewValues,
    Optimizer,
    Scalar,
    Schedule,
    as_scalar,
    check_number,
    rate_of,
    shrunk,
    wide_dtype,
)  # fmt: skip
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.variable import TensorVariable

# An odd polynomial a x + b x^3 + c x^5 whose iterates carry (1/600, 1] into (0.68, 1.21):
# five steps suffice where the classical coefficients, which converge to 1, take a dozen or more.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalize(matrices: TensorVariable, steps: int = 5) -> TensorVariable:
    r"""Return about :math:`U V^T` of matrices :math:`U S V^T`, by Newton-Schulz iteration.

    Each matrix is divided by its Frobenius norm, so that its singular values are at most 1; then
    each step applies a polynomial to all of them at once with three products:

    .. math::

        X \leftarrow a X + (b A + c A^2) X, \quad A = X X^T

    Parameters
    ----------
    matrices : TensorVariable (..., rows, columns)
        Float.  The static shape says whether rows or columns are fewer; if it is unknown, the
        result is the same and may take longer.
    steps : int

    Returns
    -------
    TensorVariable (..., rows, columns)
        Of the same dtype.  Singular values come to lie within 0.68 to 1.21, but for those which
        were less than 1/600 of the norm of their matrix plus 1e-7: these grow from there about
        480-fold, and may still be below.  A zero matrix stays zero.

    Notes
    -----
    The coefficients, and that five steps suffice, are Keller Jordan's ("Muon: An optimizer for
    hidden layers in neural networks", 2024).  He computes in bfloat16; here it is float32, or the
    dtype of the matrices where that is wider.
    """
    dtype = matrices.type.dtype
    if not np.issubdtype(np.dtype(dtype), np.floating):
        raise TypeError(f"matrices must be float, not {dtype}")
    wide = str(np.result_type("float32", dtype))
    x = pt.cast(matrices, wide)
    # Flat, because PyTensor's rewrite of some sums over two axes fails, and says so at length:
    # thoughts/upstream/sumsqr2dot-of-inputs.md.  acc_dtype: it would sum float32 in float64.
    squares = pt.sum(pt.sqr(x.flatten(x.type.ndim - 1)), axis=-1, acc_dtype=wide)
    norm = pt.sqrt(pt.shape_padright(squares, 2))
    rows, columns = matrices.type.shape[-2:]
    tall = None not in (rows, columns) and rows > columns
    if tall:  # the products of rows are the larger ones
        x = pt.swapaxes(x, -1, -2)
    x = x / (norm + as_scalar(1e-7, wide))
    a, b, c = (as_scalar(coefficient, wide) for coefficient in COEFFICIENTS)
    for _ in range(steps):
        gram = x @ pt.swapaxes(x, -1, -2)
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    if tall:
        x = pt.swapaxes(x, -1, -2)
    return pt.cast(x, dtype)


def orthogonalize_all(
    tensors: Sequence[TensorVariable], like: Sequence[TensorSharedVariable], steps: int = 5
) -> list[TensorVariable]:
    """Orthogonalize tensors flattened to (first axis, rest), tensors of equal shapes together.

    They have the shapes of the variables in `like`, of two axes at least.
    """
    shapes = [variable.get_value(borrow=True).shape for variable in like]
    together: dict[tuple[int, int, str], list[int]] = {}
    for position, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
        key = (shape[0], math.prod(shape[1:]), tensor.type.dtype)
        together.setdefault(key, []).append(position)
    results = list(tensors)
    for (rows, columns, _), positions in together.items():
        stack = pt.stack([tensors[k].reshape((rows, columns)) for k in positions])
        done = orthogonalize(stack, steps)
        for place, position in enumerate(positions):
            results[position] = done[place].reshape(shapes[position])
    return results


def averaged_gradient(
    average: TensorVariable, grad: TensorVariable, momentum: Scalar, nesterov: bool
) -> tuple[TensorVariable, TensorVariable]:
    """Return the next moving average of a gradient, and the direction that it gives.

    The momentum is the share of the old average in the new one; with `nesterov`, the gradient is
    mixed into the new average again.
    """
    check_number("momentum", momentum, high=1.0)
    dtype = average.type.dtype
    # 1 - momentum is taken before rounding to float32 where that is possible.
    kept, rest = as_scalar(momentum, dtype, "momentum"), as_scalar(1 - momentum, dtype)
    new_average = kept * average + rest * grad
    return new_average, kept * new_average + rest * grad if nesterov else new_average


def check_matrices(params: Iterable[TensorSharedVariable], owner: str) -> None:
    """Raise ValueError if one of the parameters has fewer than two axes."""
    for param in params:
        if param.type.ndim < 2:
            raise ValueError(
                f"{owner} trains parameters of two axes or more, and {param} has "
                f"{param.type.ndim}; give it to another optimizer, such as SGD or AdamW"
            )


class Muon(Optimizer):
    r"""Update matrices and filters by Muon, orthogonalized momentum (Keller Jordan, 2024).

    .. math::

        m &\leftarrow \mu m + (1 - \mu) \nabla f(w) \\
        w &\leftarrow (1 - \eta \lambda) w - \eta\, \text{orthogonalize}(m)
            \quad\text{or, nesterov, of}\quad \mu m + (1 - \mu) \nabla f(w)

    All singular values of a step are near the learning rate, however different they are in the
    gradient are: see `orthogonalize`.  It is for the matrices and the filters of hidden layers;
    biases, gains and other parameters of one axis need another optimizer.

    Parameters
    ----------
    learning_rate : float, scalar variable or schedule
        Also called `lr`.
    momentum : float or scalar variable
        :math:`\mu`.
    nesterov : bool
    weight_decay : float, scalar variable or schedule
        :math:`\lambda`, apart from the momentum and multiplied by the learning rate, as in `AdamW`.
    steps : int
        Of the Newton-Schulz iteration.

    Raises
    ------
    ValueError
        From `get_updates`, if a parameter has fewer than two axes.

    Notes
    -----
    State: ``<name>.gradient_average``, of the parameter's shape and dtype, but float32 for float16.

    A filter of shape (out, in, height, width) counts as a matrix (out, in * height * width).
    Parameters whose matrices have the same shape are orthogonalized together.

    The average is a mean of gradients rather than their sum.  For a constant momentum this makes no
    difference, since scale does not matter to what is orthogonalized; where the momentum changes
    from step to step, a sum would change its meaning.  The step is not scaled by the matrix' shape,
    as some implementations do: set the learning rate by groups for that.
    """

    hyperparameters = ("learning_rate", "momentum", "weight_decay")

    def __init__(
        self, learning_rate: Scalar | Schedule | None = None, *, momentum: Scalar = 0.95,
        nesterov: bool = True, weight_decay: Scalar | Schedule = 0.0, steps: int = 5,
        lr: Scalar | Schedule | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate=rate_of(learning_rate, lr, 0.02), momentum=momentum,
            weight_decay=weight_decay,
        )  # fmt: skip
        check_number("momentum", momentum, high=1.0)
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}")
        self.nesterov = nesterov
        self.steps = steps

    def _update_parameters(
        self, params: Sequence[TensorSharedVariable], grads: Sequence[TensorVariable],
        names: Sequence[str], values: Mapping[SharedVariable, Mapping[str, Scalar]],
    ) -> NewValues:  # fmt: skip
        check_matrices(params, type(self).__name__)
        averages: NewValues = {}
        directions = []
        for param, grad, name in zip(params, grads, names, strict=True):
            average = self._slot(param, name, "gradient_average")
            averages[average], direction = averaged_gradient(
                average, grad, values[param]["momentum"], self.nesterov
            )
            directions.append(direction)
        directions = orthogonalize_all(directions, params, self.steps)
        return averages | super()._update_parameters(params, directions, names, values)

    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str,
        learning_rate: Scalar, momentum: Scalar, weight_decay: Scalar,
    ) -> NewValues:  # fmt: skip
        """Step along `grad`, which is the orthogonalized direction here."""
        dtype = wide_dtype(param)
        lr = as_scalar(learning_rate, dtype, "learning_rate")
        kept = shrunk(param, learning_rate, weight_decay)
        return {param: kept - lr * grad}
