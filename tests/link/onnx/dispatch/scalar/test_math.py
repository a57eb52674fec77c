"""Special functions, against SciPy's in double precision rounded to the dtype."""

from functools import cache

import numpy as np
import pytest
from scipy import special

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.scalar import UnaryScalarOp, upgrade_to_float_no_complex
from pytensor.tensor import math as ptm
from pytensor.tensor.elemwise import Elemwise
from tests.link.onnx.strategies import FLOATS
from tests.link.onnx.test_basic import compare_onnx_and_py, run, run_session, session_of
from tests.utils import REFERENCE_MODE

INF, NAN = np.inf, np.nan


class Scaled(UnaryScalarOp):
    """As PyMC has them: an Op that names SciPy's function."""

    def __init__(self, name):
        super().__init__(upgrade_to_float_no_complex, name=name)
        self.nfunc_spec = (f"scipy.special.{name}", 1, 1)

    def impl(self, x):
        return getattr(special, self.name)(x)


i0e, i1e = Elemwise(Scaled("i0e")), Elemwise(Scaled("i1e"))
# Beside what SciPy flushes to zero
TOLERANCES = {"float16": (1e-3, 1e-7), "float32": (1e-6, 1e-37), "float64": (1e-13, 1e-305)}
REAL = (-1e300, 1e300)
ANY = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0]


class Case:
    """A function, the ranges of its arguments and how far from SciPy it may be.

    Tolerances that are larger than those of the dtype are near zeros (the absolute one), or where
    SciPy or a kernel of onnxruntime is no better.
    """

    def __init__(self, function, *ranges, special=ANY, rtol=0, atol=0, single=0):
        self.function = function
        self.ranges = ranges
        self.special = special
        self.rtol, self.atol, self.single = rtol, atol, single


CASES = {
    # onnxruntime's kernel in single precision
    "sigmoid": Case(ptm.sigmoid, REAL, single=2e-7),
    "silu": Case(pt.silu, (-1e3, 1e300), special=[NAN, INF, 0.0, -0.0], single=2e-6),
    "softplus": Case(ptm.softplus, REAL),
    "log1mexp": Case(ptm.log1mexp, (-1e300, 0)),
    "erf": Case(ptm.erf, REAL),
    "erfc": Case(ptm.erfc, REAL),
    "erfcx": Case(ptm.erfcx, REAL),
    "erfinv": Case(ptm.erfinv, (-1, 1)),
    "erfcinv": Case(ptm.erfcinv, (0, 2)),
    # SciPy's error is 7e-13 at -2.5e5.
    "ndtri_exp": Case(ptm.ndtri_exp, (-1e300, 0), rtol=1e-12, atol=1e-15),
    "gamma": Case(ptm.gamma, (-1e3, 1e300)),
    "gammaln": Case(ptm.gammaln, (-1e3, 1e300), atol=1e-12),
    # SciPy's tangent is imprecise near the poles.
    "psi": Case(ptm.psi, (0, 1e300), atol=1e-15),
    "tri_gamma": Case(ptm.tri_gamma, (-1e2, 1e300), special=[NAN, INF, 0.0, -1.0, -2.0]),
    "polygamma_0": Case(lambda x: ptm.polygamma(0, x), (0, 1e300), atol=1e-15),
    "polygamma_2": Case(lambda x: ptm.polygamma(2, x), (-1e2, 1e300), special=[NAN, INF],
                        atol=1e-12),
    "polygamma_7": Case(lambda x: ptm.polygamma(7, x), (0, 1e40), special=[NAN, INF]),
    # Tails down to 1e-305 are powers of e up to 700, and so are SciPy's.
    "gammainc": Case(ptm.gammainc, (1e-3, 1e3), (0, 1e4), rtol=3e-12),
    "gammaincc": Case(ptm.gammaincc, (1e-3, 1e3), (0, 1e4), rtol=3e-12),
    "gammainc_100": Case(ptm.gammainc, (1e-3, 1e2), (0, 1e4), rtol=3e-13, atol=1e-60),
    "gammaincc_100": Case(ptm.gammaincc, (1e-3, 1e2), (0, 1e4), rtol=3e-13, atol=1e-60),
    "betainc": Case(ptm.betainc, (0.1, 1e3), (0.1, 1e3), (0, 1), rtol=1e-12, atol=1e-15),
    # Results down to 1e-300 are powers of e again, and SciPy fails for small ones of the last.
    "gammaincinv": Case(ptm.gammaincinv, (0.01, 1e3), (1e-9, 1), rtol=1e-12,
                        special=[NAN, -1.0, 0.0, 1.0, 2.0]),
    "gammainccinv": Case(ptm.gammainccinv, (0.01, 1e3), (1e-250, 1), rtol=1e-12,
                         special=[NAN, -1.0, 1.0, 2.0]),
    "betaincinv": Case(ptm.betaincinv, (0.3, 1e3), (0.3, 1e3), (1e-4, 1), rtol=1e-12,
                       special=[NAN, -1.0, 0.0, 1.0, 2.0]),
    "owens_t": Case(ptm.owens_t, (-1e300, 1e300), (-1e300, 1e300), atol=1e-16),
    "i0": Case(ptm.i0, (-700, 700)),
    "i1": Case(ptm.i1, (-700, 700)),
    "i0e": Case(i0e, REAL),
    "i1e": Case(i1e, REAL),
    "ive_2.25": Case(lambda x: ptm.ive(2.25, x), (1e-9, 700), special=[NAN]),
    "ive_3": Case(lambda x: ptm.ive(3, x), (-700, 700), special=[NAN]),
    "ive_-1.5": Case(lambda x: ptm.ive(-1.5, x), (1e-4, 700), special=[NAN], atol=1e-13),
    "kve_0": Case(lambda x: ptm.kve(0, x), (0, 6e4), special=[NAN]),
    "kve_0.3": Case(lambda x: ptm.kve(0.3, x), (0, 6e4), special=[NAN]),
    "kve_-4": Case(lambda x: ptm.kve(-4, x), (1e-60, 6e4), special=[NAN]),
    "j0": Case(ptm.j0, (-1e4, 1e4), special=[NAN, 0.0, -0.0], atol=1e-13),
    "j1": Case(ptm.j1, (-1e4, 1e4), special=[NAN, 0.0, -0.0], atol=1e-13),
    "jv_4": Case(lambda x: ptm.jv(4, x), (-1e4, 1e4), special=[NAN, 0.0, -0.0], atol=1e-13),
    "jv_1.5": Case(lambda x: ptm.jv(1.5, x), (0, 1e4), special=[NAN, 0.0], atol=1e-13),
    "jv_-0.5": Case(lambda x: ptm.jv(-0.5, x), (1e-4, 1e4), special=[NAN], atol=1e-12),
}  # fmt: skip


