"""Loops whose lengths are known at run time, or that a condition ends."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

MODE = jax_mode()
X, N, S = pt.vector("x"), pt.lscalar("n"), pt.scalar("s")
SIX = np.arange(6.0) + 1


def scan(step, *, of=(), **settings):
    return pytensor.scan(step, non_sequences=list(of), return_updates=False, **settings)


def shifted(i, x):
    """Return `x`, `i` steps later: the length of what is joined differs from step to step."""
    return pt.concatenate([pt.zeros(i), x[: x.shape[0] - i]])


GRAPHS = {
    "number of steps": (
        lambda: scan(lambda a: a * 0.5 + 1, outputs_info=[X], n_steps=N),
        [X, N], [(SIX, 2), (SIX, 4)],
    ),
    "last of them": (
        lambda: scan(lambda a: a * a - 1, outputs_info=[X], n_steps=N)[-1],
        [X, N], [(SIX / 6, 3)],
    ),
    "two taps": (
        lambda: scan(
            lambda a, b: a + b / 2, outputs_info=[{"initial": X, "taps": [-2, -1]}], n_steps=N
        ),
        [X, N], [(SIX[:2], 3)],
    ),
    "length within": (
        lambda: scan(lambda v, n: (v * pt.arange(n)).sum(), sequences=[X], of=[N]),
        [X, N], [(SIX, 3)],
    ),
    "lengths of steps": (
        lambda: scan(lambda i, x: shifted(i, x).cumsum(), sequences=[pt.arange(4)], of=[X]),
        [X], [(SIX,)],
    ),
    "lengths and states": (
        lambda: scan(
            lambda i, p, x: p / 2 + shifted(i, x), sequences=[pt.arange(N)],
            outputs_info=[pt.zeros_like(X)], of=[X],
        ),
        [X, N], [(SIX, 3), (SIX, 1), (SIX, 0)],
    ),
    "window of each step": (
        lambda: scan(
            lambda t, p, x: p / 2 + x[3 * t : 3 * (t + 1)] ** 2, sequences=[pt.arange(2)],
            outputs_info=[pt.zeros(3)], of=[X],
        ),
        [X], [(SIX,)],
    ),
    "truncated gradient": (
        lambda: scan(
            lambda v, a, s: [pt.tanh(a * s + v), a * v], sequences=[X],
            outputs_info=[pt.zeros(()), None], of=[S], truncate_gradient=2,
        )[0] * X,
        [X, S], [(SIX / 6, 0.5), (SIX[:2], 0.5), (SIX[:1], 0.5)],
    ),
}  # fmt: skip


@pytest.mark.by_default("lengths and states", "window of each step", "truncated gradient")
@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_values_and_gradients(name):
    build, inputs, calls = GRAPHS[name]
    out = build()
    outputs = [out, pytensor.grad((out**2).sum(), X)]
    for values in calls:
        compare_jax_and_py(inputs, outputs, values, jax_mode=MODE, py_mode="FAST_COMPILE")


NO_STEPS = {
    "a state": (lambda: scan(lambda v, a: a + v, sequences=[X], outputs_info=[pt.zeros(())]), [0]),
    "an array": (lambda: scan(lambda a: a * 2, outputs_info=[X], n_steps=X.shape[0]), [0, 0]),
    "two taps": (
        lambda: scan(
            lambda v, a, b: v + a * b, sequences=[X],
            outputs_info=[{"initial": pt.ones(2), "taps": [-2, -1]}],
        )[::-1],
        [0],
    ),
    "rows": (lambda: scan(lambda v: pt.stack([v, v, v]), sequences=[X]), [0, 3]),
    "a state and rows": (
        lambda: scan(
            lambda v, a: [a + v, pt.stack([v, v])], sequences=[X], outputs_info=[pt.zeros(()), None]
        )[1],
        [0, 2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_STEPS)
def test_traces_of_no_steps(name):
    build, shape = NO_STEPS[name]
    f = pytensor.function([X], build(), mode=MODE)
    assert f(SIX[:0]).shape == tuple(shape)


WHILE = {
    "a state": (
        lambda: scan(lambda a: (a * 2, until(a > 50)), outputs_info=[S], n_steps=N)[-1],
        [S, N], [(1.0, 100), (1.0, 3), (100.0, 5)],
    ),
    "a sequence": (
        lambda: scan(lambda v, a: (a + v, until(a > 5)), sequences=[X], outputs_info=[S])[-1],
        [X, S], [(SIX, 0.0), (SIX[:2], -9.0)],
    ),
    "two states": (
        lambda: [o[-1] for o in scan(
            lambda a, b: ([a * 2, b + 1], until(a > 50)),
            outputs_info=[S, pt.constant(0)], n_steps=100,
        )],
        [S], [(1.0,), (60.0,)],
    ),
}  # fmt: skip


@pytest.mark.by_default("a state")
@pytest.mark.slow
@pytest.mark.parametrize("name", WHILE)
def test_loops_that_a_condition_ends(name):
    build, inputs, calls = WHILE[name]
    last = build()
    for values in calls:
        compare_jax_and_py(inputs, last, values, jax_mode=MODE, py_mode="FAST_COMPILE")


def test_the_number_of_steps_of_such_a_loop_is_no_size():
    out = scan(lambda a: (a * 2, until(a > 50)), outputs_info=[S], n_steps=N)[-1]
    f = pytensor.function([S, N], out, mode=jax_mode())
    assert f.maker.linker.host_sizes is None


def doubled(initial=S, n_steps=20, at=50):
    """Return `initial` times 2, 4, ... up to the first above `at`: at most `n_steps` of them."""
    return scan(lambda a: (a * 2, until(a * 2 > at)), outputs_info=[initial], n_steps=n_steps)


def powers(n_steps=20):
    """Return products of a number and powers of a parameter, up to the first above 50."""
    return scan(lambda a, b: (a * b, until(a * b > 50)), outputs_info=[S], of=[B], n_steps=n_steps)


def vectors():
    """Return the states of a loop over matrices, until the largest is small."""
    return scan(
        lambda h, w: (pt.tanh(w @ h), until(abs(h).max() < 0.3)),
        outputs_info=[X], of=[M], n_steps=15,
    )  # fmt: skip


def over(rows):
    """Return the states of a loop over the rows of another."""
    return scan(lambda v, a, b: a / 2 + v * b, sequences=[rows], outputs_info=[S], of=[B])


def outputs_of_several():
    """Return results with two taps, of a state, and of none."""
    return scan(
        lambda v, a, b, c: ([a * 0.5 + b + v, c + v, a * v], until(a + b > 9)),
        sequences=[X], outputs_info=[{"initial": pt.stack([S, B]), "taps": [-2, -1]}, B, None],
    )  # fmt: skip


def divided():
    """Return results of steps that would divide by 0 after the last one."""
    return scan(lambda v, a, b: (a + b / v, until(v < 2)), sequences=[X], outputs_info=[S], of=[B])


B, M = pt.scalar("b"), pt.matrix("m")
FALLING = np.array([3.0, 2, 1, 0, 0, 0])
SQUARE = np.random.default_rng(0).normal(size=(6, 6)) / 2
SCALARS = [S, B], [(3.0, 2.0), (3.0, 1.01), (60.0, 2.0)]  # ended, not ended, ended at once
ROWS = {
    "sum": (lambda: powers().sum(), *SCALARS),
    "product": (lambda: (powers() / 9).prod(), *SCALARS),
    "extrema": (lambda: powers().max() - powers().min() ** 2, *SCALARS),
    "mean and length": (lambda: powers().mean() + powers().var() * powers().shape[0], *SCALARS),
    "last and first": (lambda: powers()[-1] * powers().sum() + powers()[0] ** 2, *SCALARS),
    "differences": (lambda: ((powers()[1:] - powers()[:-1]) ** 2).sum(), *SCALARS),
    "reversed": (lambda: (powers()[::-1] * powers()).sum(), *SCALARS),
    "selected": (lambda: (lambda t: t[t > 20].sum())(powers()), *SCALARS),
    "softmax": (lambda: (pt.special.softmax(powers() / 9) * powers()).sum(), *SCALARS),
    "differentiated": (lambda: pytensor.grad((powers() ** 2).sum(), B), *SCALARS),
    "loop over rows": (lambda: (over(powers()) ** 2).sum(), *SCALARS),
    "end of a loop over rows": (lambda: over(powers())[-1] ** 2, *SCALARS),
    "several": (
        lambda: (lambda a, b, c: (a * b).sum() + c.max() + b[-1])(*outputs_of_several()),
        [X, S, B], [(SIX, 1.0, 0.5), (SIX, 9.0, 1.0)],
    ),
    "vectors": (
        lambda: (
            (vectors().max(axis=0) ** 2).sum() + vectors().sum(axis=1).prod() + vectors()[-1, 0]
        ),
        [X, M], [(SIX, SQUARE)],
    ),
    "parts of vectors": (
        lambda: (
            (vectors()[1:, 0] ** 2).sum() + (vectors()[:, 1] ** 2).sum() * vectors()[-1, 0]
        ),
        [X, M], [(SIX, SQUARE)],
    ),
    "not computed": (lambda: divided().sum(), [X, S, B], [(FALLING, 1.0, 2.0)]),
    "within a loop": (
        lambda: scan(
            lambda v, b: scan(lambda a, b: (a * b, until(a > 9)), outputs_info=[v], of=[b],
            n_steps=5).sum(), sequences=[X], of=[B],
        ).sum(),
        [X, B], [(SIX, 1.5)],
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_loops_that_a_condition_ends(name):
    build, inputs, calls = ROWS[name]
    out = build()
    outputs = [out, *pytensor.grad(out, inputs)]
    for values in calls:
        compare_jax_and_py(inputs, outputs, values, jax_mode=MODE, py_mode="FAST_COMPILE")


def test_results_without_gradients_of_rows():
    t = doubled(pt.cast(S, "float32"))
    n = scan(lambda k: (k + 1, until(k > N)), outputs_info=[pt.constant(0)], n_steps=9)
    outputs = [t.shape[0], (t > 40).any(), (t > 4).all(), t.sum(), n.sum()]
    for values in ((3.0, 4), (30.0, 0)):
        compare_jax_and_py([S, N], outputs, values, jax_mode=MODE, py_mode="FAST_COMPILE")


@pytest.mark.slow
def test_no_step_and_a_number_of_steps_of_run_time():
    t = powers(N)
    outputs = [t.sum(), t.shape[0], *pytensor.grad(t.sum(), [S, B])]
    for n in (4, 0):
        values = (3.0, 2.0, n)
        compare_jax_and_py([S, B, N], outputs, values, jax_mode=MODE, py_mode="FAST_COMPILE")


@pytest.mark.parametrize("read", [lambda t: t.sum(), lambda t: t[-1]], ids=["rows", "end"])
def test_loops_that_begin_the_same_are_not_merged(read):
    """Their conditions are the same of their states, which aren't."""
    a = scan(lambda a: (a + S, until(a > 9)), outputs_info=[S], n_steps=20)
    b = scan(lambda a: (a * B, until(a > 9)), outputs_info=[S], n_steps=20)
    compare_jax_and_py([S, B], read(a) * read(b), (0.5, 2.0), jax_mode=MODE, py_mode="FAST_COMPILE")


