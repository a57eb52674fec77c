"""Distributions of vectors."""

import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.random.discrete import binomial_draw
from pytensor.link.onnx.extras.random.draws import after_draw, doubles, draws_of
from pytensor.link.onnx.extras.random.gamma import log_gamma_draw
from pytensor.link.onnx.write.formula import sqrt
from pytensor.link.onnx.write.term import where


@onnx_funcify.register(ptr.DirichletRV)
def onnx_funcify_DirichletRV(op, node, generator, size, alphas):
    known = node.outputs[1].type.shape[-1:]
    draws = draws_of(node, generator, size, [alphas], [alphas.length(-1)], known)
    result = log_gamma_draw(draws, alphas.cast("float64")).node("Softmax", axis=-1)
    return after_draw(node, generator), result.cast(op.dtype)


@onnx_funcify.register(ptr.MvNormalRV)
def onnx_funcify_MvNormalRV(op, node, generator, size, mean, cov):
    n, known = mean.length(-1), node.outputs[1].type.shape[-1:]
    draws = draws_of(node, generator, size, [mean, cov], [n], known)
    mean, cov = doubles([mean, cov])
    normal = draws.normal()

    # Columns of a Cholesky factor are used as they come.
    def step(k, rest, result):
        column, place = rest.gather(k, axis=-1), k.unsqueeze(0)
        pivot, weight = column.gather(place, axis=-1), normal.gather(place, axis=-1)
        column = factor_column(op, column, pivot)
        return rest - column.column() * column.unsqueeze(-2), result + column * weight

    ndims = node.inputs[3].type.ndim, node.outputs[1].type.ndim
    shapes = [(None,) * ndim for ndim in ndims]
    state = [cov, draws.expand(mean)]
    _, result = cov.builder.loop(step, state, count=n.squeeze(0), shapes=shapes)
    return after_draw(node, generator), result.cast(op.dtype)


def factor_column(op, column, pivot):
    """Return a column of the factor, of what the columns before it have left of the covariance.

    Cholesky's method knows no singular covariance: the draws are NaN, as in Numba and JAX.  For the
    others a column whose pivot is zero is zero, and rounding may have made a pivot negative.
    """
    if op.method == "cholesky":
        return column / sqrt(where(pivot > 0.0, pivot, np.nan))
    return where(pivot == 0.0, 0.0, column / sqrt(abs(pivot)))


@onnx_funcify.register(ptr.MultinomialRV)
def onnx_funcify_MultinomialRV(op, node, generator, size, n, p):
    draws = draws_of(node, generator, size, [n, p])
    count = p.size(-1)
    total, chances = doubles([n, p])
    last = count - 1

    def step(k, left, mass):
        chance = chances.gather(k, axis=-1)
        share = where(chance >= mass, 1.0, chance / mass)
        number = where(k == last, left, binomial_draw(draws, left, share))
        return left - number, mass - chance, number

    state = [draws.expand(total), draws.full(1.0)]
    *_, counts = total.builder.loop(step, state, count=count, shapes=[draws.sizes] * 3)
    counts = counts.transpose(*range(1, op.batch_ndim(node) + 1), 0)
    return after_draw(node, generator), counts.cast(op.dtype)
