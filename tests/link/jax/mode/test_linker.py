"""Functions of `jax_mode` that were pickled or copied compute the same, and check the same."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode

A = np.arange(12.0)


def pickled(f):
    return pickle.loads(pickle.dumps(f))


def twice_pickled(f):
    return pickled(pickled(f))


AGAIN = [pickled, twice_pickled, copy.deepcopy, lambda f: f.copy()]
NAMES = ["pickle", "twice", "deepcopy", "copy"]


def index(x, n):
    return x[n]


def index_that_is_returned(x, n):
    # The second output's node carries the checks, whose index it computes
    return x[n + 1], n + 1


def array_of_indices(x, n):
    return x[pt.arange(3) + n]


def window(x, n):
    return x[n : n + 2]


def written_window(x, n):
    return pt.set_subtensor(x[2 * n : 2 * n + 2], 0)


def length(x, n):
    return pt.arange(n) + x[0]


def computed_length(x, n):
    return pt.zeros((n * n, x.shape[0] + 1))


def steps(x, n):
    return pytensor.scan(lambda h: h * 2, outputs_info=[x], n_steps=n, return_updates=False)[-1]


def compiled(graph, **options):
    x, n = pt.dvector("x"), pt.lscalar("n")
    return pytensor.function([x, n], graph(x, n), mode=jax_mode(**options))


def results(f, *args):
    found = f(*args)
    return [np.asarray(v).tolist() for v in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize("again", AGAIN, ids=NAMES)
@pytest.mark.parametrize("graph", [index, array_of_indices])
def test_copies_check_indices(graph, again):
    f = compiled(graph)
    g = again(f)
    assert results(g, A, 2) == results(f, A, 2)
    with pytest.raises(IndexError, match="out of bounds"):
        g(A, 12)


def test_a_pickled_check_says_what_was_given():
    g = pickled(compiled(index_that_is_returned))
    assert results(g, A, 2) == [3, 3]
    with pytest.raises(IndexError, match=r"index 13 is out of bounds .* \(given n = 12\)"):
        g(A, 12)


@pytest.mark.parametrize("graph", [length, computed_length, steps])
def test_pickled_lengths(graph):
    f = compiled(graph)
    g = pickled(f)
    for n in (3, 2):
        assert results(g, A, n) == results(f, A, n)


@pytest.mark.parametrize("again", AGAIN, ids=NAMES)
def test_copies_know_what_a_window_leaves_out(again):
    """Where it reaches out of the array, another program computes it, which stays behind."""
    f = compiled(window)
    expected = [results(f, A, n) for n in (3, 11)]
    g = again(f)
    assert [results(g, A, n) for n in (3, 11)] == expected == [[[3, 4]], [[11]]]


def test_a_pickled_window_that_is_written():
    g = pickled(compiled(written_window))
    assert np.flatnonzero(g(A + 1, 3) == 0).tolist() == [6, 7]


@pytest.mark.usefixtures("folder")
def test_a_pickled_function_of_kept_programs():
    for deferred in (False, True):
        f = compiled(index, keep_programs=True)
        assert f.maker.deferred == deferred
        g = pickled(f)
        assert g(A, 3) == 3
        with pytest.raises(IndexError):
            g(A, 12)


@pytest.mark.slow
def test_another_process_reads_it(tmp_path):
    path = tmp_path / "functions"
    path.write_bytes(pickle.dumps([compiled(index), compiled(length)]))
    code = (
        "import pickle, numpy as np\n"
        f"f, g = pickle.load(open({str(path)!r}, 'rb'))\n"
        "print(f(np.arange(4.0), 3), g(np.ones(1), 2))\n"
        "f(np.arange(4.0), 4)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3.0 [1. 2.]\n"
    assert "IndexError: index 4 is out of bounds" in done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The RandomType SharedVariables")
@pytest.mark.parametrize("again", AGAIN[:3], ids=NAMES[:3])
def test_a_copy_draws_on_from_where_the_function_is(again):
    rng = pytensor.shared(np.random.default_rng(5))
    after, drawn = pt.random.uniform(size=2, rng=rng, return_next_rng=True)
    count = pytensor.shared(np.zeros(2))
    updates = {rng: after, count: count + 1}
    f = pytensor.function([], [drawn, count], updates=updates, mode=jax_mode(donate=True))
    new, begun = again(f), results(f)
    later = again(f)
    assert results(new) == begun
    assert results(new) == results(later) == results(f) != begun
