"""Numbers and dtypes that `jax_mode` has right where PyTensor's conversions to JAX haven't."""

import numpy as np
import pytest
import scipy.special

import pytensor
import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.raise_op import Assert
from pytensor.tensor.math import ndtri_exp
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

rng = np.random.default_rng(0)
MATRIX = rng.normal(size=(3, 3))
POSITIVE = MATRIX @ MATRIX.T + np.eye(3)
RIGHT = rng.normal(size=(3, 2))


def half(lower):
    """Return one triangle of POSITIVE, and sevens in the other."""
    return np.where(np.tri(3, dtype=bool) if lower else np.tri(3, dtype=bool).T, POSITIVE, 7.0)


def compare(inputs, outputs, values, **settings):
    compare_jax_and_py(inputs, outputs, values, jax_mode=jax_mode(), **settings)


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


def test_hermitian_pseudoinverse_is_of_the_lower_triangle():
    a = pt.matrix("a", dtype="float64")
    compare([a], pt.linalg.pinv(a, hermitian=True), [half(lower=True)])


@pytest.mark.by_default("r")
@pytest.mark.parametrize("mode", ["full", "economic", "r"])
def test_qr_with_pivots(mode):
    a = pt.matrix("a", dtype="float64")
    results = pt.linalg.qr(a, mode=mode, pivoting=True)
    compare([a], results, [rng.normal(size=(4, 2))])


def test_matrices_of_integers_are_computed_in_float64():
    a, b = pt.matrix("a", dtype="int32"), pt.matrix("b", dtype="float32")
    value = np.array([[4, 1], [1, 3]], "int32")
    results = [pt.linalg.cholesky(a), pt.linalg.inv(a), pt.linalg.solve(a, b), pt.linalg.det(a)]
    compare([a, b], results, [value, np.ones((2, 1), "float32")])


INDICES = {
    "vector": ((0, [1, 2, 2, 3]), 4),
    "rows": (([0, 0, 1],), (3, 4)),
    "pairs, one counted from the end": (([0, -3, 1], [1, 1, 2]), 3),
    "columns": ((slice(None), [1, 1, 0]), (3, 3)),
}


@pytest.mark.by_default("rows", "pairs, one counted from the end", "columns")
@pytest.mark.parametrize("case", INDICES)
def test_duplicates_are_ignored(case):
    indices, shape = INDICES[case]
    x, y = (
        pt.matrix("x", dtype="float64"),
        pt.tensor("y", dtype="float64", shape=np.broadcast_shapes(shape)),
    )
    result = pt.inc_subtensor(x[indices], y, ignore_duplicates=True)
    compare([x, y], result, [np.zeros((3, 4)), rng.normal(size=shape)])


@pytest.mark.by_default("shape0-F")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 3, 4)])
def test_unravel_index(shape, order):
    flat = pt.vector("flat", dtype="int64")
    results = [pt.unravel_index(v, shape, order=order) for v in (flat, flat[0])]
    compare([flat], [*results[0], *results[1]], [np.array([5, 1, 4])])


def test_searchsorted():
    """In float64, for 2**24 + 1 is no float32; the result is int64."""
    x, y = pt.vector("x", dtype="int32"), pt.vector("y", dtype="float32")
    values = [np.array([1, 2**24 + 1], "int32"), np.array([0, 2**24], "float32")]
    compare([x, y], [pt.searchsorted(x, y), pt.searchsorted(x, y, side="right")], values)


INTEGERS = {
    "int32": np.array([2**31 - 5, -3, 7, 1], "int32"),
    "uint32": np.array([2**32 - 5, 3, 7, 1], "uint32"),
    "int8": np.array([100, -3, 7, 1], "int8"),
    "bool": np.array([True, False, True, True]),
}
BINARY = [pt.add, pt.mul, pt.true_div, pt.mod, pt.maximum, pt.arctan2, pt.lt, pt.eq]


@pytest.mark.by_default("bool")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_beside_floats(dtype):
    """JAX computes int32 and float32 in float32."""
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype="float32")
    values = [INTEGERS[dtype], np.array([0.1, -2.5, 1, 0.5], "float32")]
    results = [op(x, y) for op in BINARY]
    results += [pt.dot(x, y), pt.outer(x, y), pt.concatenate([x, y]), pt.switch(y > 0, x, y)]
    with np.errstate(all="ignore"):
        compare([x, y], results, values)


