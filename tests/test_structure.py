"""Importing PyTensor executes few of our modules, as docs/architecture.md says."""

import re

import pytest

from tests.utils import ci_program

# Loaded when they are used
LATER = "pytensor.layers", "pytensor.optimizers", "pytensor.tensor.nn", "pytensor.tensor.conv"


@pytest.mark.slow
def test_an_import_executes_no_more_than_the_page_says():
    structure = ci_program("structure.py")
    executed = structure.measured("imports")
    said = re.search(r"executes \| (\d+) \| (\d+) \|", structure.PAGE.read_text())
    assert 10 < len(executed) <= int(said[1]) <= int(said[2]), executed
    assert not [name for name in executed if name.startswith(LATER) or ".dispatch" in name]
