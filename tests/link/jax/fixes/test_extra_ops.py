"""What `jax_mode` converts where PyTensor's conversions to JAX refuse."""

import numpy as np
import pytest
import scipy.linalg

import pytensor
import pytensor.tensor as pt
from pytensor import scalar as ps
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor import fft, optimize
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import ravel_multi_index
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

rng = np.random.default_rng(0)
# For what PyTensor computes on the host.
called_back = pytest.mark.filterwarnings("ignore:XLA has nothing for:UserWarning")
MATRIX = rng.normal(size=(4, 4))
POSITIVE = MATRIX @ MATRIX.T + np.eye(4)


def compare(inputs, outputs, values, **settings):
    compare_jax_and_py(inputs, outputs, values, jax_mode=jax_mode(), **settings)


@pytest.mark.by_default("0-shape0", "0-shape1")
@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
@pytest.mark.parametrize("offset", [0, 2, -2])
def test_fill_diagonal_offset(offset, shape):
    a, value, k = pt.matrix("a"), pt.scalar("value"), pt.iscalar("k")
    filled = pt.fill_diagonal_offset(a, value, k)
    outputs = [filled, pt.grad((filled**2).sum(), a)]
    compare([a, value, k], outputs, [rng.normal(size=shape), 7.0, offset])


