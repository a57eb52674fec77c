"""How many files of the backend a reader of one export goes through."""

from functools import cache

import pytest

from tests.link.onnx.walk import DEPTH, calls, returns
from tests.link.onnx.walk import walk as walk_anew

walk = cache(walk_anew)


@pytest.mark.slow
def test_an_export_goes_through_few_files():
    stays = walk(DEPTH)
    assert DEPTH == 2
    assert stays[0][0] == stays[-1][0] == "export.py"
    assert len(stays) <= 11
    assert returns(stays) <= 2


@pytest.mark.slow
def test_the_walk_follows_calls_down_to_a_depth():
    assert len(walk(1)) < len(walk(DEPTH))
    assert returns([("a", []), ("b", []), ("a", []), ("c", []), ("b", [])]) == 2
    assert calls(len, []) == []
