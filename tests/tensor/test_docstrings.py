"""The examples in the docstrings of all our tensor modules."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import pytensor

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "pytensor" / "tensor").rglob("*.py"))
    if path.stem != "__extend__"
]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    # Numba takes half a minute to compile them
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        assert doctest.testmod(import_module(module)).failed == 0
