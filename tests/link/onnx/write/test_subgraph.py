"""Bodies of If, Loop and Scan, from the builder to the file."""

import numpy as np
import onnx
import pytest

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.onnx import onnx_funcify
from tests.link.onnx.test_basic import compare_onnx_and_py


class Doublings(Op):
    """``x * 2**n`` by ``n`` additions, and the number of steps."""

    __props__ = ()

    def make_node(self, x, n):
        return Apply(self, [x, n], [x.type(), n.type()])

    def perform(self, node, inputs, output_storage):
        x, n = inputs
        output_storage[0][0] = np.asarray(x * 2.0**n, dtype=x.dtype)
        output_storage[1][0] = np.asarray(n)


@onnx_funcify.register(Doublings)
def onnx_funcify_Doublings(op, node, x, n):
    builder = x.builder
    one, zero = builder.constant(1, "int64"), builder.constant(0, "int64")
    with builder.subgraph() as body:
        builder.input("step", "int64", ())
        condition = builder.input("condition", "bool", ())
        value = builder.input("value", x.dtype, x.shape)
        count = builder.input("count", "int64", ())
        # Read from outside, twice the same, and to be folded.
        increment, same = (one.node("Mul", one).node("Add", zero) for _ in range(2))
        both = increment + same - one
        builder.output(condition, ())
        builder.output(value + value, x.shape)
        builder.output(count + both, ())
    return builder.node("Loop", n, None, x, zero, body=body)


@pytest.mark.parametrize("optimize", [True, False])
def test_loop(optimize):
    x = pt.tensor("x", shape=(None, 2), dtype="float32")
    n = pt.lscalar("n")
    # What the loop captures is renamed and bypassed together with its readers.
    shifted = x.T.T + pt.ones((2,), dtype="float32")
    outputs = [o for v in (shifted, shifted * 3) for o in Doublings()(v, n + 0, return_list=True)]
    model = compare_onnx_and_py([x, n], outputs, [[[1, 2], [3, 4]], 3], optimize=optimize)
    loops = [node for node in model.graph.node if node.op_type == "Loop"]
    assert len(loops) == 2
    assert loops[0].name == "doublings_0/loop"
    (body,) = [a.g for a in loops[0].attribute if a.name == "body"]
    assert all(node.name.startswith("doublings_0/") for node in body.node)
    if optimize:
        assert sorted(node.op_type for node in body.node) == ["Add", "Add", "Identity"]
    names = [o for node in (*model.graph.node, *body.node) for o in node.output]
    assert len(names) == len(set(names))
    onnx.checker.check_model(model, full_check=True)
