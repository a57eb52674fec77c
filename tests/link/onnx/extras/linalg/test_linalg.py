import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.scan import scan
from pytensor.tensor import linalg
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve
from pytensor.tensor.linalg.summary import SLogDet
from tests.link.onnx.strategies import arrays, shapes
from tests.link.onnx.test_basic import compare_onnx_and_py, run
from tests.utils import REFERENCE_MODE

RNG = np.random.default_rng(3)


def square(shape, dtype="float64", static=False):
    return pt.tensor("a", shape=shape if static else (None,) * len(shape), dtype=dtype)


def as_list(outputs):
    return list(outputs) if isinstance(outputs, list | tuple) else [outputs]


def well_conditioned(shape):
    a = RNG.normal(size=shape)
    return a + 2 * shape[-1] * np.eye(shape[-1])[RNG.permutation(shape[-1])]


def positive(shape):
    a = RNG.normal(size=shape)
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(3, 2, 5, 5), (0, 0)])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_reads_one_triangle(lower, shape):
    a = square(shape)
    other = np.triu(np.full(shape, 7.0), 1) if lower else np.tril(np.full(shape, 7.0), -1)
    compare_onnx_and_py([a], linalg.cholesky(a, lower=lower), [positive(shape) + other])


@pytest.mark.parametrize("shape", [(4, 4), (0, 0), (3, 2, 5, 5)])
def test_lu(shape):
    """Not of one row: SciPy's places are then of another dtype than PyTensor says."""
    a = square(shape)
    forms = linalg.lu(a), linalg.lu(a, permute_l=True), linalg.lu(a, p_indices=True)
    outputs = [*linalg.lu_factor(a), *(output for form in forms for output in form)]
    compare_onnx_and_py([a], outputs, [well_conditioned(shape)])


def test_cholesky_of_an_indefinite_matrix_is_nan():
    a = square((3, 2, 2))
    value = [[[1, 0], [0, 1]], [[1, 2], [2, 1]], [[np.nan, 0], [0, 1]]]
    compare_onnx_and_py([a], [linalg.cholesky(a), linalg.cholesky(a, lower=False)], [value])


def system(b_ndim):
    """Return batches of matrices and right sides that broadcast, and values for them."""
    shapes = (2, 1, 4, 4), (1, 3, 4, 2)[: 2 + b_ndim]
    variables = [
        pt.tensor(name, shape=tuple(1 if size == 1 else None for size in shape))
        for name, shape in zip("ab", shapes, strict=True)
    ]
    return variables, [positive(shapes[0]), RNG.normal(size=shapes[1])]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gen", "sym", "pos", "tridiagonal", "banded"])
def test_solve(kind):
    inputs, values = system(1)
    # What is assumed of a matrix in one place holds for the whole graph.
    output = linalg.solve(*inputs, assume_a=kind, b_ndim=1)
    compare_onnx_and_py(inputs, output, values, opset_version=18)


@pytest.mark.parametrize(
    ("kind", "lower", "transposed"),
    [("pos", False, False), ("sym", True, False), ("her", False, True)],
)
def test_solve_reads_one_triangle(kind, lower, transposed):
    a, b = square((2, 3, 3)), pt.tensor3("b")
    whole, right = positive((2, 3, 3)), RNG.normal(size=(2, 3, 2))
    if kind != "pos":
        whole -= 2 * np.eye(3)
    cut = np.tril if lower else np.triu
    value = cut(whole - np.pi) + np.pi
    x = linalg.solve(a, b, assume_a=kind, lower=lower, transposed=transposed, b_ndim=2)
    outputs = [x, pt.grad((x**2).sum(), b)]
    expected = np.linalg.solve(whole, right)
    expected = [expected, np.linalg.solve(whole, 2 * expected)]
    for wanted in (outputs, outputs[:1]):
        results = [
            pytensor.function([a, b], wanted, mode="ONNX")(value, right),
            run(export_onnx([a, b], wanted), [value, right]),
        ]
        for result in results:
            for actual, exact in zip(result, expected, strict=False):
                np.testing.assert_allclose(actual, exact, rtol=1e-9)


def test_positive_systems_share_a_factor():
    a, b = square((3, 3)), pt.dvector("b")
    x = linalg.solve(a, b, assume_a="pos", b_ndim=1)
    f = pytensor.function([a, b], [x, pt.grad(x.sum(), b)], mode="ONNX")
    names = [str(node.op) for node in f.maker.fgraph.toposort()]
    assert sum(name.startswith("Cholesky{") for name in names) == 1


