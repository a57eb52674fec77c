"""Slices that run time moves, and single indices, in `jax_mode`."""

from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import ifelse
from pytensor.graph.traversal import ancestors
from pytensor.link.jax.rewriting import checks_of
from pytensor.link.jax.rewriting.host_checks import WindowCheck
from tests.utils import compare_jax_and_py, no_compilation

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402

N, M, SMALL = pt.lscalar("n"), pt.lscalar("m"), pt.scalar("small", dtype="int8")
X, Y = pt.vector("x", dtype="float64"), pt.matrix("y", dtype="float64")
LENGTH, BOUNDS = X.shape[0], pt.lvector("bounds")
TEN = np.arange(10.0) ** 2
TABLE = np.random.default_rng(0).normal(size=(6, 7))


@pytest.mark.by_default("1", "2", "-1", "-2")
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -3])
def test_a_window_lies_inside_where_numpy_has_all_of_its_elements(step):
    for difference, start, length in product(range(-5, 6), range(-9, 10), range(7)):
        check = WindowCheck((), 0, difference, step)
        of_numpy = list(range(length))[start : start + difference : step]
        inside = check.holds(start, start + difference, length)
        first = start + length if start < 0 else start
        window = [*range(first, first + difference, step)]
        # Where one bound alone is counted from the end, they may be equal all the same.
        if inside or (window and (start < 0) == (start + difference < 0)):
            assert inside == (of_numpy == window)
        if inside and window:
            lowest = check.lowest(first)
            assert window == list(range(lowest, lowest + check.span))[::step]


