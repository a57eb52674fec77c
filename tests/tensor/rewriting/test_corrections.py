"""Corrections of PyTensor's rewrites are for modes that ask for them by their tag."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.rewriting.corrections import local_set_subtensor_of_make_vector
from pytensor.tensor.subtensor import IncSubtensor


def written_vector():
    a, b, c = pt.lscalars("abc")
    return pt.set_subtensor(pt.stack([a, b])[1], c)


def test_the_phases_of_rewrite_graph_are_pytensors_own():
    for phase in ("canonicalize", "specialize"):
        assert isinstance(rewrite_graph(written_vector(), include=(phase,)).owner.op, IncSubtensor)


@pytest.mark.parametrize("phase", ["canonicalize", "specialize"])
def test_a_tag_asks_for_them(phase):
    database = get_mode("FAST_RUN").optdb[phase]
    names = {rewriter.name for rewriter in database.query("+corrections").get_node_rewriters()}
    assert names == {"local_reduce_one_integer", "local_set_subtensor_of_make_vector"}


def test_set_subtensor_of_make_vector():
    a, b, c = pt.lscalars("abc")
    for index, expected in [(1, [a, c]), (-2, [c, b])]:
        out = pt.set_subtensor(pt.stack([a, b])[index], c)
        new = rewrite_graph(out, include=("canonicalize", "corrections"))
        assert isinstance(new.owner.op, MakeVector)
        assert new.owner.inputs == expected


def test_set_subtensor_that_must_stay():
    """Additions, run-time positions and positions out of range."""
    a, b, c = pt.lscalars("abc")
    vector = pt.stack([a, b])
    for out in (
        pt.inc_subtensor(vector[1], c),
        pt.set_subtensor(vector[a], c),
        pt.set_subtensor(vector[5], c),
        pt.set_subtensor(vector[1:], c),
    ):
        assert isinstance(out.owner.op, IncSubtensor)
        assert local_set_subtensor_of_make_vector.transform(None, out.owner) in (None, False)


@pytest.mark.parametrize("mode", ["jax_mode", "ONNX"])
def test_what_is_not_a_number_stays_so_over_one_element(mode):
    if mode == "jax_mode":
        mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode()
    x = pt.matrix("x", shape=(4, 1))
    over_one = {"axis": 1, "keepdims": True}
    results = [
        *(x - x.mean(**over_one), x - x.max(**over_one), x.var(**over_one), x / x.sum(**over_one)),
        *(pt.special.softmax(x, axis=1), pt.special.log_softmax(x, axis=1)),
    ]
    value = np.array([[np.nan], [np.inf], [-np.inf], [2.0]])
    for k, result in enumerate(pytensor.function([x], results, mode=mode)(value)):
        right = 1.0 if k in (3, 4) else 0.0
        np.testing.assert_array_equal(result, [[np.nan], [np.nan], [np.nan], [right]])


def test_a_sum_of_one_integer_goes():
    x = pt.tensor("x", dtype="int64", shape=(1,))
    new = rewrite_graph(
        x.sum(), include=("canonicalize", "corrections"), exclude=("local_reduce_broadcastable",)
    )
    assert not isinstance(new.owner.op, CAReduce)
