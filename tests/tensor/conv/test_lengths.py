"""The formulas of windows stand once."""

import re
from pathlib import Path

import pytest

from pytensor.tensor.conv import lengths

HOME = Path(lengths.__file__)
PACKAGE = HOME.parents[2]
# Slices of any array, in loops
OTHERS = {"link/jax/rewriting/windows.py"}
FORMULAS = {
    "extent": r"\([^()]+ - 1\) \* \S+ \+ 1\b|\S+ \* \([^()]+ - 1\) \+ 1\b",
    "transposed length": r"\([^()]+ - 1\) \* \S+ \+ \w+ - ",
    "adaptive end": r"\* \w+ \+ \(\w+ - 1\)\) // ",
}


@pytest.fixture(scope="module")
def code():
    """Return the text of each module, without docstrings."""
    return {
        path.relative_to(PACKAGE).as_posix(): re.sub(r'""".*?"""', "", path.read_text(), flags=re.S)
        for path in PACKAGE.rglob("*.py")
    }


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_stands_in_one_module(name, code):
    found = {path for path, text in code.items() if re.search(FORMULAS[name], text)}
    assert found - OTHERS == {HOME.relative_to(PACKAGE).as_posix()}
