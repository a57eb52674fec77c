"""The test cases of the ONNX standard's own operators, as data: ``onnx.backend.test``.

Making them takes seconds, so their names are listed, for pytest to collect; when onnx has others:

    python -m tests.tensor.official.cases > tests/tensor/official/names.txt
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx.helper import get_attribute_value

from tests.node_cases import node_cases
from tests.tensor.official.adapters import ADAPTERS


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


@cache
def cases():
    """Map the name of each case of an operator with an adapter to the case.

    Left out are the variants in which an operator is spelled out by others.
    """
    return {
        name: _case(case)
        for name, case in node_cases().items()
        if [node.op_type in ADAPTERS for node in case.model.graph.node] == [True]
        and "_expanded" not in name
    }


def listed():
    """Map the name of each case to its operator, as they are listed."""
    lines = Path(__file__).with_name("names.txt").read_text().splitlines()
    return {name: operator for operator, name in map(str.split, lines)}


VERSION = onnx.__version__

if __name__ == "__main__":
    print(*(f"{case.operator} {name}" for name, case in cases().items()), sep="\n")
