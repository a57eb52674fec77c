"""Runtimes with a planted fault: its node is named, and a model of at most three nodes shows it."""

import pytest

from pytensor.link.onnx.compare.inputs import Case
from pytensor.link.onnx.compare.report import reports
from tests.link.onnx.compare.planted import FAULTS, faulty
from tests.link.onnx.compare.public_models import NAMES, public_model

FEW = [FAULTS[place] for place in (1, 5, 6)]


def found(fault):
    """Return the report, and whether it names the node."""
    model, inputs = public_model(fault.model)
    [report] = reports(model, [Case("recorded", inputs)], [faulty(fault, model)])
    return report, model.label(fault.node_of(model)) == report.node


@pytest.mark.slow
@pytest.mark.parametrize("fault", FEW, ids=str)
def test_the_node_is_named(fault):
    report, named = found(fault)
    assert named, report
    assert report.fused == (fault.kind == "fusion")
    assert 1 <= len(report.smallest.proto.graph.node) <= 3


@pytest.mark.long
def test_of_thirty_faults_28_are_found():
    assert len(FAULTS) == 30
    assert {fault.model for fault in FAULTS} == {*NAMES}
    missed = []
    for fault in FAULTS:
        report, named = found(fault)
        small = report.smallest is not None and len(report.smallest.proto.graph.node) <= 3
        if not (named and small):
            missed.append(f"{fault}: {report.node}, {report.difference}, grown {report.grown}")
    assert len(missed) <= 2, "\n".join(missed)