def test_eye_of_a_computed_offset():
    k = pt.iscalar("k")
    compare([k], [pt.eye(3, 4, k), pt.eye(3, 4, k - 1, dtype="int8")], [1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_ravel_multi_index(mode, order):
    """With lengths that are known when the function runs alone."""
    rows, columns, lengths = pt.lvector("rows"), pt.lvector("columns"), pt.lvector("lengths")
    place = ravel_multi_index((rows, columns), lengths, mode=mode, order=order)
    outside = 0 if mode == "raise" else 6
    values = [[0, 2, 1 + outside], [3, 1 - outside, 0], [3, 4]]
    compare([rows, columns, lengths], place, [np.array(v) for v in values])


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int16", "bool"])
def test_reductions_of_bits(dtype):
    x = pt.matrix("x", dtype=dtype)
    outputs = [CAReduce(op, axis)(x) for op in (ps.and_, ps.or_, ps.xor) for axis in (None, (0,))]
    compare([x], outputs, [rng.integers(0, 127, (3, 4)).astype(dtype)])


def test_searchsorted_with_a_sorter():
    a, v, sorter = pt.vector("a"), pt.vector("v"), pt.lvector("sorter")
    values = rng.normal(size=5)
    place = pt.searchsorted(a, v, side="right", sorter=sorter)
    compare([a, v, sorter], place, [values, [*values, 0.3], np.argsort(values)])


def test_lu_with_indices():
    a, batch = pt.matrix("a", shape=(4, 4)), pt.tensor3("batch")
    outputs = [*pt.linalg.lu(a, p_indices=True), *pt.linalg.lu(batch, p_indices=True)]
    outputs.append(pt.grad((outputs[1] * outputs[2]).sum(), a))
    compare([a, batch], outputs, [MATRIX, rng.normal(size=(2, 3, 3))])


@pytest.mark.by_default("False-shape0", "True-shape0")
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("pivoting", [False, True])
def test_raw_qr(pivoting, shape):
    a = pt.matrix("a")
    compare([a], pt.linalg.qr(a, mode="raw", pivoting=pivoting), [rng.normal(size=shape)])


@pytest.mark.by_default("True")
@pytest.mark.parametrize("lower", [True, False])
def test_generalized_eigenvalues(lower):
    a, b = (pt.matrix(name, shape=(4, 4)) for name in "ab")
    w, v = pt.linalg.eigh(a, b, lower=lower)
    values = pt.linalg.eigvalsh(a, b, lower=lower)
    made = [w, values, v.T @ b @ v, pt.grad(values.sum(), [a, b])[0]]
    compare([a, b], made, [MATRIX + MATRIX.T, POSITIVE])


@pytest.mark.slow
def test_gradients_by_scalar_loops():
    k, x = pt.vector("k"), pt.vector("x")
    outputs = [pt.grad(f(k, x).sum(), k) for f in (pt.gammainc, pt.gammaincc)]
    outputs += pt.grad(pt.betainc(k, x, 0.3).sum(), [k, x])
    compare([k, x], outputs, [np.array([0.5, 2.0, 7.0]), np.array([0.7, 3.0, 2.0])])


def test_a_loop_that_a_condition_ends():
    """Without a step it has the values that it began with."""
    value, rate = ps.float64("value"), ps.float64("rate")
    grown = value * rate
    loop = Elemwise(ScalarLoop([value], [grown], [rate], until=grown > 100))
    steps, start = pt.lvector("steps"), pt.vector("start")
    f = pytensor.function([steps, start], loop(steps, start, 2.0), mode=jax_mode())
    values, done = f([0, 3, 50], [1.0, 1.0, 3.0])
    np.testing.assert_array_equal(values, [1, 8, 192])
    np.testing.assert_array_equal(done, [False, False, True])


@called_back
@pytest.mark.by_default("False-float64", "True-complex128")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("transposed", [False, True])
def test_tridiagonal_systems(transposed, dtype):
    a, b = pt.matrix("a", dtype=dtype), pt.matrix("b", dtype=dtype)
    factors = tridiagonal_lu_factor(a)
    solved = [
        tridiagonal_lu_solve(factors, x, b_ndim=n, transposed=transposed)
        for n, x in ((2, b), (1, b[:, 0]))
    ]
    values = [rng.normal(size=shape).astype(dtype) for shape in ((6, 6), (6, 2))]
    if dtype == "complex128":
        values = [v + 1j * rng.normal(size=v.shape) for v in values]
    compare([a, b], [*factors, *solved], values)


def test_what_the_host_computes():
    """With a warning, in batches too."""
    a, b = pt.matrix("a"), pt.tensor3("b")
    sorted_schur = pt.linalg.schur(a, sort="lhp")
    pairs = pt.linalg.qz(a, b, sort="iuc", return_eigenvalues=True)
    outputs = [*sorted_schur, *pairs]
    with pytest.warns(UserWarning, match="XLA has nothing for"):
        f = pytensor.function([a, b], outputs, mode=jax_mode())
    values = MATRIX, rng.normal(size=(2, 4, 4))
    expected = pytensor.function([a, b], outputs, mode="FAST_COMPILE")(*values)
    for ours, theirs in zip(f(*values), expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.slow
def test_discrete_riccati_equations():
    q = np.eye(2)
    inputs = [pt.matrix(name) for name in "abqr"]
    with pytest.warns(UserWarning, match="XLA has nothing for QZ"):
        f = pytensor.function(inputs, pt.linalg.solve_discrete_are(*inputs), mode=jax_mode())
    values = MATRIX[:2, :2], MATRIX[:2, 2:], q, q
    np.testing.assert_allclose(f(*values), scipy.linalg.solve_discrete_are(*values))


# PyTensor calls NumPy so.
without_axes = pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")


@without_axes
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
@pytest.mark.parametrize("lengths", [(6,), (5,), (2, 3, 2, 5)])
def test_fourier_transforms(lengths, norm):
    x = pt.tensor("x", shape=(None,) * (1 + len(lengths)))
    there = fft.rfft(x, norm)
    back = fft.irfft(there * 2, norm, is_odd=bool(lengths[-1] % 2))
    outputs = [there, back, *(pt.grad((y**3).sum(), x) for y in (there, back))]
    compare([x], outputs, [rng.normal(size=(2, *lengths))])


@without_axes
@pytest.mark.parametrize("op", [fft.rfft_op, fft.irfft_op])
def test_fourier_transforms_of_lengths_that_an_input_decides(op):
    """Of a part of the array, and of one with zeros behind it."""
    x, lengths = pt.matrix("x") if op is fft.rfft_op else pt.tensor3("x"), pt.lvector("lengths")
    for n in (3, 8):
        compare([x, lengths], op(x, lengths), [rng.normal(size=(2, 5, 2)[: x.ndim]), np.array([n])])


@without_axes
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fourier_transforms_of_other_dtypes(dtype):
    x = pt.matrix("x", dtype=dtype)
    there = fft.rfft_op(x, [6])
    compare([x], [there, fft.irfft_op(there, [6])], [rng.normal(size=(2, 6)).astype(dtype)])


START, A, B = pt.vector("start"), pt.vector("a"), pt.scalar("b")
S, C = pt.scalar("s"), pt.scalar("c")
OPTIMIZED = {
    "root": lambda: optimize.root(START**3 + B * START - A, START),
    "root of one number": lambda: optimize.root(S**3 + B * S - C, S),
    "root_scalar": lambda: optimize.root_scalar(S**3 - B * C, S, "newton", jac=True),
    "root_scalar in bounds": lambda: optimize.root_scalar(S**3 - B, S, "brentq", bracket=[0, C]),
    "minimize": lambda: optimize.minimize((pt.exp(START) - A * START).sum() + B, START),
    "minimize by hessian": lambda: optimize.minimize(
        ((START - A * B) ** 4 + (START - A) ** 2).sum(), START, "Newton-CG", hess=True
    ),
    "minimize_scalar": lambda: optimize.minimize_scalar((S - C) ** 4 + (S - B) ** 2, S),
    "minimize_scalar in bounds": lambda: optimize.minimize_scalar(
        (S - B) ** 2, S, "bounded", bounds=pt.stack([B - 2, B + C])
    ),
}


@called_back
@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZED)
def test_optimization(name):
    """Values and the gradients of the implicit function theorem."""
    result, success = OPTIMIZED[name]()
    inputs = [START, A, B, S, C]
    wrt = [v for v in (A, B, C) if v in ancestors([result])]
    gradients = pt.grad((result**2).sum(), wrt, disconnected_inputs="ignore")
    values = [np.array([1.0, 2.0]), np.array([2.0, 3.0]), 1.5, 1.0, 2.0]
    compare(inputs, [result, success, *gradients], values, rtol=1e-5)


@called_back
@pytest.mark.slow
def test_optimization_of_several_arrays():
    x, y = pt.vector("x"), pt.matrix("y")
    loss = ((x - A) ** 2).sum() + ((y - B) ** 2).sum() + (y @ x).sum() / 9
    (best_x, best_y), _ = optimize.minimize(loss, [x, y])
    outputs = [best_x, best_y, *pt.grad((best_x**2).sum() + best_y[0, 1], [A, B])]
    compare([x, y, A, B], outputs, [np.zeros(2), np.ones((3, 2)), np.arange(2.0), 1.5], rtol=1e-5)


@called_back
@pytest.mark.slow
def test_optimization_within_loops_and_batches():
    root, _ = optimize.root(START**2 - A, START)
    batch = pt.matrix("batch")
    of_rows = vectorize_graph(root, {A: batch})
    in_steps = pytensor.scan(
        lambda row, guess: optimize.root(guess**2 - row, guess)[0],
        sequences=[batch], outputs_info=[START], return_updates=False,
    )  # fmt: skip
    outputs = [of_rows, in_steps, pt.grad(in_steps.sum(), batch)]
    value = np.arange(1.0, 7).reshape(3, 2)
    compare([START, batch], outputs, [np.ones(2), value], rtol=1e-5)
