import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv.ops import Conv

pytest.importorskip("numba")

from pytensor.link.numba.dispatch import conv


@pytest.mark.slow
def test_bad_shapes_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, pt.conv2d(*inputs), mode="NUMBA")
    with pytest.raises(ValueError, match="conv2d: filters for 2 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))


def test_a_node_is_compiled_without_its_graph(monkeypatch):
    """Numba pickles it: with its graph, compiling takes time of the square of a graph's size."""
    nodes = []

    def perform(self, node, inputs, outputs):
        nodes.append(node)
        return original(self, node, inputs, outputs)

    original = Conv.perform
    monkeypatch.setattr(Conv, "perform", perform)
    x = pt.tensor("x", shape=(1, 2, 4, 4))
    w = pytensor.shared(np.ones((2, 2, 1, 1)), shape=(2, 2, 1, 1))
    y = pt.conv2d(pt.exp(x), w)
    value = np.arange(32.0).reshape(1, 2, 4, 4) / 32
    result = pytensor.function([x], y, mode="NUMBA")(value)
    np.testing.assert_allclose(result[0, 0], np.exp(value).sum((0, 1)))
    assert nodes
    assert {v.owner for node in nodes for v in node.inputs} == {None}


def test_the_first_convolution_names_a_faster_mode_once(caplog):
    conv._name_a_faster_mode.cache_clear()
    x = pt.tensor("x", shape=(1, 1, 3, 3))
    for _ in range(2):
        pytensor.function([x], pt.conv2d(x, np.ones((1, 1, 2, 2))), mode="NUMBA")
    (record,) = [r for r in caplog.records if r.name == "pytensor.link.numba"]
    assert "jax_mode()" in record.message
