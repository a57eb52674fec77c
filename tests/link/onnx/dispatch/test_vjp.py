import numpy as np
import pytest

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


# The inner graph checks that a window fits where the image's size isn't known
@pytest.mark.filterwarnings("ignore::pytensor.link.onnx.errors.DroppedCheckWarning")
@pytest.mark.parametrize("mode", ["max", "average_exc_pad"])
@pytest.mark.parametrize("static", [True, False])
def test_second_derivative_of_pooling(static, mode):
    x = pt.tensor("x", shape=(2, 3, 7, 9) if static else (None,) * 4, dtype="float32")
    y = pt.pool_2d(x, (3, 2), ignore_border=static, stride=(2, 3), pad=(1, 0), mode=mode)
    first = pt.grad(pt.sum(y**3), x)
    second = pt.grad(pt.sum(first**2), x)
    value = RNG.permutation(378).reshape(2, 3, 7, 9) / 100
    compare_onnx_and_py([x], [first, second], [value])
