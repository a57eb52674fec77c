"""Functions of `jax_mode` that were pickled or copied compute the same, and check the same."""

import copy
import pickle

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from tests.link.jax.process import in_a_process

A = np.arange(12.0)


def pickled(f):
    return pickle.loads(pickle.dumps(f))


def twice_pickled(f):
    return pickled(pickled(f))


AGAIN = [pickled, twice_pickled, copy.deepcopy, lambda f: f.copy()]
NAMES = ["pickle", "twice", "deepcopy", "copy"]


def steps(x, n):
    return pytensor.scan(lambda h: h * 2, outputs_info=[x], n_steps=n, return_updates=False)[-1]


def index(x, n):
    return x[n]


def length(x, n):
    return pt.arange(n) + x[0]


# Graphs, the integers of calls, and what is said of 12, which is an index of too much; where a
# window reaches out, another program computes it.
GRAPHS = {
    "index": (index, (2,), "index 12 is out of bounds"),
    # The second output's node carries the checks, whose index it computes
    "index that is returned": (
        lambda x, n: (x[n + 1], n + 1), (2,), r"index 13 is out of bounds .* \(given n = 12\)"
    ),
    "array of indices": (lambda x, n: x[pt.arange(3) + n], (2,), "out of bounds"),
    "window": (lambda x, n: x[n : n + 2], (3, 11), None),
    "written window": (lambda x, n: pt.set_subtensor(x[2 * n : 2 * n + 2], 0), (3,), None),
    "length": (length, (3, 2), None),
    "computed length": (lambda x, n: pt.zeros((n * n, x.shape[0] + 1)), (3, 2), None),
    "steps": (steps, (3, 2), None),
}  # fmt: skip


def compiled(graph, **options):
    x, n = pt.dvector("x"), pt.lscalar("n")
    return pytensor.function([x, n], graph(x, n), mode=jax_mode(**options))


def results(f, *args):
    found = f(*args)
    return [np.asarray(v).tolist() for v in (found if isinstance(found, list) else [found])]


@pytest.mark.parametrize("again", AGAIN, ids=NAMES)
@pytest.mark.parametrize("name", GRAPHS)
def test_copies_compute_and_check_the_same(name, again):
    graph, integers, message = GRAPHS[name]
    f = compiled(graph)
    expected = [results(f, A, n) for n in integers]
    g = again(f)
    assert [results(g, A, n) for n in integers] == expected
    if message:
        with pytest.raises(IndexError, match=message):
            g(A, 12)


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
    done = in_a_process(code, check=False)
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
