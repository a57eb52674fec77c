"""Numbers and dtypes that `jax_mode` has right where PyTensor's conversions to JAX haven't."""

import numpy as np
import pytest
import scipy.special

import pytensor
import pytensor.tensor as pt
from pytensor import scalar as ps
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.math import ndtri_exp

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)


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
    outer = vectorize_graph(pt.einsum("i,j->ij", x, y), {x: pt.stack([x, x])})
    outputs = [pt.dot(x, y), batches.sum(), pt.concatenate([x, y])[0], outer.sum()]
    f = pytensor.function([x, y], outputs, mode=jax_mode())
    results = f(np.array([2**24 + 1], "int32"), np.ones(1, "float32"))
    assert results == [2**24 + 1, 2**25 + 2, 2**24 + 1, 2**25 + 2]


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


def test_sums_in_a_wider_dtype():
    """A mean of ones in float16 was infinite, and a sum in float64 was taken in float32."""
    half, single = pt.vector("half", dtype="float16"), pt.vector("single", dtype="float32")
    outputs = [half.mean(), half.prod(dtype="float32"), single.sum(dtype="float64")]
    f = pytensor.function([half, single], outputs, mode=jax_mode())
    mean, product, total = f(np.ones(70_000, "float16"), np.array([1e8, 1, -1e8], "float32"))
    assert (mean, product, total) == (1, 1, 1)
    assert f(np.array([300, 300, 1 / 64], "float16"), np.ones(1, "float32"))[1] == 300 * 300 / 64


def test_sums_and_products_of_single_booleans():
    x, y = pt.scalar("x", dtype="bool"), pt.scalar("y", dtype="bool")
    compare([x, y], [x + y, x * y, (x + y) * 2], [True, True])


def test_powers_are_computed_in_the_dtype_of_the_result():
    x = pt.vector("x", dtype="uint8")
    f = pytensor.function([x], x**2.0, mode=jax_mode())
    np.testing.assert_array_equal(f(np.array([20], "uint8")), [400.0])


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


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int16", "bool"])
def test_reductions_of_bits(dtype):
    x = pt.matrix("x", dtype=dtype)
    outputs = [CAReduce(op, axis)(x) for op in (ps.and_, ps.or_, ps.xor) for axis in (None, (0,))]
    compare([x], outputs, [rng.integers(0, 127, (3, 4)).astype(dtype)])


def test_corrections_within_a_composite():
    """Fusion makes such Ops, and so does the rewrite of constant powers."""
    a, b, n = ps.int32("a"), ps.float32("b"), ps.int64("n")
    fused = Elemwise(ps.Composite([a, b, n], [a + b, (a // n) + n**n, ps.tri_gamma(a / b)]))
    inputs = [pt.ivector("x"), pt.vector("y", dtype="float32"), pt.lvector("n")]
    values = [
        np.array([2**24 + 1, -37, 4], "int32"),
        np.array([0.1, 2, 8], "float32"),
        np.array([1, 13, 70]),
    ]
    with np.errstate(all="ignore"):
        compare(inputs, fused(*inputs), values)


def test_numbers_beyond_int64():
    """The minimum is 2**64 - 1 less a maximum."""
    x = pt.vector("x", dtype="uint64")
    outputs = [pt.min(x), pt.constant(np.uint64(2**63)) * x[0]]
    compare([x], outputs, [np.array([5, 2**63 + 1], "uint64")])


def test_softmax_and_eigenvalues_of_integers():
    """JAX computes int32 in float32, and no complex numbers of integers."""
    x = pt.matrix("x", dtype="int32")
    outputs = [pt.special.softmax(x, axis=0), pt.special.log_softmax(x, axis=0)]
    outputs += [pt.linalg.eig(x)[0], pt.complex(x, x)]
    compare([x], outputs, [np.array([[3, 1], [0, 2]], "int32")], rtol=1e-12)
