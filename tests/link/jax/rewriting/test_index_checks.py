"""Arrays of indices that are compared with lengths on the host before a call, in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.conditional.op import ifelse
from pytensor.link.jax.parallel.prefetch import prefetch
from pytensor.link.jax.rewriting import checks_of
from pytensor.raise_op import Assert
from pytensor.tensor.extra_ops import to_one_hot

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402

TABLE = np.arange(12.0).reshape(4, 3)
X, IDS, SCALAR = pt.dmatrix("x"), pt.lvector("ids"), pt.lscalar("n")
LOG_P = pt.special.log_softmax(X, axis=1)
WEIGHTS = pytensor.shared(TABLE, name="weights")

# What indexes, indices that lie inside, and indices of which one is outside.
INDEXED = {
    "gather": (X[IDS], [0, -4, 3], [0, 4]),
    "gather below": (X[IDS], [0], [-5]),
    "of a shared variable": (WEIGHTS[IDS], [3], [4]),
    "labels": (-LOG_P[pt.arange(IDS.shape[0]), IDS].mean(), [0, 2, 1, 2], [0, -100, 1, 1]),
    "gradient of labels": (
        pt.grad(LOG_P[pt.arange(4), IDS].sum(), X),
        [0, 2, 1, 2],
        [0, 255, 1, 1],
    ),
    "take": (pt.take(X, IDS, axis=1), [0, -3], [3, 0]),
    "set": (X[IDS].set(1.0), [3], [4, 0]),
    "increment": (X[:, IDS].inc(1.0), [2, 2], [2, -4]),
    "one hot": (to_one_hot(IDS, 3), [0, 2], [0, 3]),
    "arithmetic": (X[IDS + 1], [2, -1], [3]),
    "padding": (X[pt.where(pt.eq(IDS, -100), 0, IDS)], [-100, 3], [-100, 4]),
    "other uses": (X[IDS].sum() + IDS.sum(), [3], [4]),
    "of a matrix": (X[IDS.reshape((2, -1))], [0, 1, 2, 3], [0, 1, 2, 4]),
    "of a part": (X[IDS[1:]], [7, 3], [0, 7]),
    "beside a single index": (X[IDS, SCALAR], [3], [4]),
    "of a length that an array has": (pt.arange(IDS[1:].max() + 1)[IDS], [0, 3], [4, 3]),
    "none": (X[IDS], [], [9]),
}


@pytest.mark.parametrize("name", INDEXED)
def test_an_index_outside_is_an_error(name):
    result, inside, outside = INDEXED[name]
    inputs, values = [X, IDS, SCALAR], [TABLE, np.array(inside, "int64"), 1]
    options = {"on_unused_input": "ignore"}
    f = pytensor.function(inputs, result, mode=jax_mode(), **options)
    reference = pytensor.function(inputs, result, mode="FAST_COMPILE", **options)
    np.testing.assert_allclose(f(*values), reference(*values))
    values[1] = np.array(outside)
    for function in (f, reference):
        with pytest.raises(IndexError, match="out of bounds"):
            function(*values)


BYTES, WIDE = pt.vector("bytes", dtype="int8"), pt.vector("wide", dtype="uint64")
# Indices that are computed, of which vector, and values of it that are inside and outside.
COMPUTED = {
    "a sum that overflows": (BYTES + np.int8(100), BYTES, [127], [1]),
    "what overflows on the way": (
        (BYTES + np.int8(100)).astype("int64") - 150, BYTES, [27, 20], [70],
    ),
    "a narrow type": (IDS.astype("int8"), IDS, [256, 258], [4, 256]),
    "an unsigned difference": (WIDE - np.uint64(1), WIDE, [1, 4], [5]),
    "a difference": (IDS - IDS[::-1], IDS, [90, 91], [90, 97]),
    "a choice": (pt.where(IDS < 0, 0, IDS), IDS, [-100, 3], [-100, 4]),
    "a condition": (IDS + (IDS > 0), IDS, [2, -1], [3]),
    "joined": (pt.concatenate([IDS, [0, 1]]), IDS, [3], [4]),
    "with a check of floats": (Assert()(IDS, pt.sum(X) > 0) + 1, IDS, [2], [3]),
    "the smallest for padding": (
        pt.where(pt.eq(BYTES, -128), 0, BYTES), BYTES, [-128, 3], [-128, 127],
    ),
    "next to padding": (pt.where(pt.eq(IDS, -100), 0, IDS), IDS, [-100, 0], [-100, -101]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Skipping Assert")
@pytest.mark.parametrize("name", COMPUTED)
def test_indices_that_are_computed_are_checked(name):
    index, ids, inside, outside = COMPUTED[name]
    x = pt.dvector("x")
    functions = [
        pytensor.function([x, ids, X], x[index], mode=mode, on_unused_input="ignore")
        for mode in (jax_mode(), "FAST_COMPILE")
    ]
    value = np.arange(30.0 if ids is BYTES else 4.0)
    inside = np.array(inside, ids.dtype)
    np.testing.assert_array_equal(*(f(value, inside, TABLE) for f in functions))
    for f in functions:
        with pytest.raises(IndexError, match="out of bounds"):
            f(value, np.array(outside, ids.dtype), TABLE)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint64"])
def test_indices_of_every_dtype(dtype):
    ids, one, x = pt.vector("ids", dtype=dtype), pt.scalar("one", dtype=dtype), pt.dvector("x")
    f = pytensor.function([x, ids, one], [x[ids], x[one], x[one:].sum()], mode=jax_mode())
    value = np.arange(40000.0)
    last = np.array(0 if dtype[0] == "u" else -1, dtype)
    several, single, tail = f(value, np.array([last, 5], dtype), last)
    assert several.tolist() == [value[last], 5]
    assert single == value[last]
    assert tail == value[last:].sum()
    with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 of x"):
        f(value[:100], np.array([5, 100], dtype), last)


def test_a_shared_variable_of_indices():
    ids = pytensor.shared(np.array([0, 3]), name="ids")
    f = pytensor.function([X], X[ids].sum(), updates={ids: ids + 0}, mode=jax_mode(donate=True))
    assert f(TABLE) == TABLE[[0, 3]].sum()
    ids.set_value(np.array([0, 4]))
    with pytest.raises(IndexError, match=r"index 4 .* axis 0 of x, which has 4 elements"):
        f(TABLE)
    np.testing.assert_array_equal(ids.get_value(), [0, 4])  # and nothing was updated


def test_what_the_device_has_is_not_waited_for():
    f = pytensor.function([X, IDS], X[IDS].sum(), mode=jax_mode(), trust_input=True)
    assert f(TABLE, jax.numpy.array([9])) == TABLE[3].sum()
    with pytest.raises(IndexError):
        f(TABLE, np.array([9]))


def test_prefetch_checks_before_it_puts():
    f = pytensor.function([X, IDS], X[IDS].sum(), mode=jax_mode(), trust_input=True)
    batches = [(TABLE, np.array([k])) for k in (3, 4)]
    ahead = prefetch(batches, function=f)
    assert f(*next(ahead)) == TABLE[3].sum()
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        next(ahead)


def test_a_branch_that_is_not_taken_is_not_checked():
    result = ifelse(X.shape[0] > 4, X[IDS].sum(), X.sum())
    f = pytensor.function([X, IDS], result, mode=jax_mode(), on_unused_input="ignore")
    assert f(TABLE, [9]) == TABLE.sum()


def test_checks_can_be_switched_off():
    f = pytensor.function([X, IDS], X[IDS].sum(), mode=jax_mode(check_indices=False))
    assert checks_of(f.maker.fgraph) is None
    assert f(TABLE, [9]) == TABLE[3].sum()


@pytest.mark.parametrize("result", [X[[0, 1]], X[pt.arange(X.shape[0])], X[X > 1].sum(), X[1:]])
def test_other_graphs_have_no_checks(result):
    f = pytensor.function([X], result, mode=jax_mode())
    assert checks_of(f.maker.fgraph) is None
