"""Graphs of models whose sizes and bounds are known at run time: values and gradients."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Skipping"),  # checks of what is on the device
]

X, P = pt.vector("x"), pt.matrix("p")
N, LENGTHS, OBSERVED = pt.lscalar("n"), pt.lvector("lengths"), pt.lvector("observed")
TEN = np.random.default_rng(0).normal(size=10)
TRANSITIONS = np.random.default_rng(1).dirichlet(np.ones(3), size=3)
SEEN = np.array([0, 1, 2, 1, 0, 2])


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


def batches_of_a_shared_size():
    size = pytensor.shared(np.int64(4), "size")
    batch = X[N * size : (N + 1) * size]
    return [X, N], [batch, (batch**2).mean(), batch.shape[0]], [(TEN, 0), (TEN, 2), (TEN, 1)]


def lower_triangle():
    rows, columns = pt.nonzero(pt.tri(N))
    root = pt.zeros((N, N))[rows, columns].set(X[: N * (N + 1) // 2])
    return [X, N], [root @ root.T], [(TEN, 3), (TEN, 4)]


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
    hidden_markov_model, ragged_rows, sums_of_slices, batches_of_a_shared_size, lower_triangle,
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
    mode = jax_mode()
    for values in calls:
        compare_jax_and_py(inputs, outputs, values, jax_mode=mode, py_mode="FAST_COMPILE")
