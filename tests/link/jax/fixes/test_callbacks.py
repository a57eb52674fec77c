"""Test the Ops that `jax_mode` computes on the host."""

import numpy as np
import pytest
import scipy.linalg

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.traversal import ancestors
from pytensor.tensor import optimize
from pytensor.tensor.linalg.solvers.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)
# For what PyTensor computes on the host.
called_back = pytest.mark.filterwarnings("ignore:XLA has nothing for:UserWarning")
MATRIX = rng.normal(size=(4, 4))
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
