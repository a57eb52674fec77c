"""Conditions that choose between arrays of different lengths."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import LazyIfElse, ifelse
from tests.utils import REFERENCE_MODE

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

X, N = pt.vector("x"), pt.lscalar("n")
SIX = np.arange(6.0)


def lazy(condition, true, false):
    """Choose between graphs of `X` as PyTensor's rewrites do, by branches with inner graphs."""
    branches = [OpFromGraph([X], [graph]) for graph in (true, false)]
    return LazyIfElse(*branches, [pt.vector().type])(condition, X)


def compare(inputs, outputs, calls, mode=None):
    """Compare calls with Python's linker, and return the compiled function."""
    compiled = pytensor.function(inputs, outputs, mode=mode or jax_mode())
    expected = pytensor.function(inputs, outputs, mode=REFERENCE_MODE)
    for values in calls:
        for result, wanted in zip(compiled(*values), expected(*values), strict=True):
            assert np.shape(result) == wanted.shape
            np.testing.assert_allclose(result, wanted)
    return compiled


def test_an_integer_chooses():
    rows = pt.ones((N, 2)) * X[:2]
    calls = [(SIX, 3), (SIX, 0), (SIX, 2)]
    compare([X, N], [ifelse(N > 0, rows, X[None, :2] - 1)], calls)


def test_a_bool_chooses_and_the_gradient_follows():
    flag = pt.scalar("flag", dtype="bool")
    chosen = ifelse(flag, X[:2], X[1:] ** 2)
    outputs = [chosen, pytensor.gradient.grad(pt.sum(chosen**2), X)]
    compare([X, flag], outputs, [(SIX, True), (SIX, False)])


def test_lengths_of_inputs_choose():
    compare([X], [ifelse(X.shape[0] > 3, X[:3], X)], [(SIX,), (SIX[:2],), (SIX[:4],)])


def test_a_shared_variable_chooses_between_two_outputs_each():
    shared = pytensor.shared(np.int64(1), name="level")
    outputs = ifelse(pt.eq(shared, 1), [X[:1], X * 2], [X[:4], X])
    compiled = compare([X], outputs, [(SIX,)])
    shared.set_value(np.int64(0))
    assert [v.shape for v in compiled(SIX)] == [(4,), (6,)]


def test_lazy_branches():
    flag = pt.scalar("flag", dtype="bool")
    chosen = lazy(flag, X[:2] * 2, X**2)
    compare([X, flag], [chosen], [(SIX, True), (SIX, False)])


def test_within_an_inner_graph():
    inner = OpFromGraph([X, N], [ifelse(N > 2, X[:2], X)])
    compare([X, N], [inner(X + 1, N)], [(SIX, 3), (SIX, 1)])


def test_within_a_loop_that_an_integer_outside_chooses_for():
    def step(last, n):
        return last + ifelse(n > 2, X[:2], X).sum()

    path = pytensor.scan(
        step, outputs_info=[pt.zeros(())], non_sequences=[N], n_steps=3, return_updates=False
    )
    compare([X, N], [path], [(SIX, 3), (SIX, 1)])


def test_a_condition_of_the_device_is_taken_where_lengths_are_the_same():
    both = X[:2], X[-2:]
    calls = [(SIX,), (-SIX,)]
    compare([X], [ifelse(X.sum() > 0, *both), lazy(X.sum() > 0, *both)], calls)
    inner = OpFromGraph([X], [ifelse(X.sum() > 0, X * 2, X[::-1])])
    compare([X], [inner(X + 1)], calls)


def test_a_choice_within_a_choice_has_several_programs():
    """The gradient's branches have constants, which no program may take from another's trace."""
    n = pt.iscalar("n")
    chosen = ifelse(X[0] < 0, ifelse(n > 3, X[:n], X[1:3]).sum(), X.sum())
    calls = [(SIX - 1, 2), (SIX - 1, 5), (SIX, 4)]
    compare([X, n], [chosen, pytensor.gradient.grad(chosen, X)], calls)


@pytest.mark.by_default("lazy")
@pytest.mark.parametrize("choose", [ifelse, lazy])
def test_a_condition_of_the_device_is_refused_by_name_where_they_differ(choose):
    compiled = pytensor.function([X], choose(X.sum() > 0, X[:2], X), mode=jax_mode())
    text = r"IfElse: XLA .* from 'x' chooses between arrays of shapes \(2,\) and \(6,\)\. Have the"
    with pytest.raises(NotImplementedError, match=text):
        compiled(SIX)
    assert compiled(SIX[:2]).shape == (2,)


def test_a_condition_of_known_lengths_makes_one_program():
    flag = pt.scalar("flag", dtype="bool")
    three = pt.vector("three", shape=(3,))
    chosen = ifelse(flag, three * 2, three - 1)
    compiled = compare([three, flag], [chosen], [(SIX[:3], True), (SIX[:3], False)])
    assert compiled.vm.jit_fn._cache_size() == 1


def test_a_number_is_a_branch():
    """It has its dtype, and JAX wants the other branch's."""
    x, condition = pt.vector("x", dtype="float32"), pt.scalar("condition")
    chosen = ifelse(condition > 0, x.max(), pt.constant(np.float32(0.1)))
    calls = [(SIX.astype("float32"), sign) for sign in (1.0, -1.0)]
    compare([x, condition], [chosen], calls)
