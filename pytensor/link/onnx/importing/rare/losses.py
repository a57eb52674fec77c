"""Losses of classification."""

from typing import Literal

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import attributes_of, operator_funcify
from pytensor.link.onnx.importing.sizes import like, wide
from pytensor.tensor.moments import total
from pytensor.tensor.special import log_softmax

Reduction = Literal["mean", "sum", "none"]


@operator_funcify.register("NegativeLogLikelihoodLoss")
def negative_log_likelihood_loss(
    x, target, weight=None, *, ignore_index=None, reduction: Reduction = "mean"
):
    dtype, x = x.type.dtype, wide(x)
    weight = None if weight is None else wide(weight)
    kept = None
    if ignore_index is not None:
        kept = pt.neq(target, like(target, ignore_index))
        target = pt.switch(kept, target, like(target, 0))
    by_class = pt.moveaxis(x, 1, -1)
    loss = -pt.take_along_axis(by_class, pt.expand_dims(target, -1), axis=-1)[..., 0]
    weights = None if weight is None else weight[target]
    if kept is not None:
        weights = pt.cast(kept, x.type.dtype) if weights is None else weights * kept
        # not a product: what is ignored may be infinite
        loss = pt.switch(kept, loss, like(x, 0))
    if weights is not None:
        loss = loss * weights
    if reduction == "none":
        return pt.cast(loss, dtype)
    axes = range(loss.type.ndim)
    if reduction == "sum":
        return pt.cast(total(loss, axes), dtype)
    number = pt.cast(loss.size, x.type.dtype) if weights is None else total(weights, axes)
    return pt.cast(total(loss, axes) / number, dtype)


@operator_funcify.register("SoftmaxCrossEntropyLoss")
@attributes_of(negative_log_likelihood_loss)
def softmax_cross_entropy_loss(scores, labels, weights=None, **attributes):
    x = log_softmax(scores, axis=1)
    return negative_log_likelihood_loss(x, labels, weights, **attributes), x
