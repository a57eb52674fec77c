"""Each version of an operator means what the standard or onnxruntime says, as the table has it."""

import pytest

pytest.importorskip("onnx_ir")
pytest.importorskip("onnxruntime")
table = pytest.importorskip("docs.tools.onnx_import")
versions = pytest.importorskip("tests.link.onnx.importing.versions")


@pytest.mark.parametrize("op_type", versions.history())
def test_the_table_says_with_what_versions_were_compared(op_type):
    assert table.versions_row(op_type) in table.TABLE.read_text().splitlines()


def test_hardly_a_version_is_not_compared():
    lines = [line for line in table.TABLE.read_text().splitlines() if "not compared" in line]
    assert len(lines) <= 2
