"""A converter's parameters are the inputs and attributes of its operator."""

from typing import Literal

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import defs, parser

from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing.from_onnx import operator_funcify
from pytensor.link.onnx.importing.model import HIGHEST_OPSET
from pytensor.link.onnx.importing.registry import NodeReader, Refused, of_signature
from pytensor.link.onnx.importing.schemas import ALWAYS_WITHOUT_EFFECT

operator_funcify.load()
DECLARED = sorted(
    name
    for domain, name in operator_funcify.registry
    if not domain and hasattr(operator_funcify.dispatch(name), "attributes")
)


def node(**attributes):
    made = onnx.helper.make_node("Test", ["x"], ["y"], **attributes)
    return NodeReader(ir.from_proto(made), 20, None, None, {}, None)


def test_attributes_are_parameters():
    @of_signature
    def converter(x, y=None, *, size, mode: Literal["a", "b"] = "a", scale=0.1):
        return x, y, size, mode, scale

    assert converter.attributes == {"size", "mode", "scale"}
    assert converter(node(size=3), "x") == ("x", None, 3, "a", float(np.float32(0.1)))
    assert converter(node(size=3, mode="b", scale=2.0), "x", "y") == ("x", "y", 3, "b", 2.0)
    with pytest.raises(Refused, match="no attribute 'size'"):
        converter(node(), "x")
    with pytest.raises(Refused, match="its mode is 'c'; there are 'a', 'b'"):
        converter(node(size=3, mode="c"), "x")


def test_a_function_that_takes_the_node_reads_it_itself():
    def read(node, x):
        return node.attribute("size")

    assert of_signature(read) is read

    @of_signature
    def both(node, x, *, size):
        return node.opset + size

    assert both(node(size=2), "x") == 22


@pytest.mark.parametrize("name", DECLARED)
def test_the_standards_attributes_are_parameters(name):
    for opset in range(1, HIGHEST_OPSET + 1):
        converter = operator_funcify.dispatch(name, "", opset)
        if not defs.has(name, opset, "") or not hasattr(converter, "attributes"):
            continue
        schema = defs.get_schema(name, opset, "")
        assert set(schema.attributes) - ALWAYS_WITHOUT_EFFECT <= converter.attributes, opset


def test_an_attribute_that_nobody_reads_is_refused():
    text = """<ir_version: 8, opset_import: ["" : 20]> g (float[2] x) => (float[2] y)
        { y = LeakyRelu<alpha = 0.5, beta = 2.0>(x) }"""
    with pytest.raises(ImportedOpError, match=r"no attribute 'beta' in ai\.onnx 20"):
        from_onnx(parser.parse_model(text))
