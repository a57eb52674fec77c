"""One form of tables of converters, of one Node and of one writer of nodes."""

import ast
from pathlib import Path

import pytest

import pytensor.link.onnx
from pytensor.link.conversions import Conversions
from pytensor.link.onnx.converters import OperatorConverters
from pytensor.link.onnx.dispatch import onnx_funcify
from pytensor.link.onnx.importing.registry import operator_funcify

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
