import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from tests.utils import REFERENCE_MODE

MODES = [REFERENCE_MODE, "FAST_COMPILE", "CVM", "NUMBA", "JAX"]
MODE_NAMES = ["py", "FAST_COMPILE", "CVM", "NUMBA", "JAX"]


def reference(x):
    x = np.asarray(x, dtype="longdouble")
    with np.errstate(over="ignore"):
        return (x / (1 + np.exp(-x))).astype("float64")


@pytest.mark.parametrize("mode", MODES, ids=MODE_NAMES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
# PyTensor's own Ops say so when they have no C code for half precision
@pytest.mark.filterwarnings("ignore:Disabling C code")
def test_values_and_gradient(dtype, mode):
    if dtype == "float16" and mode == "NUMBA":
        pytest.skip("Numba has no half precision on CPUs")
    if mode == "JAX":
        pytest.importorskip("jax")
    x = pt.vector("x", dtype=dtype)
    out = pt.silu(x)
    (gradient,) = pytensor.grad(out.sum(dtype=dtype), [x])
    assert out.type.dtype == gradient.type.dtype == dtype
    value = np.array([-1e4, -88, -20, -1.5, -1e-4, 0, 1e-4, 0.7, 20, 88, 1e4]).astype(dtype)
    results = pytensor.function([x], [out, gradient], mode=mode)(value)
    v = value.astype("float64")
    with np.errstate(over="ignore"):
        s = 1 / (1 + np.exp(-v))
    tolerance = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    for result, expected in zip(results, [reference(v), s * (1 + v * (1 - s))], strict=True):
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", MODES, ids=MODE_NAMES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool"])
def test_integers(dtype, mode):
    if mode == "JAX":
        pytest.importorskip("jax")
    x = pt.vector("x", dtype=dtype)
    value = np.array([0, 1, 1]).astype(dtype)
    result = pytensor.function([x], pt.silu(x), mode=mode)(value)
    np.testing.assert_allclose(result, reference(value.astype("float64")), rtol=1e-6)


def test_gradients():
    value = np.array([[-3.0, -0.4], [0.1, 2.5]])
    verify_grad(pt.silu, [value], rng=np.random.default_rng(0), mode=REFERENCE_MODE)
    first = lambda x: pytensor.grad(pt.silu(x).sum(), x)  # noqa: E731
    verify_grad(first, [value], rng=np.random.default_rng(0), mode=REFERENCE_MODE)
