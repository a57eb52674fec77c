"""Pictures of a training and of an evaluation."""

import numpy as np
import pytest
from data.images import read_image
from evaluation import report
from evaluation.report import draw_curves, draw_detections, draw_validation
from PIL import Image

from tests.examples.conftest import exif_of


def test_draw_detections():
    image = np.full((120, 200, 3), 60, dtype=np.uint8)
    rows = [[20, 40, 90, 110, 0.9, 0], [120, 30, 180, 100, 0.5, 1], [-30, -30, 400, 300, 0.1, 1]]
    drawn = draw_detections(image, rows, ["person", "cell phone"])
    assert drawn.shape == image.shape
    assert (image == 60).all()
    green, orange = drawn[80, 20].astype(int), drawn[80, 120].astype(int)
    assert green[1] > max(green[0], green[2]) + 50
    assert orange[0] > orange[1] > orange[2] + 50
    np.testing.assert_array_equal(drawn[80, 50], 60)  # boxes are not filled
    np.testing.assert_array_equal(draw_detections(image, [], ["person"]), image)
    truth = draw_detections(image, [[20, 40, 90, 110, 0]], ["person"])
    np.testing.assert_array_equal(truth[80, 20], green)


def test_pictures_are_drawn_as_their_boxes_see_them(builder, tmp_path):
    """Where the annotations ignore the camera's orientation, so does the sheet."""
    pixels = np.full((40, 60, 3), 90, np.uint8)
    pixels[:, :30] = 200
    picture = Image.fromarray(pixels)
    image_id = builder.add(60, 40, [(1, 0, 0, 30, 40)], picture=picture, exif=exif_of(6))
    dataset, nothing = builder.dataset(), {image_id: np.empty((0, 6))}
    draw_validation(tmp_path / "pairs.png", dataset, nothing)
    pairs = read_image(tmp_path / "pairs.png")
    assert pairs.shape[1] == 2 * 60 + 4
    bright = (pairs > 150).all(axis=2)[:, 64:]  # the right one of a pair is without boxes
    assert bright[:, :30].mean() > 0.9
    assert bright[:, 30:].mean() < 0.1
    assert not np.array_equal(pairs[:, :60], pairs[:, 64:])


@pytest.mark.slow
def test_curves_of_a_training(tmp_path):
    losses = {"box_loss": 1.0, "cls_loss": 2.0, "dfl_loss": 1.5, "lr": 0.01}
    rows = [{"epoch": 1, "map50": None, "map50_95": None}, {"epoch": 2, "map50": 1, "map50_95": 1}]
    draw_curves(tmp_path / "a.png", [losses | row for row in rows])
    assert read_image(tmp_path / "a.png").std() > 5


def test_labels_show_every_class(builder, tmp_path, monkeypatch):
    for k in range(20):
        builder.add(40, 30, [(77 if k == 13 else 1, 4, 4, 20, 20)] * (k != 5))
    drawn, draw = [], report.draw_detections

    def noted(image, rows, names):
        drawn.append(rows)
        return draw(image, rows, names)

    monkeypatch.setattr(report, "draw_detections", noted)
    report.draw_labels(tmp_path / "labels.png", builder.dataset())
    assert {1} in [{*rows[:, 4]} for rows in drawn]
    assert len(drawn) == 12
    np.testing.assert_allclose(drawn[0][:, :4], [[6.4, 14.4, 38.4, 46.4]], atol=1e-4)
    with Image.open(tmp_path / "labels.png") as sheet:
        assert sheet.size == (4 * 64 + 3 * 4, 3 * (64 + 14) + 2 * 4)
        below_first = np.asarray(sheet.convert("L"))[64:78, :64]
    assert below_first.min() < 64  # letters
