"""Functions of numbers that JAX lacks, against those of PyTensor's Python."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import scalar as ps
from pytensor.compile.mode import Mode, get_mode
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402
from tests.link.jax.fixes.comparing import compare  # noqa: E402

PYTHON = Mode("py", "fast_run")

N, X, Y = pt.vector("n", dtype="int64"), pt.vector("x"), pt.vector("y")


@pytest.mark.by_default("tuned")
@pytest.mark.parametrize("mode", ["JAX", pytest.param("tuned", marks=pytest.mark.slow)])
def test_values_and_gradients(mode):
    if mode == "tuned":
        mode = jax_mode()
    results = [
        pt.round(X, mode="half_away_from_zero"),
        pt.complex(X, Y),
        pt.polygamma(N, N),
        pt.polygamma(N, Y),
    ]
    on_the_host = [
        *(pt.j0(X), pt.j1(X), pt.jv(N, Y), pt.ive(N, Y), pt.kve(N, Y)),
        *(pt.gammaincinv(Y, 0.3), pt.gammainccinv(Y, 0.3), pt.betaincinv(2.0, Y, 0.3)),
        pt.grad(pt.j1(X).sum() + pt.gammaincinv(1.5, pt.sigmoid(X)).sum(), X),
    ]
    values = np.array([1, 2, 3]), np.array([-2.5, 0.5, 1.49]), np.array([0.2, 1.3, 7.0])
    inputs = [N, X, Y]
    expected = pytensor.function(inputs, results + on_the_host, mode="FAST_COMPILE")(*values)
    with pytest.warns(UserWarning, match="computes it on the host") as told:
        found = pytensor.function(inputs, results + on_the_host, mode=mode)(*values)
    assert len({str(w.message) for w in told}) == 8
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.filterwarnings("ignore:.*computes it on the host")
def test_hypergeometric_functions():
    """At -5, JAX's is 1e168, and not 0.08."""
    numbers = np.array([-20.0, -5, -0.9, -0.2, 0.5, 0.95, 0.9999])
    values = pt.hyp2f1(*(pt.full_like(X, v) for v in (2, 2, 3)), X)
    compare([X], [values, pt.grad(values.sum(), X)], [numbers])


FAR = [-1e4, -700.0, -300.0, -40.0, -1.0, -1e-17]
FUNCTIONS = {
    "softplus": (pt.softplus, [*FAR, 0.0, 1.0, 33.0, 300.0, 745.0, 1e4]),
    "log_sigmoid": (lambda x: pt.log(pt.sigmoid(x)), [*FAR, 0.0, 1.0, 18.0]),
    "log1mexp": (pt.log1mexp, FAR),
    "log1pexp": (lambda x: pt.log1p(pt.exp(x)), [*FAR, 1.0, 300.0]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_that_jax_takes(name):
    """As NumPyro asks for them: of the function, not of PyTensor's gradient."""
    function, values = FUNCTIONS[name]
    values = np.array(values)
    mode = get_mode("JAX").excluding("fusion")
    compiled = pytensor.function([X], function(X), mode=mode)
    (value,), pull = jax.vjp(compiled.vm.jit_fn, values)
    expected = pytensor.function([X], [function(X), pt.grad(function(X).sum(), X)], mode=PYTHON)
    right, gradient = expected(values)
    np.testing.assert_allclose(value, right, rtol=1e-12, atol=1e-300)
    (found,) = pull((np.ones_like(values),))
    np.testing.assert_allclose(found, gradient, rtol=1e-12, atol=1e-300)


def test_scalar_ops_without_elemwise_compute_in_their_dtype():
    """Unsigned integers aren't negated, and an int32 isn't rounded to float32."""
    n, k = ps.uint32("n"), ps.int32("k")
    outputs = [ps.softplus(n), ps.reciprocal(k), ps.int_div(k, n)]
    f = pytensor.function([n, k], outputs, mode=jax_mode())
    soft, inverse, quotient = f(np.uint32(32), np.int32(10))
    assert [v.dtype for v in (soft, inverse, quotient)] == [v.type.dtype for v in outputs]
    np.testing.assert_allclose([soft, inverse, quotient], [32, 0.1, 0])
    assert f(np.uint32(0), np.int32(10))[2] == 0


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


def test_corrections_within_a_loop():
    """An int32 and a float32 are a float64, an integer divided by 0 is 0."""
    total, k, share, n = ps.float64("total"), ps.int32("k"), ps.float32("share"), ps.int64("n")
    grown = total + k * share + n // (n - 3) + ps.tri_gamma(total - 20.5)
    loop = Elemwise(ScalarLoop([total], [grown], [k, share, n]))
    inputs = [pt.vector("x"), pt.ivector("k"), pt.vector("y", dtype="float32"), N]
    values = [np.zeros(2), np.array([2**24 + 1, -5]), np.array([0.1, 3]), np.array([3, 9])]
    values = [np.asarray(v, x.type.dtype) for v, x in zip(values, inputs, strict=True)]
    with np.errstate(divide="ignore"):
        compare(inputs, loop(np.int64(2), *inputs), values)