# What reads a window, and values for which it lies inside, the last ones counted from the end.
WINDOWS = {
    "blocks": (X[N * 3 : (N + 1) * 3], (0, 1, 2)),
    "of four": (X[N : N + 4], (0, 6, -10, -5)),
    "descending": (X[N + 4 : N : -1], (0, 5, -6)),
    "every second": (X[N : N + 5 : 2], (0, 5, -10, -6)),
    "every second, descending": (X[N + 5 : N : -2], (0, 4, -11, -7)),
    "the end is cut, no element is": (X[N : N + 4 : 2], (7,)),
    "before": (X[N - 3 : N], (3, 10, -1)),
    "one": (X[N : N + 1], (0, 9, -2)),
    "none": (X[N:N], (0, 3, 20, -3)),
    "of a result": (pt.exp(-X)[1:][N : N + 3], (0, 6)),
    "of a sum": ((X + X[1:].max() * X**2)[N : N + 3], (0, 7)),
    "of two joined": (pt.concatenate([X, X[:3], X.reshape((2, -1))[0]])[N : N + 3], (0, 15)),
    "of a window": (X[N : N + 6][N : N + 2], (0, 4)),
    "int8": (X[SMALL * 2 : (SMALL + 1) * 2], (0, 4)),
    "int8 overflows": (X[SMALL * 2 : SMALL * 2 + 2], (1, 125)),
    "quotients": (X[(N + 2) // 4 : (N + 10) // 4], (0, 5, 31)),
    "polynomials": (X[N * N - 4 * N : N * (N - 4) + 2], (4, 5)),
    "cut at the end of the array": (X[N : pt.minimum(N + 4, LENGTH)], (0, 6)),
    "the number is in a vector": (X[BOUNDS[1] : BOUNDS[1] + 3], ([0, 7], [9, 2])),
}


@pytest.mark.by_default("the end is cut, no element is", "quotients", "int8 overflows")
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    """Values and gradients, and no more compilation for another place."""
    window, places = WINDOWS[name]
    read = set(ancestors([window]))
    number = next(v for v in (N, SMALL, BOUNDS) if v in read)
    outputs = [window, window.sum(), pt.grad((window**3).sum(), X), window.shape[0]]
    mode = jax_mode()
    for k, place in enumerate(places):
        with nullcontext() if k == 0 else no_compilation():
            compare([X, number], outputs, [TEN, np.array(place, number.type.dtype)], mode)


def compare(inputs, outputs, values, mode):
    compare_jax_and_py(inputs, outputs, values, jax_mode=mode, py_mode="FAST_COMPILE")


WRITTEN = {
    "set": pt.set_subtensor(Y[N : N + 2], Y[:2] * 2),
    "set a number": pt.set_subtensor(Y[N : N + 2, 1:], 3.0),
    "inc": pt.inc_subtensor(Y[1, N * 2 : N * 2 + 2], Y[0, N : N + 2]),
    "two axes": pt.inc_subtensor(Y[N : N + 2, N + 3 : N : -1], Y[:2, :3]),
    "beside a vector": pt.inc_subtensor(Y[N : N + 3, [1, 1, 4]], Y[:3, :3]),
    "beside an index": pt.set_subtensor(Y[N, N + 4 : N : -2], 0),
}


@pytest.mark.by_default("beside an index")
@pytest.mark.parametrize("name", WRITTEN)
def test_windows_are_written_to(name):
    written = WRITTEN[name]
    outputs = [written, pt.grad((written**2).sum(), Y)]
    compare_jax_and_py([Y, N], outputs, [TABLE, 1], jax_mode=jax_mode())


def test_windows_of_integers_are_written_to():
    x = pt.vector("x", dtype="int32")
    outputs = [pt.set_subtensor(x[N : N + 2], x[N + 2 : N : -1]), x[N : N + 2].sum()]
    compare_jax_and_py([x, N], outputs, [np.arange(6, dtype="int32"), 2], jax_mode=jax_mode())


# Windows, and values for which NumPy's slices have fewer elements, or none.
OUTSIDE = {
    "blocks": (X[N * 3 : (N + 1) * 3], (3, -1, -4, 7)),
    "of four": (X[N : N + 4], (7, 20, -1, -4, -11)),
    "descending": (X[N + 4 : N : -1], (6, -1, -12)),
    "before": (X[N - 3 : N], (2, 11)),
    "of a result": (pt.exp(-X)[N : N + 3], (8,)),
    "of a window": (X[N : N + 6][N : N + 3], (5, 9)),
    "written": (pt.set_subtensor(X[N : N + 4], 0), (7, 12)),
    "its own": (pt.inc_subtensor(X[N : N + 4], X[N : N + 4] * 2), (7,)),
    "another length for large numbers": (X[N : N + 3 + (N > 60)], (61, 8)),
    "a length that differs": (X[N : N + N % 2 + 1], (3, 9, 10)),
}


@pytest.mark.by_default("of a result", "a length that differs")
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_window_that_reaches_out_is_as_short_as_in_numpy(name):
    """Never moved; what is computed from its length is right, too."""
    window, places = OUTSIDE[name]
    outputs = [window, window.shape[0], window.sum(), pt.grad((window**3).mean(), X)]
    mode = jax_mode()
    for place in (0, *places, 1, places[0]):
        with np.errstate(all="ignore"):  # a mean of nothing
            compare([X, N], outputs, [TEN, place], mode)


def test_an_index_is_checked_before_a_window():
    f = pytensor.function([X, N], [X[N : N + 4].sum(), X[N - 1]], mode=jax_mode())
    assert f(TEN, 8)[0] == 64 + 81
    with pytest.raises(IndexError, match=r"index 11 is out of bounds .*\(given n = 12\)"):
        f(TEN, 12)


@pytest.mark.by_default("result0", "result2")
@pytest.mark.parametrize(
    "result",
    [X[N], pt.set_subtensor(X[N], 1.0), pt.inc_subtensor(X[N], 1.0), Y[0, N], Y[N, [0, 1]].sum()],
)
def test_a_single_index_out_of_bounds(result):
    x = X if X in ancestors([result]) else Y
    value = TEN[:6] if x is X else TABLE[:, :6]
    f = pytensor.function([x, N], result, mode=jax_mode())
    reference = pytensor.function([x, N], result, mode="FAST_COMPILE")
    for index in (5, -6):
        np.testing.assert_allclose(f(value, index), reference(value, index))
    for index in (6, -7):
        with pytest.raises(IndexError, match=f"index {index} is out of bounds"):
            f(value, index)


@pytest.mark.parametrize("result", [X[5], pt.set_subtensor(X[5], 1.0), X[[0, 5, 1]], X[X.shape[0]]])
def test_an_index_that_tracing_knows_costs_no_check(result):
    f = pytensor.function([X], result, mode=jax_mode())
    assert checks_of(f.maker.fgraph) is None
    with pytest.raises(IndexError, match=r"index \d is out of bounds for axis 0 of x"):
        f(TEN[:3])


@pytest.mark.by_default("5")
@pytest.mark.parametrize("index", [5, N])
def test_a_branch_that_is_not_taken_may_be_out_of_bounds(index):
    result = ifelse(X.shape[0] > 5, X[index], X[0])
    f = pytensor.function([X, N], result, mode=jax_mode(), on_unused_input="ignore")
    assert f(TEN[:3], 5) == 0
    assert f(TEN, 5) == 25


@pytest.mark.parametrize("start", [pt.argmax(X), pt.cast(X[0], "int64"), N + pt.isnan(X).sum()])
def test_bounds_that_the_device_computes_are_refused(start):
    message = r"Subtensor.*: .* the device computes, from .*write x\[start \+ pt.arange\(length\)\]"
    with pytest.raises(NotImplementedError, match=message):
        pytensor.function([X, N], X[start : start + 2], mode=jax_mode(), on_unused_input="ignore")


def test_windows_beside_a_slice_whose_bounds_decide_a_length():
    result = Y[N : N + 2, : N + 1]
    f = pytensor.function([Y, N], result, mode=jax_mode())
    for n in (0, 2, 5):
        np.testing.assert_array_equal(f(TABLE, n), TABLE[n : n + 2, : n + 1])


def within_an_op(x, n):
    return OpFromGraph([X, N], [X[N : N + 2]])(x, n)


def within_a_scan(x, n):
    return pytensor.scan(
        lambda i, x: x[i : i + 2].sum(), sequences=[pt.arange(n)], non_sequences=[x],
        return_updates=False,
    )  # fmt: skip


@pytest.mark.by_default("within_a_scan")
@pytest.mark.parametrize("make", [within_an_op, within_a_scan])
def test_slices_within_an_op_have_programs_of_their_own(make):
    result = make(X, N)
    outputs = [result, pt.grad((result**2).sum(), X)]
    mode = jax_mode()
    for n in (2, 9):
        compare([X, N], outputs, [TEN, n], mode)


@pytest.mark.by_default("10-0")
@pytest.mark.parametrize(("steps", "loops"), [(8, 1), (9, 1), (10, 0)])
def test_windows_that_lie_inside_in_all_steps_are_traced_once(steps, loops):
    """Else each step has a slice of its own length."""
    f = pytensor.function([X], within_a_scan(pt.exp(X), steps), mode=jax_mode())
    values = np.arange(10.0) / 10
    np.testing.assert_allclose(f(values), [np.exp(values)[i : i + 2].sum() for i in range(steps)])
    assert f.vm.jit_fn.lower(values).as_text().count("stablehlo.while") == loops


@pytest.mark.by_default("True")
@pytest.mark.parametrize("donate", [False, True])
def test_shared_numbers_copies_and_donation(donate):
    """A number that the function itself updates is read from the device."""
    k, total = pytensor.shared(0, name="k"), pytensor.shared(np.zeros(()), name="total")
    window = X[k : k + 2]
    updates = {k: k + 3, total: total + window.sum()}
    f = pytensor.function([X], window, updates=updates, mode=jax_mode(donate=donate))
    for function, first in ((f, 0), (f, 3), (f, 6), (f, 9), (f.copy(), 12), (f, 15)):
        np.testing.assert_array_equal(function(TEN), TEN[first : first + 2])
    assert k.get_value() == 18
    np.testing.assert_array_equal(total.get_value(), TEN[[0, 1, 3, 4, 6, 7, 9]].sum())
    k.set_value(9)
    np.testing.assert_array_equal(f.copy(delete_updates=True)(TEN), TEN[9:])
    assert k.get_value() == 9


def test_many_windows_that_reach_out_are_warned_about():
    f = pytensor.function([X, N], X[N : N + 9], mode=jax_mode())
    for n in range(2, 9):
        f(TEN, n)
    with pytest.warns(UserWarning, match="8 programs .* depend on n"):
        f(TEN, 9)
