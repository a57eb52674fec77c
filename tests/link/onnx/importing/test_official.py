"""ONNX's own test cases: each passes, or is refused for the reason that the table gives."""

import re
from functools import cache

import pytest

from docs.tools import onnx_import as table
from tests.link.onnx.importing import official
from tests.node_cases import node_cases

TEXT = table.TABLE.read_text()
ROWS = [line for line in TEXT.partition("## ")[0].splitlines() if line.startswith("| ")][2:]
# The cases themselves take seconds to make, and each process that collects tests would make them.
OPERATORS = [row.split(" | ")[0].removeprefix("| ") for row in ROWS]
# Whose importers other tests execute
LONG = (
    "AveragePool", "BatchNormalization", "BitShift", "CastLike", "CenterCropPad", "Clip", "DFT",
    "DequantizeLinear", "FlexAttention", "GRU", "Gemm", "LSTM", "LinearAttention", "LogSoftmax",
    "LpPool", "Mish", "Mod", "Pad", "QLinearMatMul", "ReduceLogSumExp", "RoiAlign",
    "ScatterElements", "SoftmaxCrossEntropyLoss",
)  # fmt: skip
groups = cache(table.groups)


@pytest.mark.parametrize(
    "operator", [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in OPERATORS]
)
def test_the_table_says_what_is_so(operator):
    assert table.row(operator, groups()[operator]) in ROWS


def test_the_table_lists_all():
    assert list(groups()) == OPERATORS
    assert "\n".join(table.summary(ROWS)) in TEXT


def test_the_table_of_inputs_and_attributes():
    assert "\n".join(table.table_of_signatures()) in TEXT


def test_the_guide_has_the_tables_figures():
    first = " ".join(TEXT.split())
    guide = " ".join((table.TABLE.parent / "onnx.md").read_text().split())
    total, *shares = re.findall(r"([\d,]+) (?:test cases|\([\d.]+%\))", first)[:4]
    assert f"Of the {total} node cases" in guide
    passed, known, left = shares
    percent = [f"{int(n.replace(',', '')) / int(total.replace(',', '')):.1%}" for n in shares[:2]]
    percent = [v.replace("%", " %") for v in percent]
    assert f"{passed} ({percent[0]}) pass as they are and {known} ({percent[1]}) with" in guide
    assert f"{left} are left out or refused" in guide


JAX = {
    "relu": "passed",
    "scan_sum": "passed",
    "reshape_negative_dim": "passed with integers known",
    "nonmaxsuppression_single_box": "FAILED",
    "bernoulli": "not compared",
    "equal_string": "refused",
}


@pytest.mark.parametrize("name", JAX)
def test_cases_in_mode_jax(name):
    pytest.importorskip("jax")
    kind, reason = official.outcome(name, node_cases()[name], "JAX")
    assert kind == JAX[name], reason
