"""ONNX's own test cases: each passes, or is refused for the reason that the table gives."""

import pytest

pytest.importorskip("onnx_ir")
table = pytest.importorskip("docs.tools.onnx_import")

GROUPS = table.groups()


@pytest.mark.parametrize("operator", GROUPS)
def test_the_table_says_what_is_so(operator):
    assert table.row(operator, GROUPS[operator]) in table.TABLE.read_text().splitlines()


def test_the_table_lists_all():
    lines = table.TABLE.read_text().splitlines()
    assert sum(line.startswith("| ") for line in lines) == len(GROUPS) + 2
