"""Functions of numbers that JAX lacks, against those of PyTensor's Python."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

N, X, Y = pt.vector("n", dtype="int64"), pt.vector("x"), pt.vector("y")


@pytest.mark.parametrize("mode", ["JAX", pytest.param("tuned", marks=pytest.mark.slow)])
def test_values_and_gradients(mode):
    if mode == "tuned":
        from pytensor.link.jax.tuned import jax_mode

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
