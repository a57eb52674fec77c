"""Numbers of 64 bits where floatX is float32, and graphs whose programs have none."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402
from pytensor.link.jax.parallel.prefetch import prefetch  # noqa: E402
from pytensor.link.jax.parallel.sharding import data_parallel_mesh, replicate, shard_batch  # noqa: E402

pytestmark = pytest.mark.usefixtures("float32_everywhere")

IDS, COUNTS, TIMES = pt.lvector("ids"), pt.ivector("counts"), pt.dvector("times")
X = pt.fvector("x")
LARGE = np.array([9_876_543_210, 9_876_543_211])
COUNTED = np.full(3, 2**30, "int32")
SECONDS = np.array([1.7e9, 1.7e9 + 0.25])
FLOATS = np.array([1.5, -2], "float32")


def sums_of(x, dtype):
    """Return cumulative sums by a loop."""
    start = pt.zeros((), dtype)
    return pytensor.scan(lambda a, s: a + s, [x], [start], return_updates=False)


# A result, its argument, and the right values.
WIDE = {
    "large ids": (IDS % 1000, LARGE, [210, 211]),
    "unsigned": (pt.lvector("ids").astype("uint64"), LARGE, LARGE),
    "sum of int32": (COUNTS.sum() % 1000, COUNTED, 3 * 2**30 % 1000),
    "sum of int32, returned": (COUNTS.sum(), COUNTED, 3 * 2**30),
    "product": (COUNTS.astype("int64") * COUNTS % 11, COUNTED, [2**60 % 11] * 3),
    "seconds": ((TIMES - TIMES[0]).astype("float32"), SECONDS, [0, 0.25]),
    "mean of integers": (pt.eq(IDS.mean(), LARGE.mean()), LARGE, True),
    "large constant": (X * 2**40, FLOATS, FLOATS * 2.0**40),
    "from floats": ((X * 1e10).astype("int64"), FLOATS, [15_000_000_000, -20_000_000_000]),
    "compared": (pt.eq(IDS, 9_876_543_210), LARGE, [True, False]),
    "maximum": (IDS.max(), LARGE, LARGE[1]),
    "scan": (sums_of(IDS, "int64"), LARGE, np.cumsum(LARGE)),
}  # fmt: skip


def argument(result):
    (x,) = pytensor.graph.traversal.explicit_graph_inputs([result])
    return x


@pytest.mark.parametrize("name", WIDE)
def test_numbers_keep_their_bits(name):
    result, value, right = WIDE[name]
    f = pytensor.function([argument(result)], result, mode=jax_mode())
    got = f(value)
    np.testing.assert_allclose(got, right, rtol=1e-7)
    assert got.dtype == result.type.dtype


@pytest.mark.parametrize("donate", [False, True])
def test_a_counter_and_results_that_are_computed_with(donate):
    count, mode = pytensor.shared(np.int64(2**31 - 2)), jax_mode(donate=donate)
    step = pytensor.function([IDS], IDS.max(), updates={count: count + 1}, mode=mode)
    for _ in range(3):
        assert step([2**30, 3]) * 4 == 2**32
    assert count.get_value() == 2**31 + 1
    assert count.get_value() * 2 == 2**32 + 2


def test_a_program_on_disk(folder):
    for _ in range(2):
        f = pytensor.function([IDS], IDS % 1000, mode=jax_mode(keep_programs=True))
        assert f(LARGE).tolist() == [210, 211]
    assert f.maker.deferred


def test_lengths_that_decide_a_program():
    n = pt.lscalar("n")
    f = pytensor.function([n, IDS], pt.arange(n) + IDS[0], mode=jax_mode())
    assert f(2, LARGE).tolist() == [LARGE[0], LARGE[0] + 1]


def test_batches_that_are_put_ahead():
    f = pytensor.function([IDS], IDS % 1000, mode=jax_mode(), trust_input=True)
    assert [f(*batch).tolist() for batch in prefetch([[LARGE]])] == [[210, 211]]
    mesh, large = data_parallel_mesh(), pytensor.shared(LARGE)
    assert f(*shard_batch([LARGE], mesh)).tolist() == [210, 211]
    replicate([large], mesh)
    g = pytensor.function([], large % 1000, mode=jax_mode())
    assert g().tolist() == [210, 211]


TABLE = pt.fmatrix("table")
SCORES = pt.special.log_softmax(TABLE, axis=1)
# Lengths, positions and indices alone have 64 bits here.
NARROW = {
    "mean": X.mean(),
    "variance": X.var(),
    "gather": TABLE[IDS].sum(),
    "cross entropy": pt.grad(-SCORES[pt.arange(IDS.shape[0]), IDS].mean(), TABLE),
    "position": TABLE[pt.arange(TABLE.shape[0]), TABLE.argmax(axis=1)],
    "share": pt.eq(TABLE.argmax(axis=1), 1).mean(dtype="float32"),
    "best": pt.topk(TABLE, 2)[0],
    "layer norm": pt.nn.layer_norm(TABLE, TABLE.type.shape[-1:] if TABLE.type.shape[1] else 3),
    "lengths": X.reshape((2, X.shape[0] // 2)).sum(axis=0),
    "scan": sums_of(X, "float32")[-1],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype int64:UserWarning")
@pytest.mark.parametrize("name", NARROW)
def test_programs_without_such_numbers_have_none(name):
    inputs = list(pytensor.graph.traversal.explicit_graph_inputs([NARROW[name]]))
    f = pytensor.function(inputs, NARROW[name], mode=jax_mode())
    values = {TABLE: np.ones((2, 3), "float32"), IDS: np.array([1, 0]), X: np.ones(4, "float32")}
    values = [values[v] for v in inputs]
    assert np.isfinite(f(*values)).all()
    program = f.vm.jit_fn.lower(*values).as_text()
    assert "xi64>" not in program
    assert "f64" not in program
