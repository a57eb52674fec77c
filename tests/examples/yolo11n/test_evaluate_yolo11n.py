"""Evaluation of a trained detector: one code for PyTensor's weights and for ONNX files.

What a model of random weights finds in generated pictures is moved a little and made the ground
truth, so that there is something to score.
"""

import json
import re
import shlex

import numpy as np
import pytest
from data.images import read_image
from dataset import load_split
from evaluate_yolo11n import format_table, main
from evaluation.detectors import detect, open_detector
from evaluation.metrics import TWELVE, coco_scores

from tests.examples.conftest import CLASSES, draw_set
from tests.utils import error_line

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled_sooner")]

SIZE = 64
PICTURES = [(80, 60), (60, 80), (64, 64), (100, 50), (72, 48), (90, 90), (64, 40), (50, 70)]


def open_set(root):
    return load_split(root, "val", CLASSES, SIZE)


@pytest.fixture(scope="module")
def detector(finder_weights):
    return open_detector(finder_weights, batch_size=4)


@pytest.fixture(scope="module")
def data(detector, tmp_path_factory):
    """Write eight pictures; the third has no object, the fifth a crowd region."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    squares = [rng.integers(0, 256, (12, 12, 3), dtype=np.uint8) for _ in PICTURES]
    pictures = [
        np.kron(square, np.ones((10, 10, 1), np.uint8))[:height, :width]
        for square, (width, height) in zip(squares, PICTURES, strict=True)
    ]
    whole = [[(1, 0, 0, *size)] for size in PICTURES]
    drawn = open_set(draw_set(folder / "pictures", PICTURES, whole, pictures))
    boxes = [[] for _ in PICTURES]
    boxes[4].append((1, 0, 0, 40, 30, 1))
    detections = detect(detector, drawn, 4)
    for k, image_id in enumerate(drawn.image_ids):
        found = detections[image_id]
        found = found[(found[:, 2:4] - found[:, :2] > 5).all(axis=1)]
        best = [found[found[:, 5] == label][:4] for label in range(2)]
        for row in np.concatenate(best) if k != 2 else []:
            moved = (row[:4] + rng.normal(0, 0.6, 4)).clip(0, [*PICTURES[k]] * 2)
            x, y, right, bottom = moved.tolist()
            boxes[k].append(((1, 77)[int(row[5])], x, y, right - x, bottom - y))
    return draw_set(folder / "data", PICTURES, boxes, pictures)


@pytest.fixture(scope="module")
def scores(detector, data):
    dataset = open_set(data)
    return coco_scores(dataset, detect(detector, dataset, 4))


# ------------------------------------------------------------------------------ the same numbers


@pytest.mark.by_default("3")
@pytest.mark.parametrize("batch", [1, 3])
def test_pytensor_and_onnx_score_the_same(scores, data, finder_onnx, finder_onnx_of_one, batch):
    path, dataset = finder_onnx_of_one if batch == 1 else finder_onnx, open_set(data)
    found = coco_scores(dataset, detect(open_detector(path, batch_size=batch), dataset, batch))
    assert 0.05 < scores["map50_95"] < scores["map50"] < 0.95
    assert sum(own["boxes"] for own in scores["per_class"].values()) == 56
    for key in TWELVE:
        wanted = pytest.approx(scores["twelve"][key], abs=1e-4, nan_ok=True)
        assert found["twelve"][key] == wanted
    for name, own in scores["per_class"].items():
        assert own == pytest.approx(found["per_class"][name], abs=1e-4)


def test_table_of_a_class_without_ground_truth(builder):
    builder.add(64, 64, [(1, 10, 10, 20, 30)])
    dataset = builder.dataset()
    (image_id,) = dataset.image_ids
    found = {image_id: [[10, 10, 30, 40, 0.9, 0], [40, 40, 60, 60, 0.8, 1]]}
    table = format_table(coco_scores(dataset, found)["per_class"]).splitlines()
    assert table[0].split() == ["class", "boxes", "P", "R", "score", "AP50", "AP50-95"]
    assert table[1].split() == ["person", "1", "1.000", "1.000", "0.900", "1.000", "1.000"]
    assert table[2].split() == ["cell", "phone", "0", *"-----"]


# ------------------------------------------------------------------------------ the command


def test_command(scores, finder_onnx, data, tmp_path, capsys):
    output = tmp_path / "new" / "folder"
    assert main([str(finder_onnx), "--data", str(data), "--output-dir", str(output)]) == 0
    text = capsys.readouterr().out
    written = json.loads((output / "metrics.json").read_text())
    assert written["coco"]["map50_95"] == pytest.approx(scores["map50_95"], abs=1e-4)
    assert written["coco"]["twelve"]["map_large"] is None
    assert (written["classes"], written["images"], written["image_size"]) == (CLASSES, 8, SIZE)
    headline = f"mAP@0.5:0.95 {scores['map50_95']:.4f} (mAP@0.5 {scores['map50']:.4f}), by pyco"
    for line in (headline, "class", "person", "cell phone", "COCO's twelve scores: map50_95 0."):
        assert f"\n{line}" in text
    assert read_image(output / "val_detections.png").std() > 5
    names = "confusion_matrix", "curves"
    tables = {f"{name}.{form}" for name in names for form in ("csv", "png")}
    assert {p.name for p in output.iterdir()} == {"metrics.json", "val_detections.png"} | tables


@pytest.mark.parametrize(
    ("options", "images"),
    [
        (["--limit", "4", "--image-size", str(SIZE)], 4),
        (["--with-class", "person"], 7),  # all but the one without objects
    ],
)
def test_command_with_options(finder_onnx, data, tmp_path, options, images):
    arguments = [str(finder_onnx), "--data", str(data), "--output-dir", str(tmp_path)]
    assert main([*arguments, *options]) == 0
    assert json.loads((tmp_path / "metrics.json").read_text())["images"] == images


def test_each_set_has_a_row_and_its_thresholds(finder_onnx, data, tmp_path, capsys):
    """The row has the numbers of the set alone, at the thresholds that were found."""
    given = [str(finder_onnx), "--output-dir", str(tmp_path), "--data", str(data)]
    assert main([*given, "--thresholds"]) == 0
    best = re.search(r"^best: (--confidence .* --iou .*), mean F1 0", capsys.readouterr().out, re.M)
    options = shlex.split(best[1])
    alone = json.loads((tmp_path / "metrics.json").read_text())
    assert main([*given, str(data), "--each", *options]) == 0
    table = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line[0] == "|"]
    heads = "| set,person AP@0.5,cell phone AP@0.5,person recall, precision"
    assert ",".join(table[0]).startswith(heads)
    assert table[2] == table[3]
    assert table[2][0] == f"| {data} (8)"
    first, second = json.loads((tmp_path / "metrics.json").read_text())["sets"]
    assert first == second
    for place, name in enumerate(CLASSES):
        found, own = alone["thresholds"]["per_class"][name], first["drawn"]["per_class"][name]
        assert (own["all"]["recall"], own["all"]["precision"]) == (
            found["recall"],
            found["precision"],
        )
        assert table[2][1 + place] == f"{alone['coco']['per_class'][name]['map50']:.3f}"
        assert table[2][3 + place] == f"{found['recall']:.3f}, {found['precision']:.3f}"
        assert 0 < found["f1"] < 1
    assert table[2][5] == f"{first['drawn']['wholly_right']} of 8 |"
    assert (tmp_path / "val_detections_2.png").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--with-class", "cat"], "no picture has a box of 'cat'"),
        (["--confidence", "cat=0.3"], "confidence 'cat=0.3': give a number"),
        (["--data", "unlabelled/coco"], "no ground-truth box of ['person', "),
    ],
)
def test_command_errors(finder_onnx, data, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    draw_set(tmp_path / "unlabelled", [(9, 9)], [[]])
    assert main([str(finder_onnx), "--data", str(data), "--output-dir", "out", *options]) == 1
    assert message in error_line(capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--image-size", "100"], "multiple of 32"),
        (["--split", "all"], "invalid choice: 'all'"),
        (["--least-precision", "0.8"], "--least-precision needs --thresholds"),
    ],
)
def test_wrong_options(capsys, options, message):
    with pytest.raises(SystemExit):
        main(["m.onnx", "--data", ".", *options])
    assert message in capsys.readouterr().err
