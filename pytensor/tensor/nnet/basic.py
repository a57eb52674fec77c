"""Activations, softmax and cross-entropies with the arguments of Theano."""

import numbers

from pytensor.scalar.math import Sigmoid
from pytensor.tensor import nn
from pytensor.tensor.basic import (
    arange,
    as_tensor_variable,
    cast,
    expand_dims,
    join,
    switch,
)
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import unique
from pytensor.tensor.math import argmax, eq, log, log1p, matmul, neg, sigmoid, softplus
from pytensor.tensor.nn import elu, hard_sigmoid, selu, softsign
from pytensor.tensor.shape import shape_padleft, specify_shape
from pytensor.tensor.special import Softmax, log_softmax
from pytensor.tensor.special import softmax as _softmax
from pytensor.tensor.type import discrete_dtypes, int_dtypes

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "confusion_matrix",
    "crossentropy_categorical_1hot",
    "crossentropy_softmax_1hot",
    "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_argmax_1hot_with_bias",
    "elu",
    "h_softmax",
    "hard_sigmoid",
    "logsoftmax",
    "relu",
    "selu",
    "sigmoid",
    "sigmoid_binary_crossentropy",
    "softmax",
    "softmax_with_bias",
    "softplus",
    "softsign",
]


def relu(x, alpha=0):
    """Rectifier: `x`, and below zero ``alpha * x``.

    Parameters
    ----------
    x : tensor_like, any shape
    alpha : float or tensor_like, optional
        Slope below zero: a number, or a tensor that broadcasts with `x` (a parametric rectifier).

    Returns
    -------
    TensorVariable of the same shape
        The derivative at 0 is `alpha`; in Theano it was ``(1 + alpha) / 2``.

    Raises
    ------
    ValueError
        If a number `alpha` isn't finite.

    References
    ----------
    He et al., "Delving deep into rectifiers", ICCV 2015.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nnet.relu(pt.constant([-2.0, 2.0]), alpha=0.5).eval()
    array([-1.,  2.])
    """
    if not isinstance(alpha, numbers.Real):
        return nn.prelu(x, alpha)
    return nn.leaky_relu(x, alpha) if alpha != 0 else nn.relu(x)


def _rows(function, c):
    """Bring the input of a softmax to rows; Theano made one row of a vector."""
    c = as_tensor_variable(c)
    if c.type.ndim == 1:
        return shape_padleft(c)
    if c.type.ndim != 2:
        raise ValueError(
            f"{function}: the input must be a vector or a matrix, it has {c.type.ndim} axes; "
            f"give axis="
        )
    return c


