"""One form of tables of converters, of one Node and of one writer of nodes."""

import ast
from pathlib import Path

import numpy as np
import pytest

import pytensor.link.onnx
from pytensor.link.conversions import Conversions
from pytensor.link.onnx.converters import OperatorConverters
from pytensor.link.onnx.dispatch import onnx_funcify
from pytensor.link.onnx.importing.registry import operator_funcify
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.link.onnx.write.lengths import arange, ints, where
from pytensor.link.onnx.write.term import Term

FILES = sorted(Path(pytensor.link.onnx.__file__).parent.rglob("*.py"))


def defined(name):
    """Return the files that define a class of this name."""
    return [
        path.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and node.name == name
    ]


def arithmetic():
    """Return the classes with arithmetic of their own."""
    return [
        node.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and "__radd__" in ast.dump(node)
    ]


@pytest.mark.slow
def test_there_is_one_of_each():
    assert len(defined("Node")) == 1
    assert arithmetic() == ["Term"]
    assert isinstance(onnx_funcify, Conversions)
    assert isinstance(operator_funcify, OperatorConverters)


def test_converters_of_operators_are_found_by_opset():
    table = OperatorConverters()
    for before in (7, 13, None):
        table.register("Add", "Sub", before=before)(str(before))
    found = [table.dispatch("Sub", "", opset) for opset in (1, 6, 7, 12, 13, None)]
    assert found == ["7", "7", "13", "13", "None", "None"]
    assert table.forms("Sub") == {7: "7", 13: "13", None: "None"}
    assert table.dispatch("Mul") is None
    assert table.dispatch("Add", "com.microsoft") is None
    with pytest.raises(ValueError, match="two converters of Add"):
        table.register("Add", before=13)("again")


def test_terms_of_known_integers_add_no_nodes():
    builder = GraphBuilder(20)
    known = (arange(builder, 4) * 3 + 1) % 5
    np.testing.assert_array_equal(where(known == 2, 7, known).value, [1, 4, 7, 0])
    assert not builder.graph.nodes
    length = ints(builder, "length")
    assert length + 0 is length
    assert (length * 2 - known).value not in builder.graph.initializers
    assert [node.op_type for node in builder.graph.nodes] == ["Mul", "Sub"]
    with pytest.raises(TypeError, match="when the model runs"):
        assert length == 2


def test_terms_of_floats_are_what_the_formula_says():
    builder = GraphBuilder(20)
    x = Term(builder, "x")
    assert (1.0 - x * 1 + 0).dtype == "float64"
    assert [node.op_type for node in builder.graph.nodes] == ["Mul", "Sub", "Add"]
    assert {a.dtype.name for a in builder.graph.initializers.values()} == {"float64"}