def test_products_and_joins_of_integers_beside_floats_are_exact():
    """2**24 + 1 is no float32."""
    x, y = pt.vector("x", dtype="int32"), pt.vector("y", dtype="float32")
    batches = pt.matmul(pt.stack([x, x])[:, None], pt.stack([y, y])[:, :, None])
    outputs = [pt.dot(x, y), batches.sum(), pt.concatenate([x, y])]
    f = pytensor.function([x, y], outputs, mode=jax_mode())
    product, batched, joined = f(np.array([2**24 + 1], "int32"), np.ones(1, "float32"))
    assert (product, batched, joined[0]) == (2**24 + 1, 2**25 + 2, 2**24 + 1)


@pytest.mark.by_default("int32", "uint32", "int8")
@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_integers(dtype):
    """The cosine of 2**31 - 5 was 0.24 for 0.999."""
    x = pt.vector("x", dtype=dtype)
    results = [pt.cos(x), pt.arctan(x), pt.erf(x), pt.ceil(x), pt.reciprocal(x), pt.true_div(7, x)]
    # Python computes them of booleans in float16.
    with np.errstate(all="ignore"):
        compare([x], results, [INTEGERS[dtype]], rtol=1e-3 if dtype == "bool" else None)


def test_a_wide_number_beside_narrow_integers():
    """Also one that is computed: a sum wrapped in int8."""
    x = pt.vector("x", dtype="int8")
    compare([x], [x + pt.constant(np.int64(100)), x * x.shape[0]], [np.array([100, 3], "int8")])


def test_sums_and_products_of_single_booleans():
    x, y = pt.scalar("x", dtype="bool"), pt.scalar("y", dtype="bool")
    compare([x, y], [x + y, x * y, (x + y) * 2], [True, True])


def test_powers_are_computed_in_the_dtype_of_the_result():
    x = pt.vector("x", dtype="uint8")
    f = pytensor.function([x], x**2.0, mode=jax_mode())
    np.testing.assert_array_equal(f(np.array([20], "uint8")), [400.0])


def test_descending_unsigned_indices():
    x = pt.vector("x", dtype="float64")
    compare([x], x[pt.constant(np.array([3, 2, 1], "uint8"))], [np.arange(4.0)])


@pytest.mark.parametrize("axis", [0, 1])
def test_an_array_without_elements_is_cut_off_again(axis):
    x, y = pt.matrix("x", dtype="float64"), pt.matrix("y", dtype="float64")
    joined = pt.join(axis, x, y)
    values = np.ones((2, 2)), np.ones((0, 2) if axis == 0 else (2, 0))
    compare([x, y], [joined, joined[2:] if axis == 0 else joined[:, 2:]], values)


@pytest.mark.by_default("set_subtensor")
@pytest.mark.parametrize("write", [pt.inc_subtensor, pt.set_subtensor])
def test_what_is_written_to_all_of_an_array_is_no_scatter(write):
    """Reversed, such a scatter ends the process while XLA compiles."""
    x, n = pt.vector("x", dtype="float64"), pt.lscalar("n")
    outputs = [
        write(pt.ones(4)[:n], x)[::-1],
        write(pt.zeros((2, 4))[:, :n], 2.5)[:, ::-1],
        write(pt.zeros((4, 3), dtype="float32")[0:n:1], x[:, None])[::-1],
        pt.grad((x[::-1][:n] ** 2).sum(), x),
    ]
    f = pytensor.function([x, n], outputs, mode=jax_mode())
    values = np.arange(4.0) + 1, np.int64(4)
    assert "scatter" not in f.vm.jit_fn.lower(*values).as_text()
    compare([x, n], outputs, values, py_mode="FAST_COMPILE")
    compare([x, n], [write(pt.ones(4)[:n], x[:n])[::-1]], [values[0], np.int64(3)])


def test_a_loop_that_goes_backwards_has_a_gradient():
    x = pt.vector("x", dtype="float64")
    loop = pytensor.scan(
        lambda v, last: v + last / 2, sequences=[x], outputs_info=[pt.zeros((), dtype="float64")],
        go_backwards=True, return_updates=False,
    )  # fmt: skip
    compare([x], [loop, pt.grad((loop**2).sum(), x)], [np.arange(7.0)])


