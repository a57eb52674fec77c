"""Sizes that are known at run time: lengths that depend on integers of inputs."""

import warnings

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py, no_compilation

pytest.importorskip("jax")

import jax

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.replace import vectorize_graph
from pytensor.link.jax import jax_mode
from tests.link.jax.mode.store.stored import programs

MODE = jax_mode()
X, M = pt.vector("x"), pt.matrix("m")
N, V = pt.lscalar("n"), pt.lvector("v")
SIX = np.arange(6.0) + 1


def rows(result, integers, vectors=None):
    """Return a result of N, and of X, for each of several integers, and vectors."""
    given = {N: integers} if vectors is None else {N: integers, X: vectors}
    return vectorize_graph(result, given)


# Inputs, outputs, and arguments of several calls.
GRAPHS = {
    "arange": lambda: ([N], [pt.arange(N) * 2.5], [(4,), (0,), (7,)]),
    "arange of a step": lambda: ([N], [pt.arange(N, 3 * N, N - 1)], [(3,), (2,)]),
    "zeros": lambda: ([N], [pt.zeros((N, 2)) + N], [(4,), (2,)]),
    "alloc": lambda: ([X, N], [pt.alloc(X, N // 2, X.shape[0])], [(SIX, 4), (SIX, 5)]),
    "eye": lambda: ([N], [pt.eye(N, N + 1)], [(3,), (1,)]),
    "reshape": lambda: ([X, N], [X.reshape((N, -1)) * N], [(SIX, 2), (SIX, 3)]),
    "reshape by a vector": lambda: ([X, V], [X.reshape(V, ndim=2)], [(SIX, [2, 3]), (SIX, [6, 1])]),
    "repeat": lambda: ([X, N], [X.repeat(N)], [(SIX, 2), (SIX, 0)]),
    "repeat by a vector": lambda: ([X, V], [X.repeat(V)], [(SIX[:3], [1, 0, 4])]),
    "split": lambda: ([X, V], pt.split(X, V, n_splits=2), [(SIX, [2, 4]), (SIX, [0, 6])]),
    "split in two": lambda: (
        [X, N], pt.split(X, [N, X.shape[0] - N], n_splits=2), [(SIX, 2), (SIX, 5)],
    ),
    "slice": lambda: ([X, N], [X[:N] * 2, X[N:]], [(SIX, 2), (SIX, 9), (SIX, -2)]),
    "write": lambda: ([X, N], [pt.set_subtensor(X[N:], 1.0)], [(SIX, 2)]),
    "tile": lambda: ([X, N], [pt.tile(X, N)], [(SIX, 2)]),
    "linspace": lambda: ([N], [pt.linspace(0, 1, N)], [(5,)]),
    "pad": lambda: ([X, N], [pt.pad(X, N)], [(SIX, 2)]),
    "as many as the largest": lambda: (
        [X, V], [pt.zeros(V.max() + 1)[V] + X], [(SIX[:3], [0, 2, 1]), (SIX[:3], [0, 4, 1])],
    ),
    "mask of integers": lambda: (
        [X, N], [X[pt.eq(pt.arange(X.shape[0]) % N, 0)]], [(SIX, 2), (SIX, 4)],
    ),
    "indices of integers": lambda: ([X, V], [X[pt.nonzero(V)[0]]], [(SIX, [0, 1, 1, 0, 1, 0])]),
    "mean of groups": lambda: ([X, N], [X.reshape((-1, N)).mean(1).repeat(N) - X], [(SIX, 2)]),
    "beside an inner length": lambda: (
        [M, N], [pt.zeros(pt.cumsum(M, 0)[1:].T.shape[1] + N) + M.sum()], [(np.ones((3, 2)), 2)],
    ),
    "half of it": lambda: ([N], [pt.zeros(pt.ceil(N / 2).astype("int64"))], [(3,), (4,)]),
    "a batch of starts": lambda: ([V], [rows(pt.arange(N, N + 3), V)], [([5, 5],), ([7, 1, 2],)]),
    "a batch of lengths": lambda: (
        [V, X], [rows((pt.arange(N) * X[:N]).sum(), V)], [([2, 2], SIX), ([3], SIX)],
    ),
    "a batch of windows": lambda: (
        [V, M], [rows(X[N : N + 2], V, M)],
        [([0, 1], SIX.reshape(2, 3)), ([1, 1], SIX.reshape(2, 3))],
    ),
    "specified": lambda: ([X, N], [pt.specify_shape(X, (N,)) * 2], [(SIX, 6)]),
}  # fmt: skip


@pytest.mark.by_default(
    "zeros", "reshape by a vector", "indices of integers", "a batch of starts", "specified"
)  # fmt: skip
@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_values_and_gradients(name):
    inputs, outputs, calls = GRAPHS[name]()
    total = sum((out.astype("float64") ** 2).sum() for out in outputs)
    floats = [v for v in inputs if v.type.dtype == "float64"]
    outputs = [*outputs, *(pytensor.grad(total, floats) if floats else [])]
    for values in calls:
        compare_jax_and_py(inputs, outputs, values, jax_mode=MODE, py_mode="FAST_COMPILE")


def programs_of(f):
    return f.vm.jit_fn._programs


def test_shared_integers():
    """What plain mode JAX takes, too; a new value makes a new program."""
    s = pytensor.shared(np.int64(2), "s")
    f = pytensor.function([X], X.reshape((s, -1)) * s, mode=jax_mode())
    assert f(SIX).shape == (2, 3)
    s.set_value(np.int64(3))
    np.testing.assert_array_equal(f(SIX), SIX.reshape(3, 2) * 3)
    s.set_value(np.int64(2))
    assert f(SIX).shape == (2, 3)
    assert len(programs_of(f)) == 2


def test_few_values_make_few_programs():
    """The number of the program is what the length is, not what it is computed from."""
    f = pytensor.function([X, N], X[: (N // 4) * 4].sum() + N, mode=jax_mode())
    for n in (4, 5, 6, 7):
        assert f(np.ones(9), n) == 4 + n
    assert len(programs_of(f)) == 1


def test_an_array_that_only_decides_a_length_is_no_argument():
    v = pt.lvector("v")
    f = pytensor.function([X, v], X[: v.max()].sum(), mode=jax_mode())
    assert f(np.ones(9), [2]) == f(np.ones(9), [1, 2]) == 2
    (program,) = programs_of(f).values()
    assert getattr(program, "jitted", program)._cache_size() == 1


@pytest.mark.by_default("int32-65536")
@pytest.mark.parametrize(("dtype", "value"), [("int8", 100), ("int32", 2**16)])
def test_a_size_overflows_as_its_dtype(dtype, value):
    """It is a number of Python's in the program, which has no dtype."""
    n = pt.scalar("n", dtype=dtype)
    more = n + np.asarray(value, dtype)
    outputs = [pt.zeros(n, dtype="int8"), more, more // np.asarray(7, dtype), n * n * n * n]
    compare_jax_and_py([n], outputs, [np.asarray(value, dtype)], jax_mode=MODE)


@pytest.mark.by_default("uint16")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32"])
def test_a_length_within_an_inner_graph_has_any_dtype(dtype):
    """Integers of Python's go in, and nodes there are computed by PyTensor, which wants its own."""
    n, pair = pt.scalar("n", dtype=dtype), pt.vector("pair", dtype="int8")
    inner = OpFromGraph([X, n, pair], [X[: pt.minimum(n * 2, 5)], X.reshape((pair[0], pair[1]))])
    values = [SIX, np.asarray(2, dtype), np.array([2, 3], "int8")]
    compare_jax_and_py([X, n, pair], inner(X, n, pair), values, jax_mode=MODE)


def test_rows_of_different_lengths_are_refused():
    f = pytensor.function([V], rows(pt.eye(N), V), mode=MODE)
    np.testing.assert_array_equal(f([2, 2]), [np.eye(2)] * 2)
    with pytest.raises(ValueError, match=r"of the shapes \(2, 2\) and \(3, 3\) in one batch"):
        f([2, 3])


@pytest.mark.slow
def test_updated_size():
    n = pytensor.shared(np.int64(1), "n")
    for donate in (False, True):
        n.set_value(np.int64(1))
        f = pytensor.function([], pt.arange(n), updates={n: n + 2}, mode=jax_mode(donate=donate))
        assert [len(f()) for _ in range(3)] == [1, 3, 5]
        assert n.get_value() == 7


@pytest.mark.by_default("True")
@pytest.mark.slow
@pytest.mark.parametrize("donate", [False, True])
def test_values_that_do_not_repeat_are_warned_about(donate, monkeypatch):
    from pytensor.link.jax.mode import programs_by_size as sizes

    monkeypatch.setattr(sizes, "MANY", 3)
    weights = pytensor.shared(np.zeros(3), "weights")
    outputs, updates = pt.zeros(N) + weights.sum(), {weights: weights + 1}
    f = pytensor.function([N], outputs, updates=updates, mode=jax_mode(donate=donate))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (0, 1, 0, 1, 0, 2):
            f(n)
    f = pytensor.function([N], outputs, updates=updates, mode=jax_mode(donate=donate))
    for n in range(2):
        assert f(n).shape == (n,)
    with pytest.warns(UserWarning, match=r"3 programs .* in 3 calls.* on n \(3 values\)"):
        f(2)


def test_the_oldest_program_is_dropped(monkeypatch):
    from pytensor.link.jax.mode import programs_by_size as sizes

    monkeypatch.setattr(sizes, "MAX_PROGRAMS", 2)
    f = pytensor.function([N], pt.arange(N), mode=jax_mode())
    for n in (1, 2, 1, 3, 1):
        assert len(f(n)) == n
    assert list(programs_of(f)) == [(3,), (1,)]


def test_sizes_of_known_integers_and_shapes_are_remembered(monkeypatch):
    from pytensor.link.jax.mode import programs_by_size as sizes

    monkeypatch.setattr(sizes, "MAX_READINGS", 2)
    computed, compute = [], sizes.HostSizes._sizes
    monkeypatch.setattr(
        sizes.HostSizes, "_sizes", lambda *args: computed.append(1) or compute(*args)
    )
    f = pytensor.function([X, N], X[: X.shape[0] // N].sum(), mode=MODE)
    calls = [(SIX, 2), (SIX, 2), (SIX[:4], 2), (SIX, 2), (SIX, 3), (SIX, 3)]
    assert [f(*args) for args in calls] == [6, 6, 3, 6, 3, 3]
    assert len(computed) == 3


def test_a_size_that_was_there_before_compiles_nothing():
    f = pytensor.function([X, N], X.reshape((N, -1)).sum(0), mode=jax_mode())
    f(SIX, 2), f(SIX, 3)
    with no_compilation():
        np.testing.assert_array_equal(f(SIX, 2), [5, 7, 9])
        np.testing.assert_array_equal(f(SIX, 3), [9, 12])


@pytest.mark.parametrize("donate", [False, True])
def test_programs_of_all_sizes_are_kept(folder, donate):
    def start(lengths):
        s, w = pytensor.shared(np.int64(2), "s"), pytensor.shared(SIX, "w")
        mode = jax_mode(keep_programs=True, donate=donate)
        f = pytensor.function([], w.reshape((s, -1)).sum(0), updates={w: w + 1}, mode=mode)
        results = []
        for length in lengths:
            s.set_value(np.int64(length))
            results.append(f())
        return results

    first = start([2, 3, 2])
    kept = programs(folder)
    assert len(kept) == 2
    with no_compilation():
        again = start([2, 3, 2])
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert programs(folder) == kept


def test_the_last_sizes_are_taken_for_shapes_alone():
    f = pytensor.function([X, N], X.reshape((N, -1)), mode=jax_mode())
    shapes = jax.ShapeDtypeStruct((6,), float), jax.ShapeDtypeStruct((), int)
    with pytest.raises(ValueError, match="Call the function first: its program depends on n"):
        f.vm.jit_fn.lower(*shapes)
    f(SIX, 3)
    assert "-> (tensor<3x2xf64>" in f.vm.jit_fn.lower(*shapes).as_text()


def test_an_array_that_decides_a_length_may_be_changed_in_place():
    f = pytensor.function([X, V], X.repeat(V), mode=jax_mode(), trust_input=True)
    counts, two = np.array([1, 2]), SIX[:2]
    assert len(f(two, counts)) == 3
    counts[0] = 4
    assert len(f(two, counts)) == 6
    # The first program, which is traced again for another dtype.
    assert len(f(two.astype("float32"), np.array([1, 2]))) == 3


UNKNOWN = {
    "arange": (pt.arange(X.sum()), "ARange: .* from 'x'.*freeze_dims_and_data"),
    "slice beside indices": (
        M[[0, 1], : X.sum().astype("int64")],
        "Subtensor: .* from 'x', .* Compute the bounds from",
    ),
    "reshape": (
        M.reshape((X.sum().astype("int64"), 4)),
        "Reshape: .* from 'x'.* Have it follow from numbers",
    ),
    "size": (pt.zeros(pt.random.shared_rng(seed=1).poisson(2.0)[1]), "Alloc: .* by PoissonRV"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_length_that_the_device_computes_is_refused(name):
    out, message = UNKNOWN[name]
    with pytest.raises(NotImplementedError, match=message) as error:
        pytensor.function([X, M], out, mode=jax_mode(), on_unused_input="ignore")
    assert str(error.value).endswith("or compile with mode NUMBA or ONNX.")


def test_the_refusal_names_what_is_around():
    start = pt.constant(np.int64(0))
    out = pytensor.scan(
        lambda i, s: pt.arange(i + s).sum(),
        sequences=[V],
        outputs_info=[start],
        return_updates=False,
    )
    with pytest.raises(NotImplementedError, match=r"ARange within Scan: .* from 'v'"):
        pytensor.function([V], out, mode=jax_mode())
