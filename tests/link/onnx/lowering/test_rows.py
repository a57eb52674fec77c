"""Where a graph mixes rows that should have results of their own."""

import warnings

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import MixedRowsWarning, export_onnx
from pytensor.link.onnx.lowering.rows import find_mixed_rows, with_statistics_of
from pytensor.raise_op import Assert
from tests.catalogue.operators import OPERATORS

X = pt.matrix("x", dtype="float64")
Y = pt.vector("y", dtype="int64")
WEIGHTS = pt.constant(np.ones((3, 2)))


def running(step_of):
    return pytensor.scan(step_of, X, np.float64(0), return_updates=False)


MIXED = {
    "mean": X - X.mean(axis=0),
    "one mean": X - X.mean(),
    "spread": X / X.std(axis=0, keepdims=True),
    "extremes": (X - X.min(0)) / pt.max(X, axis=0),
    "cumsum": pt.cumsum(X, axis=0),
    "sort": pt.sort(X, axis=0),
    "topk": pt.topk(X, 2, axis=0)[0],
    "ranks": pt.argsort(X, axis=0),
    "argmax": X + pt.argmax(X, axis=0),
    "softmax": pt.special.softmax(X, axis=0),
    "transposed": X.T.sum(axis=1),
    "product": X @ (X.T @ X),
    "batches of products": pt.vectorize(pt.dot, "(i,j),(j,k)->(i,k)")(X[None], X.T[None])
    @ X.sum(1),
    "first row": X - X[0],
    "difference": X[1:] - X[:-1],
    "scan": running(lambda row, total: total + row.sum()),
    "counts": Y - Y.sum(),
    "mean of draws": pt.random.shared_rng(np.random.default_rng(1)).normal(
        X[:, 0], size=(5, X.shape[0])
    )[1].mean(axis=1),
}
SEPARATE = {
    "rows": pt.exp(X) @ WEIGHTS + X[:, :1] * 2,
    "sum of each": (X**2).sum(axis=-1, keepdims=True),
    "softmax of each": pt.special.softmax(X, axis=1),
    "order of each": pt.sort(X, axis=1)[:, ::-1],
    "topk of each": pt.topk(X, 2, axis=1)[0],
    "taken by order": pt.take_along_axis(X, pt.argsort(X, axis=1), axis=1),
    "picked by label": X[pt.arange(X.shape[0]), Y],
    "largest windows": pt.nn.adaptive_max_pool1d(X[:, None], 2),
    "unpooled": pt.nn.max_unpool1d(*pt.nn.max_pool1d(X[:, None], 2, return_indices=True), 2),
    "lookup": WEIGHTS[Y] + X[:, None, 0],
    "stacked": pt.stack([X[:, 0], X[:, 1]], axis=1).reshape((-1, 2, 1)),
    "joined": pt.concatenate([X, X * 2], axis=1),
    "noise": pt.random.shared_rng(np.random.default_rng(1)).normal(X[:, 0], size=X.shape[:1])[1],
    "checked": Assert("positive")(X, (X > 0).all()) + pt.specify_shape(X, (None, 3)),
    "as long": pt.zeros((X.shape[0],)) + X.shape[1],
    "map": pytensor.map(lambda row: row.sum(), X, return_updates=False),
}


@pytest.mark.parametrize("case", MIXED)
def test_mixed(case):
    found = find_mixed_rows([MIXED[case]], {X: "x", Y: "y"})
    assert found.nodes, case
    assert f"over the rows of '{'y' if case == 'counts' else 'x'}'" in str(found)


@pytest.mark.parametrize("case", SEPARATE)
def test_separate(case):
    found = find_mixed_rows([SEPARATE[case]], {X: "x", Y: "y"})
    assert not found.nodes, str(found)
    assert not found.ends


@pytest.mark.slow
def test_operators_that_mix_rows():
    """Of the catalogue. Results show the same where one row of the data is moved, except for the
    gradient of a broadcast, which sums rows unseen.
    """
    mixing = {
        "batch_norm, per activation", "batch_norm, training", "broadcast",
        "resize, first and last axis", "topk, 0",
    }  # fmt: skip
    found = set()
    for name, example in OPERATORS.items():
        inputs, outputs, _ = example.graph(known="some", order=0)
        if find_mixed_rows(outputs, {inputs[0]: "x"}).nodes:
            found.add(name)
    assert found == mixing


def test_rows_of_all_indices():
    """Of `X`, each at its own place, and of `Y`: both along the last axis of a wider index."""
    wide = X[pt.arange(X.shape[0]), pt.stack([Y, Y])]
    found = find_mixed_rows([wide], {X: "x", Y: "y"})
    assert not found.nodes
    assert found.rows[wide] == {1: {"x", "y"}}


def test_statistics_of_other_data():
    """Also of nested ones, and with the length of the other data."""
    centred = X - X.mean(axis=0)
    outputs = [centred / pt.sqrt((centred**2).mean(axis=0)), X.sum(axis=1)]
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(7, 3)), rng.normal(size=(2, 3))
    fixed = with_statistics_of(outputs, {X: pt.constant(old)})
    actual, sums = pytensor.function([X], fixed, mode="FAST_COMPILE")(new)
    np.testing.assert_allclose(actual, (new - old.mean(0)) / old.std(0))
    np.testing.assert_allclose(sums, new.sum(1))


def test_a_result_of_each_row_has_no_other():
    with pytest.raises(ValueError, match="has a result for each row"):
        with_statistics_of([pt.cumsum(X, axis=0)], {X: pt.constant(np.ones((2, 3)))})


def test_export_warns_of_an_axis_called_rows():
    centred = X - X.mean(axis=0)
    with pytest.warns(MixedRowsWarning, match="over the rows of 'x'"):
        export_onnx([X], [centred], dynamic_axes={"x": {0: "rows"}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_onnx([X], [centred], dynamic_axes={"x": {0: "N"}})
        export_onnx([X], [X.sum(axis=1)], dynamic_axes={"x": {0: "rows"}})
