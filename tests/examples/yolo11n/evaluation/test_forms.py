"""Detectors of other projects' forms: what they are fed with, and their boxes."""

import numpy as np
import pytest
from data.images import letterbox
from evaluation.detectors import ModelError, detect, detect_in, open_detector
from evaluation.forms import COCO_CLASSES, Yolox
from PIL import Image

from tests.examples.yolo11n.evaluation.drawn import write_detector, write_zeros

COLOUR = (200, 100, 50)
RGB = ["red", "green", "blue"]
# Of a picture of 64 x 32 in a square of 32, the first row is 8 in the middle, 0 in the corner.
CENTRED = {"form": "yolo11", "names": RGB, "box": (12, 18, 12, 8), "row": 8}
IN_CORNER = {"form": "yolox", "names": RGB[::-1], "box": (12, 10, 12, 8), "row": 0}
BOX = [12, 12, 36, 28]  # of the picture


@pytest.mark.parametrize("made", [CENTRED, IN_CORNER], ids=["yolo11", "yolox"])
def test_colours_place_and_box(made, builder, tmp_path):
    """The best score is red's, though YOLOX takes blue first; both see the picture's first row."""
    detector = open_detector(write_detector(tmp_path / "m.onnx", **made))
    pixels = np.full((32, 64, 3), COLOUR, np.uint8)
    found = detect_in(detector, pixels, 0.3, 0.5)
    np.testing.assert_allclose(found[:, :5], [[*BOX, 200 / 255]], rtol=1e-5)
    assert detector.classes[int(found[0, 5])] == "red"
    builder.add(64, 32, picture=Image.fromarray(pixels))
    dataset = builder.dataset(size=32)
    [found] = detect(detector, dataset, 1).values()
    assert [detector.classes[int(row[5])] for row in found] == RGB
    np.testing.assert_allclose(found[:, 4], np.array(COLOUR) / 255, rtol=1e-5)
    np.testing.assert_allclose(found[:, :4], [BOX] * 3, rtol=1e-5)


def test_pictures_keep_their_place_in_the_data_set(builder, tmp_path):
    """What is moved for YOLOX is a copy."""
    detector = open_detector(write_detector(tmp_path / "m.onnx", **IN_CORNER))
    builder.add(64, 32, picture=Image.new("RGB", (64, 32), COLOUR))
    dataset = builder.dataset(size=32)
    first, second = (detect(detector, dataset, 1)[dataset.image_ids[0]] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    square, _ = letterbox(dataset.picture(0), 32)
    np.testing.assert_array_equal(dataset[0].image, square)


def test_cells_of_all_grids():
    """Each cell's box is centred in it and as large as its stride: so the grids are in order."""
    output = np.zeros((2, 21, 6), np.float32)
    output[..., :2], output[1, :, 4:] = 0.5, (0.5, 0.8)
    found = Yolox.predictions(output, 32)
    assert found.shape == (2, 5, 21)
    assert found[0, 0].tolist() == [4, 12, 20, 28] * 4 + [8, 24] * 2 + [16]
    assert found[0, 1].tolist() == [*np.repeat([4, 12, 20, 28], 4), 8, 8, 24, 24, 16]
    assert found[0, 2].tolist() == found[0, 3].tolist() == [8] * 16 + [16] * 4 + [32]
    np.testing.assert_allclose(found[:, 4, 7], [0, 0.4])


def test_some_classes_in_another_order(tmp_path):
    path = write_detector(tmp_path / "m.onnx", **CENTRED)
    detector = open_detector(path, classes=["blue", "red"])
    image = np.full((1, 3, 32, 32), 51, np.uint8) * np.uint8([1, 2, 3]).reshape(3, 1, 1)
    assert detector.classes == ["blue", "red"]
    assert detector(image).shape == (1, 6, 21)
    np.testing.assert_allclose(detector(image)[0, 4:, 5], [0.6, 0.2], rtol=1e-6)
    with pytest.raises(ValueError, match=r"has no category .'Red'. .did you mean 'red'"):
        open_detector(path, classes=["Red"])


def test_names_from_a_file_or_of_coco(tmp_path):
    (tmp_path / "names.txt").write_text("cat\ndog\nbird\n")
    path = write_detector(tmp_path / "m.onnx", "yolox", names=None)
    with pytest.raises(ModelError, match=r"no names of its classes, .* or give --names FILE"):
        open_detector(path)
    assert open_detector(path, names=tmp_path / "names.txt").classes == ["cat", "dog", "bird"]
    for shape in ([1, 84, 21], [1, 21, 85]):
        detector = open_detector(write_zeros(tmp_path / "zeros.onnx", shape))
        assert detector.classes == list(COCO_CLASSES)
        assert detector.upper_left == (shape[2] == 85)


def test_an_open_shape_is_found_by_a_run(tmp_path):
    path = write_zeros(tmp_path / "m.onnx", [1, 21, 85], said=[1, "cells", "columns"])
    assert open_detector(path).upper_left


def test_a_shape_of_two_forms(tmp_path):
    """At 64 px, YOLOX has 84 cells; 84 rows are those of YOLO11 with 80 classes, too."""
    path = write_zeros(tmp_path / "m.onnx", [1, 84, 85], size=64)
    with pytest.raises(ModelError, match="of several forms: give --form yolo11 or yolox"):
        open_detector(path)
    assert not open_detector(path, form="yolo11").upper_left
    assert open_detector(path, form="yolox").upper_left


@pytest.mark.parametrize(
    ("shape", "form", "message"),
    [
        ([1, 7, 21], "yolox", r"not \(batch, 21, 8\) of yolox for images of 32 px and the classes"),
        (
            [1, 22, 8],
            None,
            r"\(1, 22, 8\), not \(batch, 7, anchors\) of yolo11 or \(batch, 21, 8\)",
        ),
        ([1, 7], None, r"shape \(1, 7\), not"),
    ],
)
def test_shapes_of_no_form(tmp_path, shape, form, message):
    path = write_zeros(tmp_path / "m.onnx", shape, names=["a", "b", "c"])
    with pytest.raises(ModelError, match=message):
        open_detector(path, form=form)


def test_weights_have_a_form_and_names():
    with pytest.raises(ModelError, match="--form and --names are for ONNX files"):
        open_detector("real", form="yolo11")
