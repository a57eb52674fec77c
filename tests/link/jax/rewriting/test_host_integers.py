"""Find the inputs that integers follow from, and compute integers on the host."""

import pickle

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.conditional.op import IfElse
from pytensor.link.jax.rewriting.host_integers import HostIntegers, NotOnHostError, leaves
from pytensor.raise_op import Assert
from pytensor.tensor.known_lengths import scaled_length

X, N, V, F = pt.tensor3("x"), pt.lscalar("n"), pt.lvector("v"), pt.dscalar("f")
INPUTS = [X, N, V, F]
VALUES = [np.zeros((5, 4, 3)), 7, np.array([2, 9, 4]), 2.5]


def test_what_many_lengths_share_is_walked_once():
    """Of 60 lengths, each computed from that before it twice, there are 2**60 ways to the first."""
    first = length = pt.vector("x").shape
    length = length[0]
    for _ in range(60):
        length = length // 2 + length % 3
    assert leaves([length]) == [first]


# Integers, and whether they are computed before each call, too.
INTEGERS = {
    "arithmetic": (N * X.shape[0] // 3 - X.shape[-1] % 2, True),
    "a vector": (pt.stack([N, X.shape[1], 3]) + V, True),
    "overflow": ((N * 60).astype("int8"), True),
    "a choice": (pt.switch(N > 5, X.shape[0], 1), True),
    "an inner graph": (scaled_length(X.shape[1], 1.4), False),
    "an inner graph twice": (scaled_length(scaled_length(N, 0.4), 1.9), False),
    "floats": (pt.ceil(F * N).astype("int64"), False),
    "a float": (F * 2, False),
    "positions": (pt.nonzero(V > 3)[0], False),
    "several results": (pt.argsort(V)[pt.split(V, [1, 2], n_splits=2)[1] % 3], False),
    "a condition": (IfElse(1)(N > 5, X.shape[0], N), False),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_computed_as_by_pytensor(name):
    result, strict = INTEGERS[name]
    f = pytensor.function(INPUTS, result, mode="FAST_COMPILE", on_unused_input="ignore")
    for any_op in (True, False)[: 1 + strict]:
        compute = HostIntegers(INPUTS, [result], any_op).function()
        for _ in range(2):
            (value,) = compute(VALUES)
            np.testing.assert_array_equal(value, f(*VALUES))
            compute = pickle.loads(pickle.dumps(compute))
    if not strict:
        with pytest.raises(NotOnHostError):
            HostIntegers(INPUTS, [result])


def test_checks_are_made_with_all_ops_only():
    checked = Assert("too small")(N, F > 3) + 1
    (value,) = HostIntegers(INPUTS, [checked]).function()(VALUES)
    assert value == 8
    with pytest.raises(AssertionError, match="too small"):
        HostIntegers(INPUTS, [checked], any_op=True).function()(VALUES)


def test_a_loop():
    states = pytensor.scan(
        lambda v, s: s + v, sequences=[V], outputs_info=[N], return_updates=False
    )
    node = states.owner.inputs[0].owner
    given = pytensor.function([N, V], node.inputs, mode="FAST_COMPILE")(7, [2, 9, 4])
    inputs = [v.type() for v in node.inputs]
    compute = HostIntegers(inputs, node.op.make_node(*inputs).outputs, any_op=True).function()
    (value,) = compute(given)
    assert value.tolist() == [7, 9, 18, 22]


def test_lengths_of_what_is_computed_are_unknown():
    with pytest.raises(NotOnHostError, match="known only when it was computed"):
        HostIntegers(INPUTS, [(X * 2).shape[0]], any_op=True)
