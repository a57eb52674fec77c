"""Find the inputs that integers follow from, which are computed on the host."""

import pytest

import pytensor.tensor as pt
from pytensor.link.jax.rewriting.host_integers import HostIntegers, NotOnHostError, leaves

pytest.importorskip("jax")


def test_what_many_lengths_share_is_walked_once():
    """Of 60 lengths, each computed from that before it twice, there are 2**60 ways to the first."""
    first = length = pt.vector("x").shape
    length = length[0]
    for _ in range(60):
        length = length // 2 + length % 3
    assert leaves([length]) == [first]


def test_what_the_device_computes_is_not_on_the_host():
    numbers = pt.lvector("numbers")
    with pytest.raises(NotOnHostError, match="is computed on the device"):
        HostIntegers([numbers], [pt.nonzero(numbers > 3)[0]])
