"""Loops whose lengths are known at run time, or that a condition ends."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scan.utils import until
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax.tuned import jax_mode

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
}  # fmt: skip


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


def test_the_rows_of_such_a_loop_are_refused():
    out = scan(lambda a: (a * 2, until(a > 50)), outputs_info=[S], n_steps=9)
    with pytest.raises(
        NotImplementedError, match=r"Scan: .* from 's', .* Take only the last value"
    ):
        pytensor.function([S], out, mode=jax_mode())
