import pytest

import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.dims import Dims, Size
from pytensor.link.onnx.lowering.rewriting import (
    inline_symbolic_ops,
    rebuild_with,
    replace_nodes,
    without_fusion,
    without_inplace,
)
from pytensor.scalar.basic import Composite, add, float32, mul
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Shape_i


def ops(fgraph):
    return [node.op for node in fgraph.toposort()]


def test_without_inplace():
    x = pt.fvector("x")
    y = Elemwise(pt.exp.scalar_op, {0: 0})(pt.log(x))
    fgraph = FunctionGraph([x], [y], clone=True)
    replace_nodes(fgraph, without_inplace)
    assert ops(fgraph) == [pt.log, pt.exp]


def test_without_fusion():
    x, y = pt.fvectors("x", "y")
    a, b = float32("a"), float32("b")
    fused = Elemwise(Composite([a, b], [add(mul(a, b), a), mul(a, b)]))
    fgraph = FunctionGraph([x, y], fused(x, y), clone=True)
    replace_nodes(fgraph, without_fusion)
    assert ops(fgraph) == [pt.mul, pt.add]


def test_symbolic_ops_are_inlined_unless_there_is_a_converter():
    x = pt.fmatrix("x")
    outputs = [pt.special.softmax(x, axis=1), pt.logsumexp(x, axis=1)]
    fgraph = FunctionGraph([x], outputs, clone=True)
    inline_symbolic_ops(fgraph)
    names = {type(op).__name__ for op in ops(fgraph)}
    assert "Softmax" in names
    assert "LogSumExp" not in names


def test_rebuild_with_static_shapes():
    x, w = pt.fmatrix("x"), pt.fmatrix("w")
    y = pt.special.softmax(x @ w, axis=1).reshape((x.shape[0], 2, -1))
    new_w = pt.tensor("w", shape=(3, 6), dtype="float32")
    new_x = x.clone()
    (z,) = rebuild_with({x: new_x, w: new_w}, [y])
    assert y.type.shape == (None, 2, None)
    assert z.type.shape == (None, 2, 3)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda x: x.shape[0], "N"),
        (lambda x: 2 * x.shape[0] * x.shape[1], "2*N*M"),
        (lambda x: 6 * x.shape[0] // 3, "2*N"),
        (lambda x: x.shape[1] // 2, None),
        (lambda x: x.shape[1] + 1, None),
        (lambda x: x.shape[2], 5),
        (lambda x: x.reshape((x.shape[0], -1)).shape[0], "N"),
        (lambda x: pt.split(x, [2, 3], n_splits=2, axis=2)[1].shape[0], "N"),
    ],
)
def test_dims(shape, expected):
    x = pt.tensor("x", shape=(None, None, 5), dtype="float32")
    dims = Dims(ShapeFeature(), {x: ("N", "M", 5)})
    y = pt.zeros((shape(x),))
    if isinstance(expected, str):
        size = dims.of(shape(x))
        assert all(isinstance(u, tuple) for u in size.unknowns)
        assert sorted(dims.name(y, 0).split("*")) == sorted(expected.split("*"))
    else:
        assert dims.name(y, 0) == expected


def test_size_arithmetic():
    x = pt.fmatrix("x")
    n = Dims().of(Shape_i(0)(x))
    assert Size(6) * n // (Size(3) * n) == Size(2)
    assert n // Size(2) is None
    assert Size(4) // n is None
    assert not n.is_fixed