def variables(name, dtype):
    return [pt.vector(f"x{i}", dtype=dtype) for i in range(len(CASES[name].ranges))]


@cache
def session(name, dtype):
    """Return a function's session, at the lowest or the highest operator set in turn."""
    inputs = variables(name, dtype)
    opset = (18, 24)[([*CASES].index(name) + FLOATS.index(dtype)) % 2]
    return session_of(export_onnx(inputs, CASES[name].function(*inputs), opset_version=opset))


@cache
def reference(name):
    inputs = variables(name, "float64")
    with pytensor.config.change_flags(cxx=""):
        return pytensor.function(inputs, CASES[name].function(*inputs), mode=REFERENCE_MODE)


@cache
def output_dtype(name, dtype):
    return CASES[name].function(*variables(name, dtype)).dtype


def check(name, dtype, values):
    """Check a function; values are rounded to the dtype before either sees them."""
    values = [np.asarray(v).astype(dtype) for v in values]
    compute = session(name, dtype)
    dtype = output_dtype(name, dtype)
    expected = reference(name)(*[v.astype("float64") for v in values]).astype(dtype)
    case = CASES[name]
    rtol, atol = TOLERANCES[dtype]
    if dtype == "float64":
        rtol, atol = max(rtol, case.rtol), max(atol, case.atol)
    else:
        atol = max(atol, case.single)
    (result,) = run_session(compute, values)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=atol)


def spread(low, high, size, rng):
    """Draw numbers of all magnitudes and both signs in a range, many of the order of 10."""
    around = np.concatenate([
        rng.uniform(max(low, -30), min(high, 30), size),
        rng.uniform(max(low, -800), min(high, 800), size),
    ])  # fmt: skip
    edges = [10.0 ** rng.uniform(-300, 300, size), -(10.0 ** rng.uniform(-300, 300, size))]
    edges += [low + 10.0 ** rng.uniform(-16, 1, size), high - 10.0 ** rng.uniform(-16, 1, size)]
    edges = np.concatenate(edges)
    return np.concatenate([around, edges[(edges >= low) & (edges <= high)]])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CASES)
def test_accuracy(name, dtype):
    rng = np.random.default_rng(len(name))
    columns = [rng.permutation(spread(*limits, 300, rng)) for limits in CASES[name].ranges]
    size = min(len(column) for column in columns)
    check(name, dtype, [column[:size] for column in columns])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_special_values(name, dtype):
    case = CASES[name]
    grid = np.meshgrid(*[[*case.special, max(limits[0], 0.5)] for limits in case.ranges])
    check(name, dtype, [column.ravel() for column in grid])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("shape", [(), (2, 0), (2, 1, 3)])
