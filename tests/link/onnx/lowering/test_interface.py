"""Names and sizes of a model's inputs and outputs."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from tests.link.onnx.test_basic import dims, run


def vectors(*names):
    return [pt.vector(name, dtype="float32") for name in names]


def names(infos):
    return [info.name for info in infos]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "inputs", "outputs"),
    [
        (("a", "b"), ["a", "b"], ["a_out", "b_out"]),
        (("a", "a"), ["a", "a_1"], ["a_out", "a_1_"]),
        (("a_2", "a", "a"), ["a_2", "a", "a_2_"], ["a_2_out", "a_out", "a_2__"]),
        (("x", "x_out"), ["x", "x_out"], ["x_0", "x_out_out"]),
        ((None, None), ["input_0", "input_1"], ["output_0", "output_1"]),
        (("add_0", "é/ü"), ["add_0", "é/ü"], ["add_0_out", "é/ü_out"]),
    ],
)
def test_names_are_unique(given, inputs, outputs):
    variables = vectors(*given)
    model = export_onnx(variables, variables)
    assert names(model.graph.input) == inputs
    assert names(model.graph.output) == outputs
    values = [np.float32([i]) for i in range(len(variables))]
    np.testing.assert_array_equal(run(model, values), values)


def test_outputs_that_repeat():
    (x,) = vectors("x")
    y = x + 1
    y.name = "x_out"
    model = export_onnx([x], [y, y, x, x])
    assert names(model.graph.output) == ["x_out", "x_out_out", "x_2", "x_3"]
    results = run(model, [np.float32([1])])
    assert [float(r[0]) for r in results] == [2, 2, 1, 1]


def test_generated_names_give_way():
    (x,) = vectors("add_0")
    y = pt.exp(x + 1)
    y.name = "add_0/exp"
    model = export_onnx([x], [y + y, y])
    produced = [name for node in model.graph.node for name in node.output]
    assert len({*produced, "add_0"}) == len(produced) + 1


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"input_names": ["a", "a"]}, "'a' is in input_names already"),
        ({"input_names": ["a", "b"], "output_names": ["b"]}, "'b' is in input_names already"),
        ({"input_names": ["a", ""]}, "input_names must be strings, got ''"),
        ({"input_names": "a"}, "input_names must have 2 names, got 1"),
        ({"dynamic_axes": {"x": "N"}}, "must have axes with the names of their sizes"),
        ({"dynamic_axes": {"x": 0}}, "must have axes with the names of their sizes"),
        ({"dynamic_axes": {"x": {"0": "N"}}}, "has 1 axes, got axis '0'"),
        ({"dynamic_axes": {"x": {1: "N"}}}, "has 1 axes, got axis 1"),
        ({"dynamic_axes": {"x": {0: "N", -1: "M"}}}, "axis 0 of 'x' is given twice"),
        ({"dynamic_axes": {"x": {0: ""}}}, "must be a string, got ''"),
        ({"dynamic_axes": {"x": {0: 3}}}, "must be a string, got 3"),
    ],
)
def test_wrong_names(arguments, match):
    x, y = vectors("x", "y")
    with pytest.raises((ValueError, TypeError), match=match):
        export_onnx([x, y], x * 2, **arguments)


def test_names_of_sizes_do_not_collide():
    x = pt.matrix("x", dtype="float32")
    model = export_onnx([x], pt.exp(x), dynamic_axes={"x": {0: "x_dim_1"}})
    assert dims(model.graph.input[0]) == ["x_dim_1", "x_dim_1_"]
    model = export_onnx([x], pt.exp(x), dynamic_axes={"x": [0], "output_0": {-1: "M"}})
    assert dims(model.graph.input[0]) == ["x_dim_0", "x_dim_1"]
    assert dims(model.graph.output[0]) == ["x_dim_0", "M"]


def test_a_model_needs_outputs():
    with pytest.raises(ValueError, match="needs outputs"):
        export_onnx(vectors("x"), [])
