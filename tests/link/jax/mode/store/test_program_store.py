"""Programs on disk: found by equal graphs, for arguments of the same kind."""

import pickle

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.compile.builders import OpFromGraph
from pytensor.link.jax import jax_mode
from tests.link.jax.mode.store.stored import (
    MODE,
    assert_equal_runs,
    compile_graph,
    make_step,
    programs,
    run,
    values,
)
from tests.link.jax.process import in_a_process
from tests.utils import no_compilation

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.by_default("True")
@pytest.mark.slow
@pytest.mark.parametrize("donate", [True, False])
def test_a_second_start_does_nothing_but_run(folder, traced, donate):
    mode = jax_mode(donate=donate, keep_programs=True)
    first = run(*make_step(mode=mode))
    assert (len(traced), len(programs(folder))) == (1, 1)
    with no_compilation():
        step, w = make_step(mode=mode)
        assert step.maker.deferred
        second = run(step, w)
    assert_equal_runs(first, second)
    assert len(set(first[0])) == 3
    assert (len(traced), len(programs(folder))) == (1, 1)
    if donate:
        w.set_value(jax.numpy.asarray(w.get_value()))
        old = w.get_value(borrow=True)
        step(values())
        assert not np.shares_memory(old, np.asarray(w.get_value(borrow=True)))


def test_the_state_of_a_found_program_is_donated():
    run(*make_step())
    step, w = make_step()
    step(values())
    (place,) = (k for k, c in enumerate(step.input_storage) if c.storage is w.container.storage)
    cell = step.input_storage[place].storage
    deleted = cell[0]
    held = [id(deleted), deleted.unsafe_buffer_pointer()]
    del deleted
    step(values())
    assert cell[0].unsafe_buffer_pointer() == held[1]


@pytest.mark.slow
def test_without_a_folder_nothing_is_kept(folder, traced):
    jax.config.update("jax_compilation_cache_dir", None)
    one = run(*make_step())
    jax.config.update("jax_compilation_cache_dir", str(folder.parent))
    jax.config.update("jax_enable_compilation_cache", False)
    assert_equal_runs(one, run(*make_step()))
    assert programs(folder) == []
    jax.config.update("jax_enable_compilation_cache", True)
    assert_equal_runs(one, run(*make_step(mode=jax_mode(donate=True))))
    assert programs(folder) == []
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 60)
    assert_equal_runs(one, run(*make_step()))
    assert programs(folder) == []
    assert len(traced) == 4


SCRIPT = """
import numpy as np
import jax
import pytensor
import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.mode.store.graph_key import Describer, graph_key
from pytensor.link.jax import jax_mode
from pytensor.tensor.special import log_softmax
x = pt.tensor4("x", shape=(2, 3, 8, 8), dtype="float32")
k = pytensor.shared(np.ones((4, 3, 3, 3), dtype="float32"), name="k", shape=(4, 3, 3, 3))
y = pt.silu(pt.conv2d(x, k, border_mode="half"))
one, zero = np.ones(4, dtype="float32"), np.zeros(4, dtype="float32")
y = pt.nn.max_pool2d(pt.batch_normalization_train(y, one, zero, "spatial")[0], 2)
loss = log_softmax(y, axis=1)[0, 1:3].sum() + pt.resize(y, scale=(2, 2)).max()
graph = FunctionGraph([x, k], [loss, pytensor.grad(loss, k)], clone=True)
print(graph_key(graph, jax_mode(donate=True)))
print(Describer()({"a", "b", "c", "d"}))
"""


@pytest.mark.slow
def test_a_graph_has_one_key_in_all_processes():
    """Python's hashes, by which sets are in order, differ from process to process."""
    keys = set()
    for seed in ("1", "2"):
        done = in_a_process(SCRIPT, PYTHONHASHSEED=seed, PYTENSOR_FLAGS="floatX=float32")
        keys.add(done.stdout)
    (key,) = keys
    assert len(key.split()[0]) == 64


# ------------------------------------------------------------------------------ other arguments


@pytest.mark.by_default("True")
@pytest.mark.parametrize("donate", [True, False])
def test_arguments_of_other_shapes(donate, traced):
    mode = jax_mode(donate=donate, keep_programs=True)
    x = pt.matrix("x", dtype="float64")
    results = []
    for _ in range(2):
        v = pytensor.shared(np.zeros(()), name="v")
        f = pytensor.function([x], x.sum(0) + v, updates=[(v, v + 1)], mode=mode)
        results.append([f(values(k, rows)) for k, rows in enumerate((3, 3, 5, 2, 3))])
        assert v.get_value() == 5
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(traced) == 2  # the second function's graph too, for the arguments of another shape


def test_first_arguments_of_another_shape(folder):
    x = pt.matrix("x", dtype="float64")
    for rows, count in ((3, 1), (5, 2), (3, 2), (5, 2)):
        np.testing.assert_array_equal(
            compile_graph([x], 2 * x)(values(0, rows)), 2 * values(0, rows)
        )
        assert len(programs(folder)) == count