def test_shapes(shape):
    x, row = pt.tensor("x", shape=(None,) * len(shape), dtype="float64"), pt.row("row")
    names = ["erf", "erfcinv", "psi", "i0", "j1", "polygamma_2", "kve_0"]
    values = np.linspace(0.1, 1.5, int(np.prod(shape))).reshape(shape)
    outputs = [*(CASES[name].function(x) for name in names), ptm.owens_t(x[..., None], row)]
    compare_onnx_and_py([x, row], outputs, [values, [[0.2, 0.9, 30]]], rtol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7])
def test_polygamma_of_negative(n):
    x = pt.dvector("x")
    distances = np.array([1e-9, -1e-9, 2.0**-20, 0.1, -0.25, 0.375, 0.5])
    values = (np.arange(-9.0, 0)[:, None] + distances).ravel()
    (result,) = run(export_onnx([x], ptm.polygamma(n, x)), [values])
    # NIST DLMF 5.15.5, up to where SciPy's is a series
    steps = (-1.0) ** n * special.factorial(n) * (values[:, None] + np.arange(11)) ** -(n + 1.0)
    expected = special.polygamma(n, values + 11) - steps.sum(axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-13, atol=1e-13 * special.factorial(n))


def test_several_orders():
    x = pt.matrix("x")
    orders = np.array([[0, 1, 5]])
    values = np.array([[0.5, 2, 30], [4, 11, 0.1]])
    outputs = [ptm.polygamma(orders, x), ptm.jv(orders, x), ptm.ive(orders, x), ptm.kve(orders, x)]
    compare_onnx_and_py([x], outputs, [values], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("function", [ptm.polygamma, ptm.jv, ptm.ive, ptm.kve])
def test_orders_must_be_constant(function):
    n, x = pt.lvector("n"), pt.dvector("x")
    with pytest.raises(UnsupportedOpError, match="give a constant one"):
        export_onnx([n, x], function(n, x))


def test_bessel_functions_where_scipy_gives_up():
    """Values from their first terms: SciPy has infinity or NaN for all of these."""
    x = pt.dvector("x")
    large = np.array([710.0, 713.0, -713.0])
    outputs = [ptm.i0(x), ptm.i1(x)]
    results = run(export_onnx([x], outputs), [large])
    assert not np.isfinite([special.i0(large), special.i1(large)]).any()
    size = np.abs(large)
    scale = np.exp(size - 700) / np.sqrt(2 * np.pi * size) * np.exp(700)
    # NIST DLMF 10.40.1
    terms = [1 + 1 / (8 * size) + 9 / (128 * size**2), 1 - 3 / (8 * size) - 15 / (128 * size**2)]
    np.testing.assert_allclose(results[0], scale * terms[0], rtol=1e-9)
    np.testing.assert_allclose(results[1], np.sign(large) * scale * terms[1], rtol=1e-9)

    huge = np.array([1e10, 1e100, 1e300, INF])
    for order in (0, 1, 2.5, -0.5):
        outputs = [ptm.ive(order, x), ptm.kve(order, x)]
        results = run(export_onnx([x], outputs), [huge])
        assert np.isnan([special.ive(order, huge), special.kve(order, huge)]).all()
        root = np.sqrt(huge)
        np.testing.assert_allclose(results[0], 1 / np.sqrt(2 * np.pi) / root, rtol=1e-9)
        np.testing.assert_allclose(results[1], np.sqrt(np.pi / 2) / root, rtol=1e-9)


@pytest.mark.parametrize("order", [-0.5, -1.5, -2.7, -19.5])
def test_bessel_functions_of_negative_order_near_zero(order):
    x = pt.dvector("x")
    values = np.array([0.0, -0.0, 1e-300, 1e-12, 1e-8, 1e-4, -1.0, NAN])
    (result,) = run(export_onnx([x], ptm.jv(order, x)), [values])
    np.testing.assert_allclose(result, special.jv(order, values), rtol=1e-11)


def test_negative_zero():
    x = pt.dvector("x")
    outputs = [f(x) for f in (ptm.erf, ptm.erfinv, pt.silu, ptm.reciprocal, ptm.gamma, ptm.psi)]
    results = run(export_onnx([x], outputs), [np.array([-0.0, 0.0])])
    assert [np.signbit(result).tolist() for result in results[:4]] == [[True, False]] * 4
    np.testing.assert_array_equal(results[4:], [[-INF, INF], [INF, -INF]])


def test_hyp2f1_is_refused():
    inputs = pt.dscalars("a", "b", "c", "z")
    with pytest.raises(UnsupportedOpError, match="no one formula"):
        export_onnx(inputs, ptm.hyp2f1(*inputs))
