"""Linear maps and rows of tables, with the names, arguments and numbers of PyTorch."""

from pytensor.gradient import disconnected_grad
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import arange, as_tensor_variable, cast, shape_padright
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.math import eq
from pytensor.tensor.math import max as pt_max
from pytensor.tensor.nn.checks import floats, integer, integers, of_shape, where
from pytensor.tensor.variable import TensorVariable


def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> TensorVariable:
    """Multiply by the transposed weights and add a bias, ``x @ weight.T + bias``.

    Parameters
    ----------
    x : tensor_like, shape (..., in_features), floating point
    weight : tensor_like, shape (out_features, in_features), or (in_features,) for a single output
        Weight and bias are cast to the dtype of `x`.
    bias : tensor_like, shape (out_features,), or () for a single output, optional

    Returns
    -------
    TensorVariable, shape (..., out_features), or (...,) for a single output

    Raises
    ------
    ValueError
        If a static shape doesn't fit.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 2.0]])
    >>> pt.nn.linear(x, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, 0.5]).eval()
    array([[1. , 2. , 3.5]])
    """
    x = floats("linear", "x", x)
    weight = cast(as_tensor_variable(weight), x.type.dtype)
    if x.type.ndim == 0 or weight.type.ndim not in (1, 2):
        raise ValueError(
            f"linear: x must have 1 axis or more and weight 1 or 2, got {x.type.ndim} and "
            f"{weight.type.ndim}"
        )
    has, takes = x.type.shape[-1], weight.type.shape[-1]
    if None not in (has, takes) and has != takes:
        raise ValueError(
            f"linear: x has {has} features in its last axis, weight of shape {weight.type.shape} "
            f"takes {takes}; weight is (out_features, in_features)"
        )
    out = x @ weight.T
    if bias is None:
        return out
    bias = cast(as_tensor_variable(bias), x.type.dtype)
    outputs = lengths_of(weight)[:-1]
    bias = of_shape("linear", "bias", bias, outputs, "a number for each output")
    return out + bias


def bilinear(
    x1: TensorLike, x2: TensorLike, weight: TensorLike, bias: TensorLike | None = None
) -> TensorVariable:
    """Map two inputs by a matrix for each output, ``x1 @ weight[k] @ x2 + bias[k]``.

    Parameters
    ----------
    x1 : tensor_like, shape (..., in1_features), floating point
    x2 : tensor_like, shape (..., in2_features)
    weight : tensor_like, shape (out_features, in1_features, in2_features)
    bias : tensor_like, shape (out_features,), optional
        All are cast to the dtype of `x1`.

    Returns
    -------
    TensorVariable, shape (..., out_features)

    Raises
    ------
    ValueError
        If a static shape doesn't fit.
    TypeError
        If `x1` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.bilinear(pt.constant([1.0, 2.0]), [3.0], [[[1.0], [10.0]]]).eval()
    array([63.])
    """
    x1 = floats("bilinear", "x1", x1)
    x2, weight = (cast(as_tensor_variable(v), x1.type.dtype) for v in (x2, weight))
    lengths, out_features = lengths_of(x1), lengths_of(weight)[0]
    shape = [*lengths[:-1], lengths_of(weight)[-1]]
    x2 = of_shape("bilinear", "x2", x2, shape, "that of x1 but for the features")
    weight = of_shape("bilinear", "weight", weight, [out_features, lengths[-1], shape[-1]],
                      "(out_features, in1_features, in2_features)")  # fmt: skip
    # x1 @ weight, as one matrix product: (..., out_features, in2_features)
    rows = weight.dimshuffle(1, 0, 2).reshape((weight.shape[1], -1))
    mapped = (x1 @ rows).reshape((*lengths_of(x1)[:-1], *(lengths_of(weight)[i] for i in (0, 2))))
    out = (mapped * x2[..., None, :]).sum(axis=-1)
    if bias is None:
        return out
    bias = cast(as_tensor_variable(bias), x1.type.dtype)
    bias = of_shape("bilinear", "bias", bias, [out_features], "a number for each output")
    return out + bias


def embedding(x: TensorLike, weight: TensorLike, padding_idx: int | None = None) -> TensorVariable:
    """Look up the rows of a table.

    Parameters
    ----------
    x : tensor_like, any shape, integers
        Numbers of rows.
    weight : tensor_like, shape (num_embeddings, embedding_dim)
    padding_idx : int, optional
        A row whose gradient is zero; a negative one counts from the end.  PyTorch's `max_norm`,
        which changes the table, `scale_grad_by_freq` and `sparse` aren't here.

    Returns
    -------
    TensorVariable, shape of x and (embedding_dim,), dtype of `weight`

    Raises
    ------
    ValueError
        If `weight` doesn't have two axes, or has no row `padding_idx`.
    TypeError
        If `x` isn't of integers.

    Notes
    -----
    A number that is no row of the table raises IndexError where the function runs, except in JAX,
    which takes another row.  Negative numbers count from the end; PyTorch refuses them.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.embedding(pt.constant([2, 0]), [[1.0, 1.5], [2.0, 2.5], [3.0, 3.5]]).eval()
    array([[3. , 3.5],
           [1. , 1.5]])
    """
    x, weight = integers("embedding", "x", x), as_tensor_variable(weight)
    if weight.type.ndim != 2:
        raise ValueError(f"embedding: weight must have 2 axes, got {weight.type.ndim}")
    rows = weight[x]
    if padding_idx is None:
        return rows
    place, n = integer("embedding", "padding_idx", padding_idx), weight.type.shape[0]
    if n is not None and not -n <= place < n:
        raise ValueError(f"embedding: padding_idx must be a row of weight, {n} rows; got {place}")
    is_padding = eq(x, place if place >= 0 else weight.shape[0] + place)
    return where(shape_padright(is_padding), disconnected_grad(rows), rows)


def one_hot(x: TensorLike, num_classes: int = -1) -> TensorVariable:
    """Return rows that are 1 at a class and 0 elsewhere.

    Parameters
    ----------
    x : tensor_like, any shape, integers
        Classes, from 0 to ``num_classes - 1``.
    num_classes : int
        -1, the default, is ``max(x) + 1``, which only run time knows; JAX can't compile that.

    Returns
    -------
    TensorVariable, shape of x and (num_classes,), int64
        A class that is outside has a row of zeros, where PyTorch raises.

    Raises
    ------
    ValueError
        If `num_classes` is neither -1 nor a positive integer.
    TypeError
        If `x` isn't of integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.one_hot(pt.constant([0, 2]), 3).eval()
    array([[1, 0, 0],
           [0, 0, 1]])
    """
    x = integers("one_hot", "x", x)
    if num_classes == -1:
        classes = arange(cast(pt_max(x), "int64") + 1, dtype="int64")
    else:
        classes = arange(integer("one_hot", "num_classes", num_classes, 1), dtype="int64")
    return cast(eq(shape_padright(x), classes), "int64")
