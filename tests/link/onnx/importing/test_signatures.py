"""A converter's parameters are the inputs and attributes of its operator."""

from inspect import Parameter
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import defs, parser

from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.contrib import microsoft, ml
from pytensor.link.onnx.importing import operators, rare
from pytensor.link.onnx.importing.from_onnx import operator_funcify
from pytensor.link.onnx.importing.model import HIGHEST_OPSET
from pytensor.link.onnx.importing.operators.refused import REFUSED
from pytensor.link.onnx.importing.registry import (
    ALWAYS_WITHOUT_EFFECT,
    Converter,
    NodeReader,
    Refused,
    attributes_of,
)

operator_funcify.load()
STANDARD = [key for key in sorted(operator_funcify.registry) if defs.has(key[1], key[0])]
STANDARD = [key for key in STANDARD if key not in REFUSED]


def node(**attributes):
    made = onnx.helper.make_node("Test", ["x"], ["y"], **attributes)
    return NodeReader(ir.from_proto(made), 20, None, None, {}, None)


def test_attributes_are_parameters():
    @Converter
    def converter(x, y=None, *, size, mode: Literal["a", "b"] = "a", scale=0.1, flag: Literal[0]):
        return x, y, size, mode, scale

    assert converter.attributes.keys() == {"size", "mode", "scale", "flag"}
    assert [p.name for p in converter.inputs] == ["x", "y"]
    given = {"size": 3, "flag": 0}
    assert converter(node(**given), "x") == ("x", None, 3, "a", float(np.float32(0.1)))
    given |= {"mode": "b", "scale": 2.0}
    assert converter(node(**given), "x", "y") == ("x", "y", 3, "b", 2.0)
    with pytest.raises(Refused, match="no attribute 'size'"):
        converter(node(), "x")
    with pytest.raises(Refused, match="its mode is 'c'; there are 'a', 'b'"):
        converter(node(size=3, mode="c"), "x")
    with pytest.raises(Refused, match="its attribute flag is 1, and only 0 is supported"):
        converter(node(size=3, flag=1), "x")


def test_a_function_whose_first_parameter_is_node_gets_it():
    @Converter
    def converter(node, x, *, size):
        return node.opset + size

    assert converter(node(size=2), "x") == 22
    assert converter.with_attributes(node(size=2), "x", size=3) == 23
    assert [p.name for p in converter.inputs] == ["x"]


def test_attributes_of_another_function():
    def first(x, *, size, mode="a"):
        return x, size, mode

    @attributes_of(first)
    def second(x, y, *, mode="b", **attributes):
        return first(y, mode=mode, **attributes)

    converter = Converter(second)
    assert {name: p.default for name, p in converter.attributes.items()} == {
        "mode": "b",
        "size": Parameter.empty,
    }
    assert converter(node(size=3), "x", "y") == ("y", 3, "b")


def versions(domain, name):
    """Yield each opset in which an operator changes, its schema and its converter."""
    last = HIGHEST_OPSET if not domain else defs.get_schema(name, domain).since_version
    for opset in range(1 if not domain else last, last + 1):
        if defs.has(name, opset, domain):
            schema = defs.get_schema(name, opset, domain)
            yield opset, schema, operator_funcify.dispatch(name, domain, opset)


# Defaults that aren't the standard's, and why
OTHER_DEFAULTS = {
    ("BatchNormalization", "is_test"): "it is read as inference, as from opset 7 on",
    ("GRU", "direction"): "opset 1 writes 'foward'",
    ("RNN", "activations"): "two, which are of a layer of two directions",
}


def comparable(value):
    """Return a default as all are written: text decoded, floats in single precision, lists."""
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, bytes):
        return value.decode()
    return [*value] if isinstance(value, tuple) else value


@pytest.mark.parametrize(("domain", "name"), STANDARD)
def test_parameters_and_defaults_are_the_standards(domain, name):
    for opset, schema, converter in versions(domain, name):
        assert set(schema.attributes) - ALWAYS_WITHOUT_EFFECT <= converter.attributes.keys(), opset
        for attribute in schema.attributes.values():
            if attribute.default_value.type and (name, attribute.name) not in OTHER_DEFAULTS:
                wanted = onnx.helper.get_attribute_value(attribute.default_value)
                given = converter.attributes[attribute.name].default
                assert comparable(wanted) == comparable(given), (opset, attribute.name)
        inputs = [p for p in converter.inputs if p.kind is not Parameter.VAR_POSITIONAL]
        assert len(inputs) >= schema.max_input or inputs != converter.inputs, opset
        assert sum(p.default is p.empty for p in inputs) <= schema.min_input, opset


def test_converters_read_no_attributes_by_themselves():
    for package in (operators, rare, ml, microsoft):
        for path in Path(package.__path__[0]).glob("*.py"):
            assert ".attributes" not in path.read_text(), path.name


def test_an_attribute_that_nobody_reads_is_refused():
    text = """<ir_version: 8, opset_import: ["" : 20]> g (float[2] x) => (float[2] y)
        { y = LeakyRelu<alpha = 0.5, beta = 2.0>(x) }"""
    with pytest.raises(ImportedOpError, match=r"no attribute 'beta' in ai\.onnx 20"):
        from_onnx(parser.parse_model(text))
    text = """<ir_version: 8, opset_import: ["" : 20]> g (float[2] x) => (float[1] y)
        { y = ReduceSum<axes = [0]>(x) }"""
    with pytest.raises(ImportedOpError, match=r"no attribute 'axes' in ai\.onnx 20"):
        from_onnx(parser.parse_model(text))