@pytest.mark.parametrize("b_ndim", [1, 2])
@pytest.mark.parametrize("kind", ["gen", "sym", "her", "pos", "tridiagonal", "banded"])
def test_solution_of_a_singular_system_has_the_right_sides_shape(kind, b_ndim):
    # PyTensor's has the matrix's: see thoughts/upstream/solve-triangle.md.
    a, b = square((3, 3)), pt.tensor("b", shape=(None, None)[:b_ndim])
    value, right = np.diag([1.0, 0, 2]), np.ones((3, 2)[:b_ndim])
    (x,) = run(export_onnx([a, b], linalg.solve(a, b, assume_a=kind)), [value, right])
    np.testing.assert_array_equal(x, np.full(right.shape, np.nan))


@pytest.mark.slow
@pytest.mark.parametrize("b_ndim", [1, 2])
def test_triangular_solvers(b_ndim):
    inputs, values = system(b_ndim)
    outputs = [
        linalg.solve_triangular(
            *inputs, trans=transposed, lower=lower, unit_diagonal=unit, b_ndim=b_ndim
        )
        for transposed in (0, 1)
        for lower in (True, False)
        for unit in (True, False)
    ]
    a, b = inputs
    outputs += [linalg.cho_solve((a, lower), b, b_ndim=b_ndim) for lower in (True, False)]
    compare_onnx_and_py(inputs, outputs, values)


def test_tridiagonal_factors():
    a, b = pt.matrices("ab")
    factors = tridiagonal_lu_factor(a)
    outputs = [tridiagonal_lu_solve(factors, b, b_ndim=2, transposed=t) for t in (False, True)]
    values = RNG.normal(size=(5, 5)) * np.arange(1, 6) ** 2, RNG.normal(size=(5, 2))
    compare_onnx_and_py([a, b], [*factors, *outputs], values)


@pytest.mark.parametrize(
    ("shape", "pivoting"),
    [((3, 3), False), ((1, 1), False), ((4, 1), False), ((3, 3), True), ((2, 1, 3, 4), True)],
)
def test_qr(shape, pivoting):
    a = square(shape)
    outputs = [
        output
        for mode in ("full", "economic", "r")
        for output in as_list(linalg.qr(a, mode=mode, pivoting=pivoting))
    ]
    value = RNG.normal(size=shape)
    value[..., 1:, 0] *= 0
    compare_onnx_and_py([a], outputs, [value])


def test_expm_of_large_and_small_matrices():
    a = square((3, 3))
    power = linalg.expm(a)
    for scale in (1e-3, 1, 30):
        # Large norms are of matrices with small exponentials.
        compare_onnx_and_py([a], power, [scale * (RNG.normal(size=(3, 3)) / 5 - np.eye(3))])


def test_block_diagonal():
    a, b = pt.tensor("a", shape=(None, 1, None, 3)), pt.matrix("b", dtype="int32")
    c = pt.tensor("c", shape=(1, None, None, None), dtype="float32")
    values = [RNG.normal(size=(2, 1, 2, 3)), RNG.normal(size=(3, 1)), np.ones((1, 3, 0, 4))]
    compare_onnx_and_py([a, b, c], linalg.block_diag(a, b, c), values)


def test_singular_triangular_system_is_nan():
    a, b = square((2, 2)), pt.vector("b")
    compare_onnx_and_py([a, b], linalg.solve_triangular(a, b), [[[1, 2], [0, 0]], [1, 2]])


def test_lu_solve():
    a, b = square((4, 4)), pt.matrix("b")
    outputs = [linalg.lu_solve(linalg.lu_factor(a), b, trans=t) for t in (False, True)]
    compare_onnx_and_py([a, b], outputs, [well_conditioned((4, 4)), RNG.normal(size=(4, 3))])


def test_gradients():
    # With sizes that aren't static, PyTensor checks that they broadcast.
    a = square((4, 4), static=True)
    results = linalg.det(a), linalg.inv(a), linalg.slogdet(a)[1], linalg.cholesky(a)
    gradients = [pytensor.grad((result * 3 + result**2).sum(), a) for result in results]
    compare_onnx_and_py([a], gradients, [positive((4, 4))], rtol=1e-6)


@st.composite
def dominant(draw, dtype=None):
    """Draw batches of matrices, rows permuted, in whose columns one entry outweighs the others."""
    dtype = dtype or draw(st.sampled_from(["float32", "float64"]))
    n = draw(st.integers(0, 4))
    shape = (*draw(shapes(max_dims=2, min_side=1, max_side=3)), n, n)
    a = draw(arrays(dtype, shape, special=False))
    # Dominance by columns is what partial pivoting keeps: no two rows are as good as each other.
    a = a + (1 + np.abs(a).sum(-2, keepdims=True)) * np.eye(n, dtype=dtype)
    order = draw(st.permutations(range(n)))
    is_static = draw(st.booleans())
    return square(shape, dtype, is_static), a[..., np.array(order, int), :].astype(dtype)


