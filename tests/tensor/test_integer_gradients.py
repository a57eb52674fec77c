"""Gradients past products of integers are zero, as past other functions of integers."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph

ONES = np.ones((3, 2), "int32")


def rounded(x):
    return pt.round(x * 10).astype("int32")


PRODUCTS = {
    "matrix and matrix": (2, lambda x: rounded(x) @ ONES),
    "matrix by itself": (2, lambda x: rounded(x) @ rounded(x).T),
    "matrix from the left": (2, lambda x: ONES.T @ rounded(x).T),
    "matrix and vector": (2, lambda x: rounded(x) @ ONES[:, 0]),
    "vector and matrix": (1, lambda x: rounded(x) @ ONES),
    "dot": (2, lambda x: pt.dot(rounded(x), ONES)),
    "booleans": (2, lambda x: rounded(x).astype("bool") @ (ONES > 0)),
    "batch": (3, lambda x: rounded(x) @ ONES),
    "batch by batch": (3, lambda x: rounded(x) @ rounded(x).transpose(0, 2, 1)),
    "matvec": (2, lambda x: pt.matvec(rounded(x), ONES[:, 0])),
    "vecmat": (2, lambda x: pt.vecmat(ONES[:2, 0], rounded(x))),
    "vecdot": (2, lambda x: pt.vecdot(rounded(x), ONES[:, 0])),
    "einsum": (2, lambda x: pt.einsum("ij,jk->ik", rounded(x), ONES)),
    "einsum of one": (2, lambda x: pt.einsum("ij->i", rounded(x))),
    "tensordot": (3, lambda x: pt.tensordot(rounded(x), ONES, axes=[[2], [0]])),
    "kron": (2, lambda x: pt.linalg.kron(rounded(x), ONES)),
}


def gradient(product, ndim, dtype="float64"):
    x = pt.tensor("x", dtype=dtype, shape=(None,) * ndim)
    cost = product(x).astype(dtype).sum() + x.sum()
    return x, pytensor.grad(cost, x)


@pytest.mark.parametrize("name", PRODUCTS)
def test_gradient_is_that_of_the_other_terms(name):
    ndim, product = PRODUCTS[name]
    for dtype in ("float64", "float32"):
        x, g = gradient(product, ndim, dtype)
        assert g.type.dtype == dtype
        value = np.ones((4, 2, 3)[-ndim:], dtype)
        np.testing.assert_equal(g.eval({x: value}, mode="FAST_COMPILE"), np.ones_like(value))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMBA", "ONNX", "jax_mode"])
def test_all_modes(mode):
    if mode == "jax_mode":
        mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode()
    inputs, gradients = zip(*(gradient(p, ndim) for ndim, p in PRODUCTS.values()), strict=True)
    f = pytensor.function(inputs, gradients, mode=mode)
    values = [np.ones((4, 2, 3)[-x.type.ndim :]) for x in inputs]
    for got, right in zip(f(*values), values, strict=True):
        np.testing.assert_equal(got, right)


def test_floats_of_a_graph_with_integers_keep_their_gradient():
    v = pt.dvector("v")
    op = OpFromGraph([v], [v**2, pt.floor(v).astype("int64"), pt.argsort(v)])
    x = pt.dvector("x")
    square, floor, order = op(x)
    cost = (square * floor).sum() + (order * x).sum()
    g = pytensor.grad(cost, x)
    value = np.array([2.5, 1.5])
    np.testing.assert_allclose(g.eval({x: value}, mode="FAST_COMPILE"), 2 * value * [2, 1] + [1, 0])


def test_gradient_that_a_graph_brings_along_is_not_passed_over():
    """PyTensor can't call it for integers, which is an error."""
    v = pt.dvector("v")
    rounding = [pt.round(v).astype("int64")]
    op = OpFromGraph([v], rounding, pullback=lambda inputs, outputs, cotangents: cotangents)
    x = pt.dvector("x")
    with pytest.raises(TypeError, match="Cannot convert"):
        pytensor.grad(op(x).astype("float64").sum(), x)


def test_what_has_no_gradient_still_has_none():
    v, rng = pt.dscalar("v"), pt.random.type.random_generator_type("rng")
    _, draw = pt.random.poisson(v, rng=rng, return_next_rng=True)
    op = OpFromGraph([v, rng], [draw])
    x = pt.dscalar("x")
    with pytest.raises(pytensor.gradient.NullTypeGradError):
        pytensor.grad(op(x, rng).astype("float64"), x)