@pytest.mark.filterwarnings("ignore:The RandomType SharedVariables")
def test_random_numbers_of_such_a_loop():
    rng = pytensor.shared(np.random.default_rng(0))

    def step(a, rng):
        rng, x = pt.random.uniform(1, 2, rng=rng, return_next_rng=True)
        return [a + x, rng], until(a + x > 9)

    t, _ = scan(step, outputs_info=[S, rng], n_steps=30)
    f = pytensor.function([S], [t[-1], t.shape[0], t.max()], mode=jax_mode())
    last, steps, largest = f(0.0)
    assert 9 < last == largest < 11
    assert 5 <= steps <= 9


NEED_ROWS = {
    "a result": doubled,
    "sorted": lambda: pt.sort(doubled())[0],
    "joined": lambda: pt.concatenate([doubled(), X]).sum(),
    "cumulated": lambda: doubled().cumsum().sum(),
    "too few rows": lambda: scan(
        lambda v: v, sequences=[doubled()[1:]], n_steps=doubled().shape[0]
    ).sum(),
}


@pytest.mark.parametrize("name", NEED_ROWS)
def test_what_needs_the_rows_of_such_a_loop_is_refused(name):
    with pytest.raises(NotImplementedError, match=r"Scan.*: .* from 's', .* return sums, products"):
        pytensor.function([S, X], NEED_ROWS[name](), mode=jax_mode(), on_unused_input="ignore")


def test_a_number_is_a_new_state():
    """It has its dtype, and JAX wants the state's."""
    x, two = pt.vector("x", dtype="float32"), pt.constant(np.float32(2))

    def step(element, state):
        return two, element * state

    results = pytensor.scan(step, x, [two - 1, None], return_updates=False)
    values = [np.array([0.1, 3], "float32")]
    compare_jax_and_py([x], results, values, jax_mode=jax_mode())