def conditions(value):
    """Return tolerances for results as large as the inverse or the determinant of `value`."""
    rtol = 1e-3 if value.dtype == np.float32 else 1e-8
    return {"rtol": rtol, "atol": rtol}


@pytest.mark.slow
@given(dominant())
def test_any_determinant_and_inverse(drawn):
    a, value = drawn
    outputs = [linalg.det(a), *Blockwise(SLogDet())(a), linalg.inv(a)]
    compare_onnx_and_py([a], outputs, [value], **conditions(value))


@pytest.mark.slow
@given(dominant(), st.sampled_from([1e-3, 0.1, 1]))
def test_any_expm(drawn, scale):
    a, value = drawn
    value = (-value * scale).astype(value.dtype)
    result = pytensor.function([a], linalg.expm(a), mode=REFERENCE_MODE)(value)
    size = np.abs(result).max(initial=1)
    rtol = 1e-3 if value.dtype == np.float32 else 1e-8
    compare_onnx_and_py([a], linalg.expm(a), [value], rtol=rtol, atol=rtol * size)


def test_sylvester_and_lyapunov():
    a, b, q = pt.matrices("abq")
    values = [well_conditioned((n, n)) for n in (3, 2)] + [RNG.normal(size=(3, 2))]
    compare_onnx_and_py([a, b, q], linalg.solve_sylvester(a, b, q), values)
    values = [positive((3, 3)) / 20, RNG.normal(size=(3, 3))]
    a, q = (pt.tensor(name, shape=(3, 3)) for name in "aq")
    outputs = linalg.solve_continuous_lyapunov(a, q), linalg.solve_discrete_lyapunov(a, q)
    compare_onnx_and_py([a, q], outputs, values)


def test_tensor_equations():
    a, b = pt.tensor4("a"), pt.matrix("b")
    value = RNG.normal(size=(2, 3, 6, 1)) + 4 * np.eye(6).reshape(2, 3, 6, 1)
    outputs = [linalg.tensorinv(a, ind=2), linalg.tensorsolve(a, b)]
    compare_onnx_and_py([a, b], outputs, [value, RNG.normal(size=(2, 3))])
    output = linalg.tensorsolve(a.dimshuffle(0, 2, 1, 3), b, axes=(1, 3))
    compare_onnx_and_py([a, b], output, [value, RNG.normal(size=(2, 3))])


@pytest.mark.parametrize(
    ("function", "reason", "ndim"),
    [
        (lambda a: linalg.eig(a)[0].real, "complex", 2),
        (lambda a: linalg.eig(a)[0].real, "complex", 3),
        (lambda a: linalg.schur(a)[0], "no Schur", 2),
        (lambda a: linalg.schur(a)[0], "no Schur", 3),
        # PyTensor has no batches of this.
        (lambda a: linalg.lstsq(a, a, 1e-9)[0], "residuals", 2),
    ],
)
def test_refused(function, reason, ndim):
    a = square((3,) * ndim)
    with pytest.raises(UnsupportedOpError, match=reason):
        export_onnx([a], function(a))


def test_singular_matrices():
    a, b = square((2, 2)), pt.matrix("b")
    values = [[[1, 2], [2, 4]], [[1, 2], [3, 4]]]
    compare_onnx_and_py([a, b], linalg.solve(a, b), values)
    with np.errstate(all="ignore"):
        outputs = [linalg.det(a), *Blockwise(SLogDet())(a)]
        compare_onnx_and_py([a], outputs, values[:1])
        compare_onnx_and_py([a], list(linalg.lu_factor(a)), values[:1])
    det, sign, _ = run(export_onnx([a], outputs), [np.array(values[0], "float64")])
    assert not np.signbit([det, sign]).any()


def test_determinant_does_not_overflow_on_the_way():
    a = square((4, 4))
    value = np.diag([1e200, -1e200, 1e-200, 1e-150])
    compare_onnx_and_py([a], linalg.det(a), [value], rtol=1e-10)


def test_loops_in_a_scan():
    a = pt.tensor3("a")
    result = scan(lambda x: linalg.cholesky(x) + linalg.inv(x), sequences=[a], return_updates=False)
    compare_onnx_and_py([a], result, [positive((3, 2, 2))])
