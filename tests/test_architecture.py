"""The picture of the architecture shows the packages and imports that there are."""

import re

import pytest

from docs.tools.architecture import PICTURE, picture

NUMBER = re.compile(r'(<text class="number.*>)([\d,]+)</text>')


@pytest.mark.slow
def test_the_picture_is_that_of_the_imports():
    """Otherwise: python -m docs.tools.architecture"""
    drawn, present = PICTURE.read_text("utf-8"), picture()
    assert NUMBER.sub(r"\1", drawn) == NUMBER.sub(r"\1", present)
    lines = [[int(n.replace(",", "")) for _, n in NUMBER.findall(t)] for t in (drawn, present)]
    assert len(lines[0]) > 20
    assert lines[0] == pytest.approx(lines[1], rel=0.2, abs=20)
