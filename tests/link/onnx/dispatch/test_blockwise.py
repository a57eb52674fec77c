import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.replace import vectorize_graph
from pytensor.link.onnx import ConversionError, UnsupportedOpError, export_onnx, onnx_funcify
from pytensor.tensor.blockwise import Blockwise
from tests.link.onnx.strategies import arrays
from tests.link.onnx.test_basic import Double, compare_onnx_and_py, op_types, run

RNG = np.random.default_rng(6)


class Interleave(Op):
    """All entries of two vectors, and the sum of the first ones."""

    __props__ = ()

    def make_node(self, x, y):
        return Apply(self, [x, y], [pt.vector(dtype=x.dtype), pt.scalar(dtype=x.dtype)])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.concatenate(inputs)
        output_storage[1][0] = np.asarray(inputs[0][0] + inputs[1][0])


@onnx_funcify.register(Interleave)
def onnx_funcify_Interleave(op, node, x, y):
    return x.node("Concat", y, axis=0), x.gather(0) + y.gather(0)


class Unknown(Double):
    pass


@onnx_funcify.register(Unknown)
def onnx_funcify_Unknown(op, node, x):
    raise ConversionError("nothing is known of it")


def vectorized(function, variable, ndim):
    """Apply `function` to the last `ndim` axes, by vectorizing its graph."""
    core = pt.tensor("core", dtype=variable.type.dtype, shape=variable.type.shape[-ndim:])
    return vectorize_graph(function(core), {core: variable})


FUNCTIONS = {
    "slice": lambda x: x[1:, ::-1],
    "index": lambda x: x[0, 1:],
    "take": lambda x: x[:, np.array([2, 0, 0])],
    "set": lambda x: x[1].set(7.0),
    "increment": lambda x: x[:, 1].inc(x[:, 0]),
    "cumulate": lambda x: pt.cumsum(x, axis=0),
    "sort": lambda x: pt.sort(x, axis=0),
    "alloc": lambda x: pt.alloc(x[0, 0], 2, 3),
    "join": lambda x: pt.concatenate([x, x * 2], axis=1),
    "reshape": lambda x: x.reshape((-1,)),
    "reduce": lambda x: x.max(axis=0),
    "dot": lambda x: x @ x.T,
    "diagonal": lambda x: pt.diagonal(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vectorized_graphs(name):
    x = pt.tensor("x", shape=(None, None, 2, 3))
    values = [RNG.normal(size=(2, 5, 2, 3))]
    output = vectorized(FUNCTIONS[name], x, 2)
    compare_onnx_and_py([x], output, values)
    compare_onnx_and_py([x], output, values, optimize=False, opset_version=18)


@st.composite
def batches(draw):
    shapes = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=3, min_side=1)
    )
    values = [draw(arrays("float64", (*shape, 2), special=False)) for shape in shapes.input_shapes]
    variables = [
        pt.tensor(name, shape=[n if n == 1 else None for n in v.shape])
        for name, v in zip("xy", values, strict=True)
    ]
    return variables, values


@pytest.mark.slow
@given(batches())
def test_broadcast_batches(drawn):
    variables, values = drawn
    outputs = Blockwise(Interleave(), signature="(a),(b)->(c),()")(*variables)
    model = compare_onnx_and_py(variables, outputs, values)
    unbatched = all(v.type.broadcastable[:-1] == (True,) * (v.ndim - 1) for v in variables)
    assert unbatched or "Loop" in op_types(model)


def test_input_without_a_batch():
    x, y = pt.matrix("x"), pt.vector("y")
    outputs = Blockwise(Interleave(), signature="(a),(b)->(c),()")(x, y)
    model = compare_onnx_and_py([x, y], outputs, [RNG.normal(size=(3, 2)), RNG.normal(size=4)])
    assert "Expand" not in op_types(model)


def test_empty_batch():
    x = pt.matrix("x")
    values = [np.zeros((0, 3))]
    model = export_onnx([x], Blockwise(Double(), signature="(a)->(a)")(x))
    (result,) = run(model, values)
    assert result.shape == (0, 3)


def test_core_op_without_converter():
    x = pt.matrix("x")
    output = Blockwise(Unknown(), signature="(a)->(a)")(x)
    with pytest.raises(UnsupportedOpError, match="Unknown"):
        export_onnx([x], output)
