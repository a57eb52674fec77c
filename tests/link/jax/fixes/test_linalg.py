"""Linear algebra that PyTensor's conversions to JAX get wrong or refuse."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)
MATRIX = rng.normal(size=(3, 3))
POSITIVE = MATRIX @ MATRIX.T + np.eye(3)
RIGHT = rng.normal(size=(3, 2))


def half(lower):
    """Return one triangle of POSITIVE, and sevens in the other."""
    return np.where(np.tri(3, dtype=bool) if lower else np.tri(3, dtype=bool).T, POSITIVE, 7.0)


@pytest.mark.by_default("pos-False")
@pytest.mark.slow
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", ["pos", "sym", "her"])
def test_solve_reads_one_triangle(kind, lower):
    """Of vectors and matrices, of the transposed matrix, and in batches."""
    a, b = pt.matrix("a", dtype="float64"), pt.matrix("b", dtype="float64")
    batch = pt.tensor("batch", dtype="float64", shape=(None, 3, 3))
    options = {"assume_a": kind, "lower": lower}
    results = [
        pt.linalg.solve(a, b, **options),
        pt.linalg.solve(a, b[:, 0], **options),
        pt.linalg.solve(a, b, transposed=True, **options),
        pt.linalg.solve(batch, b, **options),
        pt.grad(pt.linalg.solve(a, b, **options).sum(), b),
    ]
    f = pytensor.function([a, b, batch], results, mode=jax_mode())
    given = half(lower)
    single, vector, transposed, both, gradient = f(given, RIGHT, np.stack([given, 2 * given]))
    solution = np.linalg.solve(POSITIVE, RIGHT)
    np.testing.assert_allclose(single, solution)
    np.testing.assert_allclose(vector, solution[:, 0])
    np.testing.assert_allclose(transposed, solution)
    np.testing.assert_allclose(both, [solution, solution / 2])
    np.testing.assert_allclose(gradient, np.linalg.solve(POSITIVE, np.ones((3, 2))))


def test_solve_of_a_hermitian_matrix():
    a, b = pt.matrix("a", dtype="complex128"), pt.matrix("b", dtype="complex128")
    matrix = POSITIVE + 1j * (MATRIX - MATRIX.T)
    x = pt.linalg.solve(a, b, assume_a="her", lower=True)
    f = pytensor.function([a, b], x, mode=jax_mode())
    given = np.where(np.tri(3, dtype=bool), matrix, 7.0)
    np.testing.assert_allclose(f(given, RIGHT + 0j), np.linalg.solve(matrix, RIGHT))


@pytest.mark.by_default("True")
@pytest.mark.parametrize("lower", [True, False])
def test_eigenvalues_are_of_one_triangle(lower):
    a = pt.matrix("a", dtype="float64")
    values, vectors = pt.linalg.eigh(a, lower=lower)
    made = (vectors * values) @ vectors.T
    f = pytensor.function(
        [a], [values, pt.linalg.eigvalsh(a, None, lower=lower), made], mode=jax_mode()
    )
    expected = np.linalg.eigvalsh(POSITIVE)
    values, alone, made = f(half(lower))
    np.testing.assert_allclose(values, expected)
    np.testing.assert_allclose(alone, expected)
    np.testing.assert_allclose(made, POSITIVE)


@pytest.mark.by_default("False")
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_of_an_indefinite_matrix_is_nan(lower):
    a = pt.tensor3("a")
    f = pytensor.function([a], pt.linalg.cholesky(a, lower=lower), mode=jax_mode())
    good, bad = f(np.stack([POSITIVE, -POSITIVE]))
    expected = np.linalg.cholesky(POSITIVE)
    np.testing.assert_allclose(good, expected if lower else expected.T)
    assert np.isnan(bad).all()


A, B = pt.matrix("a", dtype="float64"), pt.matrix("b", dtype="float64")
BATCH, SQUARE = pt.tensor3("batch"), pt.matrix("square", shape=(4, 4))
INTEGERS, SINGLES = pt.matrix("integers", dtype="int32"), pt.matrix("singles", dtype="float32")
PERMUTATION, LOWER, UPPER = pt.linalg.lu(SQUARE, p_indices=True)
# What is given, what is computed, and values.
GRAPHS = {
    "pseudoinverse of the lower triangle": (
        [A], [pt.linalg.pinv(A, hermitian=True)], [half(lower=True)],
    ),
    **{
        f"QR with pivots, {mode}": (
            [A], pt.linalg.qr(A, mode=mode, pivoting=True), [rng.normal(size=(4, 2))],
        )
        for mode in ("full", "economic", "r")
    },
    **{
        f"raw QR, {pivoting}, {shape}": (
            [A], pt.linalg.qr(A, mode="raw", pivoting=pivoting), [rng.normal(size=shape)],
        )
        for pivoting in (False, True) for shape in ((5, 3), (3, 5))
    },
    "integers in float64": (
        [INTEGERS, SINGLES],
        [*(f(INTEGERS) for f in (pt.linalg.cholesky, pt.linalg.inv, pt.linalg.det)),
         pt.linalg.solve(INTEGERS, SINGLES)],
        [np.array([[4, 1], [1, 3]], "int32"), np.ones((2, 1), "float32")],
    ),
    "LU with indices": (
        [SQUARE, BATCH],
        [PERMUTATION, LOWER, UPPER, *pt.linalg.lu(BATCH, p_indices=True),
         pt.grad((LOWER * UPPER).sum(), SQUARE)],
        [rng.normal(size=(4, 4)), rng.normal(size=(2, 3, 3))],
    ),
}  # fmt: skip


@pytest.mark.by_default(
    "pseudoinverse of the lower triangle", "QR with pivots, r", "raw QR, False, (5, 3)",
    "raw QR, True, (5, 3)", "integers in float64", "LU with indices",
)  # fmt: skip
@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(name):
    compare(*GRAPHS[name])


@pytest.mark.by_default("True")
@pytest.mark.parametrize("lower", [True, False])
def test_generalized_eigenvalues(lower):
    a, b = (pt.matrix(name, shape=(3, 3)) for name in "ab")
    w, v = pt.linalg.eigh(a, b, lower=lower)
    values = pt.linalg.eigvalsh(a, b, lower=lower)
    made = [w, values, v.T @ b @ v, pt.grad(values.sum(), [a, b])[0]]
    compare([a, b], made, [MATRIX + MATRIX.T, POSITIVE])


def test_kron_of_integers_and_floats_is_computed_in_float64():
    """JAX computes an int32 and a float32 in float32, which doesn't have this number."""
    a, b = pt.matrix("a", dtype="int32"), pt.matrix("b", dtype="float32")
    f = pytensor.function([a, b], pt.linalg.kron(a, b), mode=jax_mode())
    odd = 2**25 + 1
    np.testing.assert_array_equal(f(np.int32([[odd]]), np.float32([[1.0]])), [[odd]])


def test_two_systems_with_one_matrix_of_integers():
    """They share its LU factors, of which PyTensor's type says that they are integers."""
    a, b = pt.lmatrix("a"), pt.vector("b")
    two = [pt.linalg.solve(a, b, b_ndim=1), pt.linalg.solve(a, b + 1, b_ndim=1)]
    one_each = pytensor.scan(lambda x: pt.linalg.solve(a, b * x, b_ndim=1), b, return_updates=False)
    compare([a, b], [*two, one_each], [np.array([[2, 1], [1, 3]]), np.array([1.0, 2.0])])
