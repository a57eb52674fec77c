"""The picture of the architecture shows the rooms and imports that there are."""

import re

import pytest

from docs.tools.architecture import DEMO, DEMO_ROWS, PICTURE, Part, picture, reached

NUMBER = re.compile(r'(<text class="number.*>)([\d,]+)</text>')


@pytest.mark.slow
def test_the_picture_is_that_of_the_imports():
    """Otherwise: python -m docs.tools.architecture"""
    drawn, present = PICTURE.read_text("utf-8"), picture()
    assert NUMBER.sub(r"\1", drawn) == NUMBER.sub(r"\1", present)
    lines = [[int(n.replace(",", "")) for _, n in NUMBER.findall(t)] for t in (drawn, present)]
    assert len(lines[0]) > 20
    assert lines[0] == pytest.approx(lines[1], rel=0.2, abs=20)


def test_rooms_are_read_from_the_folders(tmp_path):
    (tmp_path / "data/inner").mkdir(parents=True)
    (tmp_path / "main.py").write_text("import data.loader\n\n\n")
    (tmp_path / "data/loader.py").write_text("from data.inner import cut\n")
    (tmp_path / "data/inner/cut.py").write_text("def cut():\n    import main\n")
    part = Part(tmp_path, [{".": ""}, {"data": ""}])
    assert part.lines == {".": {".": 3}, "data": {".": 1, "inner": 2}}
    assert part.arrows == [(".", "data"), ("data", ".")]


@pytest.mark.slow
def test_only_arrows_past_other_rooms_are_left_out():
    part = Part(DEMO, DEMO_ROWS)
    assert part.shown({("tools", "training"), ("training", "data"), ("tools", "data")}) == [
        ("tools", "training"),
        ("training", "data"),
    ]
    assert part.shown({("tools", "data")}) == [("tools", "data")]
    assert reached("a", {("a", "b"), ("b", "a"), ("b", "c"), ("d", "e")}) == {"a", "b", "c"}
