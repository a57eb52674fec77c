"""The list of a detector's mistakes, and their pictures."""

import re

import numpy as np
import pytest
from PIL import Image
from tools import mistakes

from tests.examples.yolo11n.training.runs import write_data


@pytest.mark.slow
def test_mistakes_of_a_detector_are_listed_and_drawn(finder_onnx_of_one, tmp_path, capsys):
    data = write_data(tmp_path / "data")
    given = [finder_onnx_of_one, "--data", data, "--count", 3, "--draw", tmp_path / "drawn"]
    assert mistakes.main([*map(str, given)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("6 images, ")
    count = int(lines[1].partition(" false detections: ")[0])
    assert count > 3
    assert sum(map(int, re.findall(r" (\d+)", lines[1].partition(": ")[2]))) == count
    scores = [float(line.split("score ")[1][:4]) for line in lines if line.startswith("false")]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    with Image.open(tmp_path / "drawn/false.png") as sheet:
        assert sheet.size == (3 * 64 + 2 * 4, 64)
        assert np.asarray(sheet).std() > 5


def test_a_sheet_of_misses_and_false_detections(builder, tmp_path):
    number = builder.add(64, 64, [(1, 4, 4, 20, 24)])
    dataset = builder.dataset()
    false = np.array([[40, 40, 60, 60, 0.9, 1]])
    mistakes.draw_mistakes(tmp_path / "both.png", dataset, {number: false})
    with Image.open(tmp_path / "both.png") as sheet:
        assert sheet.size == (2 * 64 + 4, 64)
    right = np.array([[4, 4, 24, 28, 0.9, 0]])
    mistakes.draw_mistakes(tmp_path / "none.png", dataset, {number: right})
    assert not (tmp_path / "none.png").exists()
