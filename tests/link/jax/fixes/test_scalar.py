"""Functions of numbers that JAX lacks, against those of PyTensor's Python."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode, get_mode

jax = pytest.importorskip("jax")

PYTHON = Mode("py", "fast_run")

N, X, Y = pt.vector("n", dtype="int64"), pt.vector("x"), pt.vector("y")


@pytest.mark.by_default("tuned")
@pytest.mark.parametrize("mode", ["JAX", pytest.param("tuned", marks=pytest.mark.slow)])
def test_values_and_gradients(mode):
    if mode == "tuned":
        from pytensor.link.jax import jax_mode

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