def test_integers_divided_by_zero_are_zero():
    x, y = pt.vector("x", dtype="int64"), pt.vector("y", dtype="int64")
    with np.errstate(divide="ignore"):
        compare([x, y], [x // y, x % y], [np.array([7, -7, 0]), np.array([0, 0, 0])])


@pytest.mark.parametrize("dtype", [f"{k}{n}" for k in ("int", "uint") for n in (8, 16, 32, 64)])
def test_integers_are_modulo_their_range(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.min // 2 + 1, 0, 1, 2, 3, 7, limits.max], dtype)
    y = x[::-1].copy()
    n = np.array([[0], [1], [2], [7], [31], [63], [64], [65], [70], [127]], dtype)
    a, b, k = pt.vector(dtype=dtype), pt.vector(dtype=dtype), pt.tensor(dtype=dtype, shape=(10, 1))
    results = [a**k, a * b, a + b, a - b, abs(a), a // b, a.prod(dtype=dtype), pt.cumprod(b)]
    f = pytensor.function([a, b, k], results, mode=jax_mode())
    mine, other = x.astype(object), y.astype(object)
    products = np.cumprod(other)
    exact = [
        *(mine ** n.astype(object), mine * other, mine + other, mine - other, abs(mine)),
        *(mine // np.where(y == 0, 1, other) * (y != 0), np.array(products[-1], object), products),
    ]
    for value, right, variable in zip(f(x, y, n), exact, results, strict=True):
        assert value.dtype == variable.type.dtype
        size = 2 ** (8 * value.dtype.itemsize)
        np.testing.assert_array_equal(np.asarray(value).astype(object) % size, right % size)


@pytest.mark.by_default("float32-1e-05")
@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
def test_ndtri_exp(dtype, rtol):
    y = pt.vector("y", dtype=dtype)
    largest = np.finfo(dtype).max
    values = [-np.inf, -largest, -1e18, -1e5, -745.2, -501, -499, -81, -79, -9, -1, -0.2, -1e-20, 0]
    value = np.array(values, dtype)
    f = pytensor.function([y], ndtri_exp(y), mode=jax_mode())
    expected = scipy.special.ndtri_exp(value.astype("float64"))
    np.testing.assert_allclose(f(value), expected, rtol=rtol)


def test_trigamma():
    x = pt.vector("x", dtype="float64")
    value = np.array([-745.2, -20.5, -9.7, -0.5, 1e-3, 0.4, 0.5, 3, 1e9, np.inf])
    f = pytensor.function([x], pt.tri_gamma(x), mode=jax_mode())
    np.testing.assert_allclose(f(value), scipy.special.polygamma(1, value), rtol=1e-11)


def test_inner_graphs_have_them_too():
    rows = pt.matrix("rows", dtype="int32")
    total = pytensor.scan(lambda row: pt.cos(row), sequences=[rows], return_updates=False)
    compare([rows], total, [INTEGERS["int32"].reshape(2, 2)])


def test_checks_of_shapes_are_made_while_jax_traces():
    """PyTensor's conversion leaves them out, and warns."""
    x = pt.vector("x", dtype="float64")
    checked = Assert("an odd length")(x, pt.eq(x.shape[0] % 2, 0))
    f = pytensor.function([x], checked * 2, mode=jax_mode())
    np.testing.assert_array_equal(f(np.ones(2)), [2, 2])
    with pytest.raises(AssertionError, match="an odd length"):
        f(np.ones(3))


def test_sizes_of_parts_may_follow_from_lengths():
    x = pt.vector("x", dtype="float64")
    half = x.shape[0] // 2
    parts = pt.split(x, [half, half], n_splits=2)
    f = pytensor.function([x], [part.sum() for part in parts], mode=jax_mode())
    assert [float(total) for total in f(np.arange(6.0))] == [3, 12]
    with pytest.raises(ValueError, match="x has 5 elements along axis 0"):
        f(np.arange(5.0))


def test_scalar_ops_without_elemwise_compute_in_their_dtype():
    """Unsigned integers aren't negated, and an int32 isn't rounded to float32."""
    n, k = ps.uint32("n"), ps.int32("k")
    outputs = [ps.softplus(n), ps.reciprocal(k), ps.int_div(k, n)]
    f = pytensor.function([n, k], outputs, mode=jax_mode())
    soft, inverse, quotient = f(np.uint32(32), np.int32(10))
    assert [v.dtype for v in (soft, inverse, quotient)] == [v.type.dtype for v in outputs]
    np.testing.assert_allclose([soft, inverse, quotient], [32, 0.1, 0])
    assert f(np.uint32(0), np.int32(10))[2] == 0


def test_an_assertion_on_a_number_of_the_call_is_warned_about():
    x, n = pt.vector("x"), pt.lscalar("n")
    f = pytensor.function([x, n], Assert("too many")(x * n, n < 3), mode=jax_mode())
    with pytest.warns(UserWarning, match="Skipping Assert.*too many"):
        f(np.ones(4), 3)
