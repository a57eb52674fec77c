"""Masks that are known at run time, in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402

X, W = pt.vector("x", dtype="float64"), pt.vector("w", dtype="float64")
A, B = pt.matrix("a", dtype="float64"), pt.tensor("b", dtype="float64", shape=(None, 3))
GROUP, THETA = pt.vector("group", dtype="int64"), pt.vector("theta", dtype="float64")
M, M2 = pt.vector("m", dtype="bool"), pt.matrix("m2", dtype="bool")
rng = np.random.default_rng(0)
VALUES = {
    X: rng.normal(size=5), W: rng.normal(size=5), A: rng.normal(size=(5, 5)),
    B: rng.normal(size=(5, 3)), GROUP: np.array([1, 0, 2, 2, 1]), THETA: rng.normal(size=3),
}  # fmt: skip
SOME = np.array([True, False, True, True, False])
MASKS = (SOME, np.ones(5, bool), np.zeros(5, bool))
# Masks that the device computes.
F, F2 = pt.vector("f", dtype="float64"), pt.matrix("f2", dtype="float64")
D, D2 = F > 0, F2 > 0
NZ = pt.nonzero(D)[0]
ONE = pt.tensor("one", dtype="float64", shape=(1,))
NAMED = X > 0
NAMED.name = "positive"

RESULTS = {
    "sum": X[D].sum(),
    "mean": (X[D] ** 2).mean(),
    "variance": pt.log(X[D] ** 2).var(),
    "product": X[D].prod(),
    "maximum": pt.exp(X[D]).max(),
    "minimum": (X[D] - W[D]).min(),
    "rows": A[D].sum(axis=0),
    "sums of rows": A[D].sum(axis=1).mean(),
    "columns": A[:, D].mean(axis=1),
    "a column of rows": A[D, 1].sum(),
    "rows of a column": A[1, D].sum(),
    "next to slices": pt.inc_subtensor(A[1:, D], W[D]),
    "two axes": A[D2].mean(),
    "log-sum-exp": pt.logsumexp(X[D]),
    "softmax": (pt.special.softmax(X[D]) * W[D]).sum(),
    "again": X[D][W[D] > 0].sum(),
    "nonzero": X[NZ].mean(),
    "nonzero of numbers": X[pt.nonzero(GROUP)].sum(),
    "nonzero of two axes": A[pt.nonzero(D2)].sum(),
    "likelihood": pt.switch(W[D] > 0, X[D], -X[D] / 2).sum() + X.mean(),
    "set a number": pt.set_subtensor(X[D], 0.5),
    "set its own": pt.set_subtensor(X[D], pt.exp(X[D])),
    "set another": pt.set_subtensor(X[D], W[D] * 2 - 1),
    "inc a number": pt.inc_subtensor(X[D], 0.5),
    "inc another": pt.inc_subtensor(X[D], W[D] ** 2),
    "inc rows": pt.inc_subtensor(A[D], W),
    "inc rows by numbers": pt.inc_subtensor(A[D], W[D][:, None]),
    "set two axes": pt.set_subtensor(A[D2], A[D2] * 2),
    "inc by nonzero": pt.inc_subtensor(X[NZ], X[NZ] * 3),
    "set columns": pt.set_subtensor(A[:, D], 0),
}


def compare(inputs, outputs, values, mode):
    compare_jax_and_py(inputs, outputs, values, jax_mode=mode, py_mode="FAST_COMPILE")


# NumPy raises for them.
NOT_OF_NOTHING = ("maximum", "minimum", "log-sum-exp", "softmax")


@pytest.mark.by_default(
    "sum", "product", "next to slices", "softmax", "again", "nonzero of two axes", "inc a number"
)  # fmt: skip
@pytest.mark.parametrize("name", RESULTS)
def test_masks(name):
    """Values and gradients, of some elements, of all, and of none."""
    result = RESULTS[name]
    inputs = [X, W, A, B, GROUP, THETA, F, F2]
    wrt = [v for v in (X, W, A, B, THETA) if v in pytensor.graph.traversal.ancestors([result])]
    gradients = pt.grad((result**2).sum(), wrt, disconnected_inputs="ignore")
    mode = jax_mode()
    for mask in MASKS if name not in NOT_OF_NOTHING else MASKS[:2]:
        given = [VALUES[v] for v in inputs[:-2]] + [mask * 2.0, np.outer(mask, SOME) * 2.0]
        if name == "nonzero of numbers":
            given[4] = mask * 2
        with np.errstate(all="ignore"):  # a mean of nothing
            compare(inputs, [result, *gradients], given, mode)


def test_masks_within_a_scan():
    last = pytensor.scan(
        lambda s, total, x, m: total + s * x[m].sum(),
        sequences=[W], outputs_info=[pt.zeros((), dtype="float64")], non_sequences=[X, M],
        return_updates=False,
    )[-1]  # fmt: skip
    outputs = [last, *pt.grad(last, [X, W])]
    compare_jax_and_py([X, W, M], outputs, [VALUES[X], VALUES[W], SOME], jax_mode=jax_mode())


def test_nan_that_a_mask_leaves_out_is_in_no_gradient():
    """The derivatives of the logarithm and the root at a negative number, and at 0."""
    x, theta = pt.vector("x", dtype="float64"), pt.vector("theta", dtype="float64")
    kept = x > 0
    loss = (pt.log(x[kept]) * theta[kept] + pt.sqrt(x[kept])).mean() + x[kept].max()
    f = pytensor.function([x, theta], [loss, *pt.grad(loss, [x, theta])], mode=jax_mode())
    value = np.array([1.0, -2.0, 0.0, np.nan, 3.0])
    results = f(value, np.array([1.0, np.nan, np.inf, 0.0, 2.0]))
    assert np.isfinite(np.concatenate([np.atleast_1d(r) for r in results])).all()
    np.testing.assert_allclose(results[0], (2 * np.log(3) + 1 + np.sqrt(3)) / 2 + 3)
    np.testing.assert_array_equal(results[1][1:4], 0)
    np.testing.assert_allclose(results[2], [0, 0, 0, 0, np.log(3) / 2])


def test_reductions_of_nothing():
    """NumPy raises for the maximum; a mean of nothing is NaN there too."""
    n = pt.vector("n", dtype="int8")
    outputs = [X[D].sum(), X[D].prod(), X[D].mean(), X[D].max(), n[D].max(), X[D].shape[0]]
    results = pytensor.function([X, n, F], outputs, mode=jax_mode())
    actual = results(VALUES[X], np.ones(5, "int8"), np.zeros(5))
    np.testing.assert_array_equal(actual, [0, 1, np.nan, -np.inf, -128, 0])


@pytest.mark.by_default("uint16", "bool")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "float32"])
def test_dtypes(dtype):
    x = pt.vector("x", dtype=dtype)
    outputs = [x[D].max(), x[D].min(), x[D].sum(), x[D].prod(), pt.inc_subtensor(x[D], x[D])]
    outputs += [pt.set_subtensor(x[D], 1), pt.all(x[D]), pt.any(x[D] > 0)]
    values = np.array([0, 3, 1, 0, 1]).astype(dtype)
    compare_jax_and_py([x, F], outputs, [values, SOME * 2.0], jax_mode=jax_mode())


# Where the number of True must be known, a mask that is an input is part of the program.
OF_INPUTS = {
    "a result": X[M],
    "sorted": pt.sort(X[M]),
    "written": pt.set_subtensor(X[M], W[:3] * 2),
    "written to rows": pt.inc_subtensor(A[M], W[:3, None] * A[:3]),
    "rows": A[M, 1:],
    "two axes": A[M2],
    "nonzero": X[pt.nonzero(M)[0]] * pt.nonzero(M)[0],
    "of several inputs": X[M & (GROUP > 0)],
    "beside a sum": pt.sort(X[M]) * X[M].sum(),
    "of a longer result": pt.concatenate([X, W])[pt.concatenate([M, M])],
}


@pytest.mark.by_default("written", "written to rows")
@pytest.mark.parametrize("name", OF_INPUTS)
def test_a_mask_that_is_an_input_is_part_of_the_program(name):
    result = OF_INPUTS[name]
    inputs = [X, W, A, GROUP, M, M2]
    wrt = [v for v in (X, W, A) if v in pytensor.graph.traversal.ancestors([result])]
    outputs = [result, *pt.grad((result**2).sum(), wrt)]
    mode = jax_mode()
    for mask in (SOME, SOME[::-1]):
        given = [*(VALUES[v] for v in inputs[:4]), mask, np.outer(mask, SOME)]
        compare(inputs, outputs, given, mode)


REFUSED = {
    "a result": (X[X > 0], "AdvancedSubtensor: .* from 'x', for a result. .*an input of bools"),
    "another mask's": ((X[M] + W[W > 0]).sum(), "AdvancedSubtensor: .* from 'w'"),
    "another axis": ((A[D] + A[:, D]).sum(), r"pt.where\(mask, a, 0\) .* a\[:, mask\]"),
    "one element": (ONE[D].sum(), r"pt.where\(mask, one, 0\)"),  # NumPy raises
    "written": (pt.set_subtensor(X[X > 0], W), "AdvancedIncSubtensor: .* from 'x', for a result"),
    "indices": (pt.nonzero(X)[0], r"Nonzero: .* from 'x', for a result. .*pt.where\(mask, x, 0\)"),
    "indices and elements": (NZ * X[NZ], r"pt.where\(mask, x, 0\) instead of x\[mask\]"),
    "dot": (X[D] @ W[D], r"for Dot. .*pt.where\(mask, w, 0\)"),
    "rows of a product": (A[D] @ W, r"for Dot. .*pt.where\(mask\[:, None\], a, 0\) .* a\[mask\]"),
    "running sum": (pt.cumsum(X[D]).sum(), r"for CumOp. .*pt.where\(mask, x, 0\)"),
    "zeros": (pt.set_subtensor(pt.zeros(A[D].shape)[1:], A[D, 1:]), "Alloc|AdvancedSubtensor"),
    "lookup": (THETA[GROUP[D]].sum(), r"pt.where\(mask, group, 0\) instead of group\[mask\]"),
    "scatter": (pt.zeros(3)[GROUP[D]].inc(X[D]), r"pt.where\(mask, group, 0\)"),
    "a named mask": (pt.sort(X[NAMED]), r"pt.where\(positive, x, 0\) instead of x\[positive\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_where_the_number_must_be_known_it_is_said(name):
    result, message = REFUSED[name]
    with pytest.raises(NotImplementedError, match=message):
        pytensor.function(
            [X, W, A, GROUP, THETA, ONE, M, F], result, mode=jax_mode(), on_unused_input="ignore"
        )


def test_constant_masks_stay():
    outputs = [X[SOME], pt.set_subtensor(X[SOME], W[:3]), pt.grad(X[SOME].prod(), X)]
    compare_jax_and_py([X, W], outputs, [VALUES[X], VALUES[W]], jax_mode=jax_mode())


def test_a_mask_of_constants_is_computed_before():
    """Here of the upper triangle of a part of the matrix."""
    upper = A[pt.triu_indices(3)]
    outputs = [upper, *pt.grad((upper**2).sum(), [A]), pt.set_subtensor(upper, pt.arange(6.0))]
    compare_jax_and_py([A], outputs, [VALUES[A]], jax_mode=jax_mode())


@pytest.mark.by_default("1")
@pytest.mark.parametrize("length", [None, 1, 3])
def test_places_from_a_shorter_mask_are_of_the_first_elements(length):
    m, m2 = (pt.tensor(name, dtype="bool", shape=(length,) * n) for name, n in (("m", 1), ("n", 2)))
    places, pairs = pt.nonzero(m)[0], pt.nonzero(m2)
    outputs = [
        X[places].sum(), pt.grad((X[places] ** 2).sum(), X), pt.set_subtensor(X[places], 0.5),
        (A[:, places] * X[places]).sum(axis=1), pt.inc_subtensor(A[pairs], A[pairs] ** 2),
    ]  # fmt: skip
    mode = jax_mode()
    for n in [length] if length else (3, 1, 5):
        values = VALUES[X], VALUES[A], SOME[:n], SOME[:n, None] & SOME[:n]
        compare([X, A, m, m2], outputs, values, mode)


@pytest.mark.by_default("mask1")
@pytest.mark.parametrize("mask", [M, pt.constant(SOME)])
def test_a_mask_of_fewer_axes_than_the_array_selects_rows(mask):
    """PyTensor's rewrites for JAX take it for one of the last axis, where sizes let them."""
    rows = pt.sort(A, axis=1)[mask]
    outputs = [rows.sum(), pt.set_subtensor(A[mask], 0.0), pt.inc_subtensor(A[mask], 1.0)]
    outputs += [pt.set_subtensor(rows[pt.ones(rows.shape[0], "bool")], 0.0)]
    inputs = [A] if mask is not M else [A, M]
    values = [VALUES[A], SOME][: len(inputs)]
    compare_jax_and_py(inputs, outputs, values, jax_mode=jax_mode(), py_mode="FAST_COMPILE")


@pytest.mark.parametrize("shape", [(1, 6), (1, 1), (3, 4)])
def test_a_mask_of_another_shape_raises(shape):
    """Also of as many elements."""
    f = pytensor.function([A, F2], A[D2].sum(), mode=jax_mode())
    with pytest.raises((AssertionError, TypeError, ValueError)):
        f(np.ones((2, 6)), np.ones(shape))
