"""A converter's parameters are the inputs and attributes of its operator."""

from inspect import Parameter

import numpy as np
import onnx
import pytest
from onnx import defs

from pytensor.link.onnx.importing.from_onnx import operator_funcify
from pytensor.link.onnx.importing.model import HIGHEST_OPSET
from pytensor.link.onnx.importing.operators.refused import REFUSED
from pytensor.link.onnx.importing.registry import (
    ALWAYS_WITHOUT_EFFECT,
)

operator_funcify.load()
STANDARD = [key for key in sorted(operator_funcify.registry) if defs.has(key[1], key[0])]
STANDARD = [key for key in STANDARD if key not in REFUSED]


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
