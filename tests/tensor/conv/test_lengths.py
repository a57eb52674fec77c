"""The formulas of windows stand once."""

import re
from pathlib import Path

import numpy as np
import pytest

from pytensor.tensor.conv.lengths import (
    pool_output_length,
    started_window_count,
    window_count,
)

PACKAGE = Path(__file__).parents[3] / "pytensor"
HOME = "tensor/conv/lengths.py"
# Slices of any array, in loops
OTHERS = {"link/jax/rewriting/host_checks.py"}
FORMULAS = {
    "extent": r"\([^()]+ - 1\) \* \S+ \+ 1\b|\S+ \* \([^()]+ - 1\) \+ 1\b",
    "transposed length": r"\([^()]+ - 1\) \* \S+ \+ \w+ - ",
    "adaptive end": r"\* \w+ \+ \(\w+ - 1\)\) // ",
}


@pytest.fixture(scope="module")
def code():
    """Return the text of each module of ours, without docstrings."""
    return {
        path.relative_to(PACKAGE).as_posix(): re.sub(r'""".*?"""', "", path.read_text(), flags=re.S)
        for path in PACKAGE.rglob("*.py")
    }


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_stands_in_one_module(name, code):
    found = {path for path, text in code.items() if re.search(FORMULAS[name], text)}
    assert found - OTHERS == {HOME}


def test_formulas_for_integers_and_for_variables_agree():
    for length, extent, stride, before, after in np.ndindex(12, 6, 4, 4, 4):
        axis = length, extent + 1, stride + 1, (before, after)
        assert started_window_count(*axis) == pool_output_length(*axis, False)
        assert max(window_count(*axis), 0) == pool_output_length(*axis, True)