@pytest.mark.by_default("True")
@pytest.mark.parametrize("found", [False, True])
def test_errors_are_those_of_the_call(found):
    if found:
        run(*make_step(trust_input=True))
    step, w = make_step(trust_input=True)
    run(step, w)
    with pytest.raises(TypeError, match=r"incompatible shapes|dot_general"):
        step(np.ones((3, 5)))
    assert float(step(values())) == pytest.approx(float(np.tanh(values() @ w.get_value()).sum()), 9)
    np.testing.assert_array_equal(w.get_value().shape, (4, 2))


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable:UserWarning")
def test_updates_of_another_shape(folder):
    """An array that grows can't be written over the old one, as JAX warns."""
    results = []
    for _ in range(2):
        v = pytensor.shared(np.ones(2), name="v", shape=(None,))
        grow = pytensor.function([], v.sum(), updates=[(v, pt.concatenate([v, v]))], mode=MODE)
        results.append([float(grow()) for _ in range(3)])
        assert v.get_value().shape == (16,)
    assert results[0] == results[1] == [2.0, 4.0, 8.0]


def test_constants_of_a_graph_that_is_converted_while_it_is_traced():
    x = pt.matrix("x", dtype="float64")
    table = np.arange(6.0).reshape(3, 2)
    for _ in range(2):
        f = pytensor.function([x], x[:, None] @ pt.constant(table.T[None]), mode=MODE)
        for rows in (3, 5, 4):  # the last is traced with what was converted in the one before
            given = values(0, rows)[:, :2]
            np.testing.assert_allclose(f(given)[:, 0], given @ table.T)


# ------------------------------------------------------------------------------ made from others


def test_copies_of_a_deferred_function(folder):
    expected = run(*make_step())
    step, _ = make_step()
    other = pytensor.shared(np.full((4, 2), 1.0), name="w", shape=(4, 2))
    (w,) = step.get_shared()
    assert step.maker.deferred
    copy = step.copy(swap={w: other})
    assert (step.maker.deferred, copy.maker.deferred) == (False, False)
    assert_equal_runs(expected, run(copy, other))
    still = step.copy(delete_updates=True)
    before = w.get_value()
    assert float(still(values())) == expected[0][0]
    np.testing.assert_array_equal(w.get_value(), before)
    assert_equal_runs(expected, run(step, w))
    assert len(programs(folder)) == 1


def test_a_deferred_function_can_be_pickled():
    expected = run(*make_step())
    step, _ = make_step()
    again = pickle.loads(pickle.dumps(step))
    assert [float(again(values(k))) for k in range(3)] == expected[0]


def test_the_graph_of_a_deferred_function_is_rewritten_when_it_is_asked_for(traced):
    expected = run(*make_step())
    step, w = make_step()
    assert (step.maker.deferred, len(traced)) == (True, 1)
    graph = str(make_step(mode=jax_mode(donate=True))[0].maker.fgraph)
    assert str(step.maker.fgraph) == graph
    assert (step.maker.deferred, len(traced)) == (False, 3)
    assert_equal_runs(expected, run(step, w))


def test_indices_are_checked_before_a_program_that_was_found(folder):
    x, n = pt.dvector("x"), pt.lscalar("n")
    for _ in range(2):
        f = compile_graph([x, n], [x[n : n + 2].sum(), x[n]])
        assert f(np.ones(3), 1) == [2, 1]
        stored = programs(folder)
        with pytest.raises(IndexError, match="3 is out of bounds"):
            f(np.ones(3), 3)
        assert programs(folder) == stored


def test_what_an_inlined_graph_computes_is_checked_before_a_program_that_was_found():
    k = pt.lscalar("k")
    more = OpFromGraph([k], [k + 2], inline=True)
    for _ in range(2):
        x, n = pt.dvector("x"), pt.lscalar("n")
        f = compile_graph([x, n], x[n : more(n)])
        assert [f(np.arange(4.0), k).tolist() for k in (1, 3)] == [[1, 2], [3]]
        f = compile_graph([x, n], x[more(n)])
        assert f(np.arange(4.0), 1) == 3
        with pytest.raises(IndexError, match="4 is out of bounds"):
            f(np.arange(4.0), 2)


LAPACK = """
import sys
import numpy as np
import pytensor_vision
import jax
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
x = pt.dmatrix("x")
f = pytensor.function([x], pt.linalg.cholesky(x), mode=jax_mode(keep_programs=True))
print(f.maker.deferred, f(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist())
"""


@pytest.mark.slow
def test_a_found_program_calls_lapack(tmp_path):
    """Nothing else in its process has told XLA where LAPACK is."""
    for found in (False, True):
        done = in_a_process(LAPACK, str(tmp_path))
        assert done.stdout == f"{found} [[2.0, 0.0], [1.0, 2.0]]\n", done.stderr
