"""Corrections of PyTensor's rewrites are for modes that ask for them; their tests are theirs."""

import pytest

import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.tensor.basic import MakeVector
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
    assert names == {"local_set_subtensor_of_make_vector"}
    rewritten = rewrite_graph(written_vector(), include=(phase, "corrections"))
    assert isinstance(rewritten.owner.op, MakeVector)
