"""ONNX's own test cases: each passes, or is refused for the reason that the table gives."""

import pytest

pytest.importorskip("onnx_ir")
table = pytest.importorskip("docs.tools.onnx_import")

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
