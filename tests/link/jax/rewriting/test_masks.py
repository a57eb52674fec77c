"""Masks that are known at run time, in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from pytensor.link.jax.tuned import jax_mode  # noqa: E402

X, W = pt.vector("x", dtype="float64"), pt.vector("w", dtype="float64")
A, B = pt.matrix("a", dtype="float64"), pt.tensor("b", dtype="float64", shape=(None, 3))
I, THETA = pt.vector("i", dtype="int64"), pt.vector("theta", dtype="float64")
M, M2 = pt.vector("m", dtype="bool"), pt.matrix("m2", dtype="bool")
rng = np.random.default_rng(0)
VALUES = {
    X: rng.normal(size=5), W: rng.normal(size=5), A: rng.normal(size=(5, 5)), B: rng.normal(size=(5, 3)),
    I: np.array([1, 0, 2, 2, 1]), THETA: rng.normal(size=3),
}  # fmt: skip
SOME = np.array([True, False, True, True, False])
MASKS = {"some": SOME, "all": np.ones(5, bool)}
NONE = np.zeros(5, bool)
EMPTY = "no maximum of nothing"
NZ = pt.nonzero(M)[0]

RESULTS = {
    "sum": X[M].sum(),
    "mean": (X[M] ** 2).mean(),
    "variance": pt.log(X[M] ** 2).var(),
    "product": X[M].prod(),
    "maximum": pt.exp(X[M]).max(),
    "minimum": (X[M] - W[M]).min(),
    "dot": X[M] @ W[M],
    "rows": A[M].sum(axis=0),
    "sums of rows": A[M].sum(axis=1).mean(),
    "rows of a product": (A[M] @ W).sum(),
    "normal equations": B[M].T @ B[M],
    "columns": A[:, M].mean(axis=1),
    "a column of rows": A[M, 1].sum(),
    "two axes": A[M2].mean(),
    "lookup": ((X[M] - THETA[I[M]]) ** 2).sum(),
    "scatter": pt.zeros(3)[I[M]].inc(X[M] * 2),
    "log-sum-exp": pt.logsumexp(X[M]),
    "softmax": (pt.special.softmax(X[M]) * W[M]).sum(),
    "again": X[M][W[M] > 0].sum(),
    "running sum": (pt.cumsum(X[M]) * W[M]).sum(),
    "nonzero": X[NZ].mean(),
    "nonzero of numbers": X[pt.nonzero(I)].sum(),
    "indices": (NZ * X[NZ]).sum(),
    "nonzero of two axes": A[pt.nonzero(M2)].sum(),
    "likelihood": pt.switch(W[M] > 0, X[M], -X[M] / 2).sum() + X.mean(),
    "set a number": pt.set_subtensor(X[M], 0.5),
    "set its own": pt.set_subtensor(X[M], pt.exp(X[M])),
    "set another": pt.set_subtensor(X[M], W[M] * 2 - 1),
    "inc a number": pt.inc_subtensor(X[M], 0.5),
    "inc another": pt.inc_subtensor(X[M], W[M] ** 2),
    "inc rows": pt.inc_subtensor(A[M], W),
    "inc rows by numbers": pt.inc_subtensor(A[M], W[M][:, None]),
    "set two axes": pt.set_subtensor(A[M2], A[M2] * 2),
    "inc by nonzero": pt.inc_subtensor(X[NZ], X[NZ] * 3),
    "set columns": pt.set_subtensor(A[:, M], 0),
}


def compile_both(inputs, outputs):
    return [
        pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore")
        for mode in ("FAST_COMPILE", jax_mode())
    ]


@pytest.mark.parametrize("name", RESULTS)
def test_masks(name):
    """Values and gradients; NaN where the mask is False comes into neither."""
    result = RESULTS[name]
    inputs = [X, W, A, B, I, THETA, M, M2]
    wrt = [v for v in (X, W, A, B, THETA) if v in pytensor.graph.traversal.ancestors([result])]
    gradients = pt.grad((result**2).sum(), wrt, disconnected_inputs="ignore")
    reference, f = compile_both(inputs, [result, *gradients])
    for mask in MASKS.values():
        given = [VALUES[v] for v in inputs[:-2]] + [mask, np.outer(mask, SOME)]
        for actual, expected in zip(f(*given), reference(*given), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