def softmax(c, axis=None):
    """Exponentials of each row, divided by their sum.

    ``exp(c[i, j]) / sum_k exp(c[i, k])``, with the row's maximum taken off first.

    Parameters
    ----------
    c : tensor_like, shape (rows, classes) or (classes,)
    axis : int or tuple of int, optional
        Sum over these axes instead, whatever the rank: the argument of PyTensor 2.

    Returns
    -------
    TensorVariable, shape (rows, classes)
        A vector gives one row, as in Theano, unless `axis` is given.

    Raises
    ------
    ValueError
        If `c` has more than two axes and `axis` isn't given.

    See Also
    --------
    pytensor.tensor.special.softmax : over all axes or those given; vectors stay vectors.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nnet.softmax(pt.constant([[0.0, 0.0], [1e4, 0.0]])).eval()
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    if axis is not None:
        return _softmax(c, axis=axis)
    return _softmax(_rows("softmax", c), axis=-1)


def logsoftmax(c, axis=None):
    """Logarithm of `softmax`, precise where that underflows.

    Parameters
    ----------
    c : tensor_like, shape (rows, classes) or (classes,)
    axis : int or tuple of int, optional
        Sum over these axes instead, whatever the rank.

    Returns
    -------
    TensorVariable, shape (rows, classes)
        A vector gives one row, as in Theano, unless `axis` is given.

    Raises
    ------
    ValueError
        If `c` has more than two axes and `axis` isn't given.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nnet.logsoftmax(pt.constant([[1e4, 0.0]])).eval()
    array([[     0., -10000.]])
    """
    if axis is not None:
        return log_softmax(c, axis=axis)
    return log_softmax(_rows("logsoftmax", c), axis=-1)


def softmax_with_bias(x, b):
    """``softmax(x + b)`` of a matrix and a vector.

    Parameters
    ----------
    x : tensor_like, shape (rows, classes)
    b : tensor_like, shape (classes,)

    Returns
    -------
    TensorVariable, shape (rows, classes)

    Raises
    ------
    ValueError
        If ``x + b`` is neither a matrix nor a vector, or known shapes don't broadcast.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nnet.softmax_with_bias(pt.zeros((1, 2)), np.log([1.0, 3.0])).eval()
    array([[0.25, 0.75]])
    """
    return softmax(as_tensor_variable(x) + b)


def _as_float(target, dtype):
    """Cast integers: with a float32 they would make a float64."""
    target = as_tensor_variable(target)
    return cast(target, dtype) if target.type.dtype in discrete_dtypes else target


def _log_probabilities(probabilities):
    """Logarithm; of a softmax over the last axis without computing the softmax."""
    node = probabilities.owner
    if node is not None and isinstance(node.op, Softmax):
        (x,) = node.inputs
        if node.op.axis is not None and set(node.op.axis) == {x.type.ndim - 1}:
            return log_softmax(x, axis=-1)
    return log(probabilities)


def _pick(x, labels):
    """Take ``x[..., labels]``, one entry of the last axis each."""
    if labels.type.dtype not in int_dtypes:
        labels = cast(labels, "int64" if labels.type.dtype in ("uint32", "uint64") else "int32")
    # With lengths that are known to agree there is no check of broadcasting, which JAX can't do;
    # with floatX=float32 it has no int64 either
    n = labels.type.ndim
    labels = specify_shape(labels, list(x.shape)[:-1])
    places = [
        expand_dims(arange(x.shape[axis], dtype="int32"), tuple(range(1, n - axis)))
        for axis in range(n)
    ]
    return x[(*places, labels)]


def categorical_crossentropy(coding_dist, true_dist):
    """Cross-entropy of predicted class probabilities against true ones, per example.

    ``-sum_k true_dist[..., k] * log(coding_dist[..., k])``

    Parameters
    ----------
    coding_dist : tensor_like, shape (..., classes), floating point
        Predicted probabilities.  Made by a softmax over the last axis, its logarithm is computed
        from the softmax's input, so that nothing underflows.
    true_dist : tensor_like, shape (..., classes) or integers of shape (...,)
        True probabilities, or the number of the true class, in ``[0, classes)``.

    Returns
    -------
    TensorVariable, shape (...,)
        Classes of true probability 0 count nothing, even where `coding_dist` is 0.

    Raises
    ------
    TypeError
        If the ranks don't fit, or class numbers aren't integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> logits = pt.constant([[0.0, 0.0], [1e4, 0.0]])
    >>> predicted = pt.nnet.softmax(logits)
    >>> pt.nnet.categorical_crossentropy(predicted, pt.constant([0, 1])).eval().round(3)
    array([6.93e-01, 1.00e+04])
    """
    coding_dist, true_dist = as_tensor_variable(coding_dist), as_tensor_variable(true_dist)
    log_coding = _log_probabilities(coding_dist)
    if true_dist.type.ndim == coding_dist.type.ndim:
        true_dist = _as_float(true_dist, log_coding.type.dtype)
        # `switch`: the logarithm of a class that can't be may be infinite
        return -switch(eq(true_dist, 0), 0, true_dist * log_coding).sum(axis=-1)
    if true_dist.type.ndim != coding_dist.type.ndim - 1:
        raise TypeError(
            f"categorical_crossentropy: true_dist must have as many axes as coding_dist or one "
            f"less, got {true_dist.type.ndim} and {coding_dist.type.ndim}"
        )
    if true_dist.type.dtype not in discrete_dtypes:
        raise TypeError(
            f"categorical_crossentropy: class numbers must be integers, true_dist is "
            f"{true_dist.type.dtype}"
        )
    return -_pick(log_coding, true_dist)


def crossentropy_categorical_1hot(coding_dist, true_one_of_n):
    """`categorical_crossentropy` of a matrix of probabilities and a vector of class numbers.

    Parameters
    ----------
    coding_dist : tensor_like, shape (rows, classes)
    true_one_of_n : tensor_like of integers, shape (rows,)

    Returns
    -------
    TensorVariable, shape (rows,)

    Raises
    ------
    TypeError
        If the ranks or dtypes aren't those above.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> coding_dist = pt.constant([[1.0, 0.0], [0.5, 0.5]])
    >>> pt.nnet.crossentropy_categorical_1hot(coding_dist, [0, 1]).eval().round(3)
    array([-0.   ,  0.693])
    """
    coding_dist, labels = as_tensor_variable(coding_dist), as_tensor_variable(true_one_of_n)
    if coding_dist.type.ndim != 2 or labels.type.ndim != 1:
        raise TypeError(
            f"crossentropy_categorical_1hot: needs a matrix and a vector, got "
            f"{coding_dist.type.ndim} and {labels.type.ndim} axes"
        )
    return categorical_crossentropy(coding_dist, labels)


def crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx):
    """Softmax of ``x + b``, its cross-entropy against class numbers, and its largest class.

    Parameters
    ----------
    x : tensor_like, shape (rows, classes)
    b : tensor_like, shape (classes,)
    y_idx : tensor_like of integers, shape (rows,)

    Returns
    -------
    nll : TensorVariable, shape (rows,)
    softmax : TensorVariable, shape (rows, classes)
    argmax : TensorVariable, shape (rows,), int64

    Raises
    ------
    ValueError
        If ``x + b`` is neither a matrix nor a vector.
    TypeError
        If `y_idx` isn't a vector of integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[0.0, 1e4]])
    >>> outputs = pt.nnet.crossentropy_softmax_argmax_1hot_with_bias(x, pt.zeros(2), [0])
    >>> [out.eval().tolist() for out in outputs]
    [[10000.0], [[0.0, 1.0]], [1]]
    """
    logits = as_tensor_variable(x) + b
    probabilities = softmax(logits)
    nll = crossentropy_categorical_1hot(probabilities, y_idx)
    return nll, probabilities, argmax(logits, axis=-1)


def crossentropy_softmax_1hot_with_bias(x, b, y_idx):
    """Cross-entropy of ``softmax(x + b)`` against class numbers, and that softmax.

    Parameters
    ----------
    x : tensor_like, shape (rows, classes)
    b : tensor_like, shape (classes,)
    y_idx : tensor_like of integers, shape (rows,)

    Returns
    -------
    nll : TensorVariable, shape (rows,)
    softmax : TensorVariable, shape (rows, classes)

    Raises
    ------
    ValueError
        If ``x + b`` is neither a matrix nor a vector.
    TypeError
        If `y_idx` isn't a vector of integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> nll, probabilities = pt.nnet.crossentropy_softmax_1hot_with_bias(
    ...     pt.zeros((1, 2)), pt.constant([0.0, 1e4]), [0]
    ... )
    >>> nll.eval()
    array([10000.])
    """
    return crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx)[:2]


def crossentropy_softmax_1hot(x, y_idx):
    """Cross-entropy of ``softmax(x)`` against class numbers, and that softmax.

    Parameters
    ----------
    x : tensor_like, shape (rows, classes)
    y_idx : tensor_like of integers, shape (rows,)

    Returns
    -------
    nll : TensorVariable, shape (rows,)
    softmax : TensorVariable, shape (rows, classes)

    Raises
    ------
    ValueError
        If `x` is neither a matrix nor a vector.
    TypeError
        If `y_idx` isn't a vector of integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> nll, probabilities = pt.nnet.crossentropy_softmax_1hot([[0.0, 1e4]], [0])
    >>> nll.eval()
    array([10000.])
    """
    probabilities = softmax(x)
    return crossentropy_categorical_1hot(probabilities, y_idx), probabilities


def binary_crossentropy(output, target):
    """Cross-entropy of probabilities against targets, element by element.

    ``-(target * log(output) + (1 - target) * log(1 - output))``

    Parameters
    ----------
    output : tensor_like, any shape, floating point
        Probabilities.  Made by a sigmoid, the result is computed from the sigmoid's input.
    target : tensor_like, broadcasts with `output`
        In [0, 1].

    Returns
    -------
    TensorVariable, the shape of both broadcast
        NaN where both `output` and `target` are 0 or both are 1, unless a sigmoid made `output`.

    Raises
    ------
    ValueError
        If known shapes don't broadcast.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nnet.binary_crossentropy(pt.sigmoid(pt.constant([0.0, -1e4])), 1).eval().round(3)
    array([6.93e-01, 1.00e+04])
    """
    output = as_tensor_variable(output)
    node = output.owner
    if (
        node is not None
        and isinstance(node.op, Elemwise)
        and isinstance(node.op.scalar_op, Sigmoid)
    ):
        return sigmoid_binary_crossentropy(node.inputs[0], target)
    target = _as_float(target, output.type.dtype)
    return -(target * log(output) + (1 - target) * log1p(neg(output)))


def sigmoid_binary_crossentropy(output, target):
    """Cross-entropy of ``sigmoid(output)`` against targets, element by element.

    ``target * softplus(-output) + (1 - target) * softplus(output)``, which neither overflows nor
    loses digits.

    Parameters
    ----------
    output : tensor_like, any shape
        Before the sigmoid (log-odds).
    target : tensor_like, broadcasts with `output`
        In [0, 1].

    Returns
    -------
    TensorVariable, the shape of both broadcast

    Raises
    ------
    ValueError
        If known shapes don't broadcast.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nnet.sigmoid_binary_crossentropy(pt.constant([0.0, -1e4]), 1).eval().round(3)
    array([6.93e-01, 1.00e+04])
    """
    output = as_tensor_variable(output)
    target = _as_float(target, output.type.dtype)
    return target * softplus(-output) + (1 - target) * softplus(output)


def h_softmax(
    x, batch_size, n_outputs, n_classes, n_outputs_per_class, W1, b1, W2, b2, target=None
):
    """Two-level hierarchical softmax: first a class of outputs, then an output of the class.

    Parameters
    ----------
    x : tensor_like, shape (batch, features)
    batch_size, n_outputs, n_classes, n_outputs_per_class : int
        Output number i is output ``i % n_outputs_per_class`` of class
        ``i // n_outputs_per_class``; there may be more places than outputs.
    W1 : tensor_like, shape (features, n_classes)
    b1 : tensor_like, shape (n_classes,)
    W2 : tensor_like, shape (n_classes, features, n_outputs_per_class)
    b2 : tensor_like, shape (n_classes, n_outputs_per_class)
    target : tensor_like of integers, shape (batch,) or (batch, 1), optional
        The one output per example whose probability is wanted.

    Returns
    -------
    TensorVariable, shape (batch, n_outputs), or (batch,) with `target`
        Probabilities.  With `target`, only the targets' classes are computed.

    Raises
    ------
    ValueError
        If known shapes don't fit.
    TypeError
        If `target` isn't of integers.

    References
    ----------
    Goodman, "Classes for fast maximum entropy training", ICASSP 2001.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> parameters = [pt.zeros(s) for s in [(2, 2), (2,), (2, 2, 2), (2, 2)]]
    >>> pt.nnet.h_softmax(pt.ones((1, 2)), 1, 3, 2, 2, *parameters).eval()
    array([[0.25, 0.25, 0.25]])
    """
    x, W2, b2 = as_tensor_variable(x), as_tensor_variable(W2), as_tensor_variable(b2)
    classes = softmax(matmul(x, W1) + b1)
    if target is None:
        # (classes, batch, features) @ (classes, features, outputs)
        within = _softmax(matmul(x, W2).transpose((1, 0, 2)) + b2, axis=-1)
        joint = expand_dims(classes, -1) * within
        return joint.reshape((batch_size, n_classes * n_outputs_per_class))[:, :n_outputs]
    target = as_tensor_variable(target).flatten()
    own = target // n_outputs_per_class
    within = _softmax(matmul(expand_dims(x, 1), W2[own])[:, 0] + b2[own], axis=-1)
    return _pick(classes, own) * _pick(within, target % n_outputs_per_class)


def confusion_matrix(actual, pred):
    """How often each actual label was predicted as each label.

    Parameters
    ----------
    actual, pred : tensor_like of integers, shape (examples,)

    Returns
    -------
    matrix : TensorVariable, shape (labels, labels), int64
        Rows are actual labels, columns predicted ones.
    order : TensorVariable, shape (labels,)
        The labels that occur, in ascending order.

    Raises
    ------
    ValueError
        If an argument isn't a vector.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> matrix, order = pt.nnet.confusion_matrix([2, 0, 2, 5], [2, 0, 5, 5])
    >>> matrix.eval()
    array([[1, 0, 0],
           [0, 1, 1],
           [0, 0, 1]])
    >>> order.eval()
    array([0, 2, 5])
    """
    actual, pred = as_tensor_variable(actual), as_tensor_variable(pred)
    for name, labels in [("actual", actual), ("pred", pred)]:
        if labels.type.ndim != 1:
            raise ValueError(
                f"confusion_matrix: {name} must be a vector, it has {labels.type.ndim} axes"
            )
    order = unique(join(0, actual, pred))
    rows, columns = (eq(labels[:, None], order).astype("int64") for labels in (actual, pred))
    return rows.T @ columns, order
