"""Distributions of vectors."""

import numpy as np

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.random.discrete import binomial_draw
from pytensor.link.onnx.extras.random.draws import draws_of, next_key, terms_of
from pytensor.link.onnx.extras.random.gamma import log_gamma_draw
from pytensor.link.onnx.write.sizes import length, scalar
from pytensor.link.onnx.write.term import Term, sqrt, where


@onnx_funcify.register(ptr.DirichletRV)
def onnx_funcify_DirichletRV(op, node, builder, key, size, alphas):
    n = length(builder, alphas, -1)
    known = node.outputs[1].type.shape[-1:]
    draws = draws_of(node, builder, key, size, [alphas], [n], known)
    (alpha,) = terms_of(node, builder, [alphas])
    result = log_gamma_draw(draws, alpha).apply("Softmax", axis=-1)
    return next_key(node, key), builder.cast(result.name, "float64", op.dtype)


@onnx_funcify.register(ptr.MvNormalRV)
def onnx_funcify_MvNormalRV(op, node, builder, key, size, mean, cov):
    n = length(builder, mean, -1)
    known = node.outputs[1].type.shape[-1:]
    draws = draws_of(node, builder, key, size, [mean, cov], [n], known)
    mean, cov = terms_of(node, builder, [mean, cov])
    normal = draws.normal()
    ndim, cov_ndim = node.outputs[1].type.ndim, node.inputs[3].type.ndim
    count = scalar(builder, n)
    # Columns of a Cholesky factor are used as they come.
    with builder.subgraph() as body:
        k = body.add_input("step", "int64", ())
        condition = body.add_input("condition", "bool", ())
        rest = Term(builder, body.add_input("rest", "float64", (None,) * cov_ndim))
        result = Term(builder, body.add_input("result", "float64", (None,) * ndim))
        column = Term(builder, builder.add("Gather", rest.name, k, axis=-1))
        where_k = builder.add("Unsqueeze", k, builder.int64s([0]))
        pivot = Term(builder, builder.add("Gather", column.name, where_k, axis=-1))
        weight = Term(builder, builder.add("Gather", normal.name, where_k, axis=-1))
        column = factor_column(op, column, pivot)
        row = Term(builder, builder.add("Unsqueeze", column.name, builder.int64s([-2])))
        builder.output(condition, "bool", ())
        builder.output((rest - column.column() * row).name, "float64", (None,) * cov_ndim)
        builder.output((result + column * weight).name, "float64", (None,) * ndim)
    state = [cov.name, draws.expand(mean).name]
    _, result = builder.add("Loop", count, "", *state, n_outputs=2, body=body)
    return next_key(node, key), builder.cast(result, "float64", op.dtype)


def factor_column(op, column, pivot):
    """Return a column of the factor, of what the columns before it have left of the covariance.

    Cholesky's method knows no singular covariance: the draws are NaN, as in Numba and JAX.  For the
    others a column whose pivot is zero is zero, and rounding may have made a pivot negative.
    """
    if op.method == "cholesky":
        return column / sqrt(where(pivot > 0.0, pivot, np.nan))
    return where(pivot == 0.0, 0.0, column / sqrt(abs(pivot)))


@onnx_funcify.register(ptr.MultinomialRV)
def onnx_funcify_MultinomialRV(op, node, builder, key, size, n, p):
    draws = draws_of(node, builder, key, size, [n, p])
    total, chances = terms_of(node, builder, [n, p])
    ndim = op.batch_ndim(node)
    count = scalar(builder, length(builder, p, -1))
    last = builder.add("Sub", count, builder.constant(1, "int64"))
    with builder.subgraph() as body:
        k = body.add_input("step", "int64", ())
        condition = body.add_input("condition", "bool", ())
        left = Term(builder, body.add_input("left", "float64", draws.sizes))
        mass = Term(builder, body.add_input("mass", "float64", draws.sizes))
        chance = Term(builder, builder.add("Gather", chances.name, k, axis=-1))
        is_last = Term(builder, builder.add("Equal", k, last))
        share = where(chance >= mass, 1.0, chance / mass)
        number = where(is_last, left, binomial_draw(draws, left, share))
        builder.output(condition, "bool", ())
        builder.output((left - number).name, "float64", draws.sizes)
        builder.output((mass - chance).name, "float64", draws.sizes)
        builder.output(number.name, "float64", draws.sizes)
    state = [draws.expand(total).name, draws.full(1.0).name]
    *_, counts = builder.add("Loop", count, "", *state, n_outputs=3, body=body)
    counts = builder.add("Transpose", counts, perm=[*range(1, ndim + 1), 0])
    return next_key(node, key), builder.cast(counts, "float64", op.dtype)
