"""Eigenvalues, singular values, and what is computed from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from pytensor.tensor import linalg
from tests.link.onnx.extras.linalg.test_linalg import RNG, dominant, positive, square
from tests.link.onnx.strategies import arrays, shapes
from tests.link.onnx.test_basic import compare_onnx_and_py, run


def spectra():
    for n in (1, 2, 3, 6, 7):
        q = np.linalg.qr(RNG.normal(size=(n, n)))[0]
        for w in (np.arange(n), np.ones(n), 10.0 ** -np.arange(n), np.r_[-1e200, np.arange(1, n)]):
            yield (q * w) @ q.T
        yield np.diag(np.arange(n) * 1.0)
        yield np.ones((n, n))
        yield np.zeros((n, n))


def test_eigenvectors():
    a = square((2, 2))
    model = export_onnx([a], list(linalg.eigh(a)))
    for value in spectra():
        values, vectors = run(model, [value])
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(value)), atol=1e-13)
        scale = np.abs(value).max()
        np.testing.assert_allclose(vectors * values @ vectors.T, value, atol=1e-13 * scale)
        np.testing.assert_allclose(values, np.linalg.eigvalsh(value), atol=1e-13 * scale)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "int64", "bool"])
def test_eigenvectors_of_integers(dtype, lower):
    a = square((2, 4, 4), dtype)
    value = RNG.integers(0, 2 if dtype == "bool" else 9, size=(2, 4, 4)).astype(dtype)
    values, vectors = pytensor.function([a], linalg.eigh(a, lower=lower), mode="ONNX")(value)
    assert (values.dtype, vectors.dtype) == tuple(v.dtype for v in linalg.eigh(a))
    strict = (np.tril if lower else np.triu)(value.astype("float64"))
    symmetric = strict + strict.swapaxes(-1, -2) - strict * np.eye(4)
    precision = np.finfo(values.dtype).eps * 100
    np.testing.assert_allclose(values, np.linalg.eigvalsh(symmetric), atol=precision)
    rebuilt = (vectors * values[:, None]) @ vectors.swapaxes(-1, -2)
    np.testing.assert_allclose(rebuilt, symmetric, atol=precision)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 5), (1, 1)])
def test_singular_vectors_rebuild_the_matrix(shape, dtype, full):
    # The signs aren't LAPACK's, and no more than these differ.
    a = square(shape, dtype)
    f = pytensor.function([a], linalg.svd(a, full_matrices=full), mode="ONNX")
    values = [np.zeros(shape), np.ones(shape), RNG.integers(1, 9, size=shape)]
    values += [np.full(shape, 1e200)] * (dtype == "float64")
    for value in values:
        value = value.astype(dtype)
        u, s, vt = f(value)
        expected = np.linalg.svd(value.astype("float64"), full_matrices=full)
        assert [u.shape, s.shape, vt.shape] == [e.shape for e in expected]
        precision = np.finfo(s.dtype).eps * 200
        scale = max(1, value.max())
        np.testing.assert_allclose(s, expected[1], atol=precision * scale)
        n = s.shape[-1]
        rebuilt = (u[..., :n] * s[..., None, :]) @ vt[..., :n, :]
        np.testing.assert_allclose(rebuilt, value, atol=precision * scale)
        for q in (u, vt.swapaxes(-1, -2)):
            identity = np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *[q.shape[-1]] * 2))
            np.testing.assert_allclose(q.swapaxes(-1, -2) @ q, identity, atol=precision)


@pytest.mark.parametrize("function", [linalg.eigh, linalg.svd])
def test_complex_decompositions_are_refused(function):
    a = pt.zmatrix("a")
    with pytest.raises(TypeError, match=r"complex128.*, which ONNX does not have"):
        pytensor.function([a], function(a), mode="ONNX")


def test_generalized_eigenvalues():
    a, b = square((4, 4)), pt.matrix("b")
    values = [positive((4, 4)), positive((4, 4))]
    w, v = linalg.eigh(a, b)
    # Vectors may have either sign.
    compare_onnx_and_py([a, b], [w, linalg.eigvalsh(a, b), abs(v)], values)


def test_gradient_of_eigenvalues():
    a = square((4, 4), static=True)
    cost = (linalg.eigvalsh(a) ** 3).sum()
    compare_onnx_and_py([a], pytensor.grad(cost, a), [RNG.normal(size=(4, 4))])


@pytest.mark.parametrize("shape", [(9, 9), (0, 3), (3, 0)])
def test_singular_values(shape):
    a = square(shape)
    output = linalg.svd(a, compute_uv=False)
    compare_onnx_and_py([a], output, [RNG.normal(size=shape)])


@pytest.mark.parametrize("shape", [(3, 5), (1, 4), (9, 9)])
def test_pseudoinverse(shape):
    a = square(shape)
    compare_onnx_and_py([a], linalg.pinv(a), [RNG.normal(size=shape)])


def test_pseudoinverse_of_singular_matrices():
    a = square((3, 3))
    for value in (np.zeros((2, 3)), np.ones((3, 3)), np.diag([1.0, 0, 3])):
        compare_onnx_and_py([a], linalg.pinv(a), [value], opset_version=18)
    value = np.diag([1.0, 0, 3]) + np.triu(np.full((3, 3), 9.0), 1)
    compare_onnx_and_py([a], linalg.pinv(a, hermitian=True), [value])


@given(arrays(st.sampled_from(["float32", "float64"]), shapes(2, 3, 1, 5), special=False))
def test_any_singular_values(value):
    a = square(value.shape, value.dtype)
    tolerance = 1e-3 if value.dtype == "float32" else 1e-9
    output = linalg.svd(a, compute_uv=False)
    compare_onnx_and_py([a], output, [value], rtol=tolerance, atol=tolerance, opset_version=18)


@given(dominant(), st.booleans())
def test_any_eigenvalues(drawn, lower):
    a, value = drawn
    output = linalg.eigvalsh(a, lower=lower)
    scale = np.abs(value).max(initial=1)
    atol = scale * (1e-5 if value.dtype == "float32" else 1e-13)
    compare_onnx_and_py([a], output, [value], atol=atol, opset_version=18)
