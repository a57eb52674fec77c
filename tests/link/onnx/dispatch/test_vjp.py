import numpy as np

import pytensor.tensor as pt
from pytensor.tensor.pullback import SymbolicPullback
from pytensor.tensor.symbolic import TensorSymbolicOp
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(12)


class Cube(TensorSymbolicOp):
    """An Op whose gradient has no converter of its own."""

    __props__ = ()

    def build_inner_graph(self, x):
        return [x * x * x]


def test_inner_graph_is_inlined():
    x, g = pt.fmatrices("x", "g")
    y = SymbolicPullback(op=Cube())(x, g)
    model = compare_onnx_and_py([x, g], y, RNG.normal(size=(2, 3, 4)))
    assert set(op_types(model)) <= {"Mul", "Add"}
