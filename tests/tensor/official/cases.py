"""The test cases of the ONNX standard's own operators, as data: ``onnx.backend.test``."""

import warnings
from dataclasses import dataclass

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases
from onnx.helper import get_attribute_value


@dataclass(frozen=True)
class Case:
    """A model of one node, with inputs and the outputs that it must have.

    Inputs are in the order of the operator's definition, None where one is left out.
    """

    operator: str
    attributes: dict
    inputs: tuple
    outputs: tuple
    rtol: float
    atol: float


def _attribute(attribute):
    value = get_attribute_value(attribute)
    return value.decode() if isinstance(value, bytes) else value


def _case(case):
    (node,) = case.model.graph.node
    ((values, outputs),) = case.data_sets
    values = iter(values)
    return Case(
        operator=node.op_type,
        attributes={attribute.name: _attribute(attribute) for attribute in node.attribute},
        inputs=tuple(np.asarray(next(values)) if name else None for name in node.input),
        outputs=tuple(np.asarray(output) for output in outputs),
        rtol=case.rtol,
        atol=case.atol,
    )


def load(operators):
    """Map the name of each case of these operators to the case.

    Left out are the variants in which an operator is spelled out by others.
    """
    # Cases of other operators provoke warnings of NumPy while they are made
    with warnings.catch_warnings(action="ignore"):
        cases = collect_testcases(None)
    return {
        case.name.removeprefix("test_"): _case(case)
        for case in cases
        if [node.op_type in operators for node in case.model.graph.node] == [True]
        and "_expanded" not in case.name
    }


VERSION = onnx.__version__
