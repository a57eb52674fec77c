"""Graphs of models whose sizes, bounds and masks are known at run time: values and gradients."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Skipping"),  # checks of what is on the device
]

X, Y, P = pt.vector("x"), pt.vector("y"), pt.matrix("p")
N, LENGTHS, OBSERVED = pt.lscalar("n"), pt.lvector("lengths"), pt.lvector("observed")
M = pt.vector("m", dtype="bool")
TEN = np.random.default_rng(0).normal(size=10)
TRANSITIONS = np.random.default_rng(1).dirichlet(np.ones(3), size=3)
SEEN = np.array([0, 1, 2, 1, 0, 2])


def gaussian_process():
    t = pt.arange(N)[:, None] / N
    kernel = pt.exp(-(((t - t.T) / X[0]) ** 2)) + 1e-3 * pt.eye(N)
    root = pt.linalg.cholesky(kernel)
    white = pt.linalg.solve_triangular(root, Y[:N], lower=True)
    density = -(white**2).sum() / 2 - pt.log(pt.diag(root)).sum()
    return [X, Y, N], [density], [(TEN, TEN, 4), (TEN, TEN, 7)]


def hidden_markov_model():
    def step(seen, alpha, p):
        alpha = (alpha @ p) * p[:, seen]
        return alpha / alpha.sum(), pt.log(alpha.sum())

    alpha, densities = pytensor.scan(
        step, sequences=[OBSERVED[:N]], outputs_info=[pt.ones(3) / 3, None], non_sequences=[P],
        return_updates=False,
    )  # fmt: skip
    calls = [(TRANSITIONS, SEEN, 4), (TRANSITIONS, SEEN, 6)]
    return [P, OBSERVED, N], [densities.sum(), alpha[-1]], calls


def autoregression():
    path = pytensor.scan(
        lambda before, last, r: r[0] * last + r[1] * before, non_sequences=[Y], n_steps=N,
        outputs_info=[{"initial": X[:2], "taps": [-2, -1]}], return_updates=False,
    )  # fmt: skip
    return [X, Y, N], [path], [(TEN, TEN, 4), (TEN, TEN, 1)]


def imputation():
    full = pt.set_subtensor(pt.zeros(X.shape)[~M], X[~M])
    full = pt.set_subtensor(full[M], Y[: M.sum()])
    return [X, Y, M], [full, X[M] - Y[: M.sum()]], [(TEN, TEN, TEN > 0), (TEN, TEN, TEN > 1)]


def ragged_rows():
    first = pt.cumsum(LENGTHS) - LENGTHS
    row = pt.repeat(pt.arange(LENGTHS.shape[0]), LENGTHS)
    sums = pt.zeros(LENGTHS.shape[0])[row].inc(X[: LENGTHS.sum()])
    return [X, LENGTHS], [sums, X[first], sums[row]], [(TEN, [2, 3, 5]), (TEN, [4, 4])]


def sums_of_slices():
    stop = pt.cumsum(LENGTHS)
    sums = pytensor.scan(
        lambda start, stop, x: x[start:stop].sum(), sequences=[stop - LENGTHS, stop],
        non_sequences=[X], return_updates=False,
    )  # fmt: skip
    return [X, LENGTHS], [sums], [(TEN, [2, 3, 5]), (TEN, [1, 0, 4])]


def parts():
    three = pt.split(X, LENGTHS, n_splits=3)
    return [X, LENGTHS], [*three, pt.concatenate(three[::-1])], [(TEN, [2, 3, 5]), (TEN, [6, 0, 4])]


def batches_of_a_shared_size():
    size = pytensor.shared(np.int64(4), "size")
    batch = X[N * size : (N + 1) * size]
    return [X, N], [batch, (batch**2).mean(), batch.shape[0]], [(TEN, 0), (TEN, 2), (TEN, 1)]


def blocks_of_a_convolution():
    blocks = pytensor.scan(
        lambda i, x, w: (x[i : i + 3] * w[:3]).sum(), sequences=[pt.arange(N)],
        non_sequences=[X, Y], return_updates=False,
    )  # fmt: skip
    return [X, Y, N], [blocks], [(TEN, TEN, 8), (TEN, TEN, 3)]


def lower_triangle():
    rows, columns = pt.nonzero(pt.tri(N))
    root = pt.zeros((N, N))[rows, columns].set(X[: N * (N + 1) // 2])
    return [X, N], [root @ root.T], [(TEN, 3), (TEN, 4)]


def change_point():
    level = pt.concatenate([pt.full(N, X[0]), pt.full(X.shape[0] - N, X[1])])
    return [X, N], [level, pt.diff(X)[N:], X[N:] - X[:-N]], [(TEN, 3), (TEN, 8)]


def seasons():
    terms = 2 * np.pi * pt.arange(X.shape[0])[:, None] / 7 * pt.arange(1, N + 1)
    waves = pt.concatenate([pt.sin(terms), pt.cos(terms)], axis=1) @ Y[: 2 * N]
    return [X, Y, N], [waves + pt.tile(Y[:N], 10)[:10]], [(TEN, TEN, 2), (TEN, TEN, 4)]


def largest():
    return [X, N], [pt.sort(X)[-N:], X[pt.argsort(X)[:N]], pt.roll(X, N)], [(TEN, 3), (TEN, 6)]


def groups_of_the_data():
    member = pt.eq(OBSERVED[:, None], pt.arange(OBSERVED.max() + 1)).astype("float64")
    calls = [(TEN, SEEN), (TEN, [0, 4])]
    return [X, OBSERVED], [member.T @ X[: OBSERVED.shape[0]], X[pt.unique(OBSERVED)]], calls


def until_it_is_small():
    last = pytensor.scan(
        lambda v, x: (v / 2 + x[0] ** 2, until(v < 0.1)), outputs_info=[X[1]],
        non_sequences=[X], n_steps=N, return_updates=False,
    )[-1]  # fmt: skip
    return [X, N], [last], [(TEN, 40), (TEN, 3)]


MODELS = [
    gaussian_process, hidden_markov_model, autoregression, imputation, ragged_rows, sums_of_slices,
    parts, batches_of_a_shared_size, blocks_of_a_convolution, lower_triangle, change_point, seasons,
    largest, groups_of_the_data, until_it_is_small,
]  # fmt: skip


@pytest.mark.by_default("largest")
@pytest.mark.parametrize("model", MODELS)
def test_models(model):
    inputs, outputs, calls = model()
    if model is not until_it_is_small:  # its gradient needs the number of steps
        total = sum((out.astype("float64") ** 2).sum() for out in outputs)
        floats = [v for v in inputs if v.type.dtype == "float64"]
        outputs = [*outputs, *pytensor.grad(total, floats, disconnected_inputs="ignore")]
    reference, f = (
        pytensor.function(inputs, outputs, mode=mode) for mode in ("FAST_COMPILE", jax_mode())
    )
    for values in calls:
        for actual, expected in zip(f(*values), reference(*values), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-10)
            assert np.asarray(actual).dtype == expected.dtype
