"""ONNX's own test cases: each passes, or is refused for the reason that the table gives."""

import re

import pytest

pytest.importorskip("onnx_ir")
table = pytest.importorskip("docs.tools.onnx_import")
official = pytest.importorskip("tests.link.onnx.importing.official")

GROUPS = table.groups()


@pytest.mark.parametrize("operator", GROUPS)
def test_the_table_says_what_is_so(operator):
    assert table.row(operator, GROUPS[operator]) in table.TABLE.read_text().splitlines()


def test_the_table_lists_all():
    text = table.TABLE.read_text()
    lines = text.partition("## ")[0].splitlines()
    rows = [line for line in lines if line.startswith("| ")][2:]
    assert len(rows) == len(GROUPS)
    assert "\n".join(table.summary(rows)) in text


def test_the_table_of_inputs_and_attributes():
    assert "\n".join(table.table_of_signatures()) in table.TABLE.read_text()


def test_the_guide_has_the_tables_figures():
    first = " ".join(table.TABLE.read_text().split())
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
    kind, reason = official.outcome(name, official.cases()[name], "JAX")
    assert kind == JAX[name], reason
