"""Evaluation of a trained detector: one code for PyTensor's weights and for ONNX files.

What a model of random weights finds in generated pictures is moved a little and made the ground
truth, so that there is something to score.
"""

import json

import evaluate_yolo11n
import numpy as np
import pytest
from data.images import read_image
from evaluate_yolo11n import find_objects, format_table, main, open_part
from evaluation.detectors import choose_classes, open_detector
from PIL import Image
from utils import DetectionMetrics, coco_map

SIZE, CLASSES = 64, ["person", "cell phone"]
PICTURES = [(80, 60), (60, 80), (64, 64), (100, 50), (72, 48), (90, 90), (64, 40), (50, 70)]


def write_data(root, pictures, annotations):
    """Write a data set whose validation part has these pictures and annotations."""
    (root / "annotations").mkdir(parents=True)
    # not in the model's order, and one that it doesn't know
    categories = [{"id": 7, "name": "cell phone"}, {"id": 2, "name": "dog"}]
    categories.append({"id": 9, "name": "person"})
    for split, count in [("train", 1), ("val", len(pictures))]:
        (root / "images" / split).mkdir(parents=True)
        images = []
        for k, pixels in enumerate(pictures[:count]):
            Image.fromarray(pixels).save(root / "images" / split / f"{k}.png")
            height, width = pixels.shape[:2]
            images.append({"id": k, "file_name": f"{k}.png", "width": width, "height": height})
        content = {
            "images": images,
            "annotations": [a | {"id": n} for n, a in enumerate(annotations, 1) if split == "val"],
            "categories": categories,
        }
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(content))
    return root


def annotation(image_id, category, corners, iscrowd=0):
    x, y, right, bottom = (float(v) for v in corners)
    box = [x, y, right - x, bottom - y]
    return {"image_id": image_id, "category_id": category, "bbox": box, "iscrowd": iscrowd}


def open_set(root, classes=CLASSES):
    return open_part(root, "val", classes, SIZE)


@pytest.fixture(scope="module")
def detector(finder_weights):
    return open_detector(finder_weights, batch_size=4)


@pytest.fixture(scope="module")
def data(detector, tmp_path_factory):
    """Eight pictures; the third has no object, the fifth a crowd region."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    squares = [rng.integers(0, 256, (12, 12, 3), dtype=np.uint8) for _ in PICTURES]
    pictures = [
        np.kron(square, np.ones((10, 10, 1), np.uint8))[:height, :width]
        for square, (width, height) in zip(squares, PICTURES, strict=True)
    ]
    whole = [annotation(k, 9, [0, 0, *size]) for k, size in enumerate(PICTURES)]
    drawn = open_set(write_data(folder / "pictures", pictures, whole))
    annotations = [annotation(4, 9, [0, 0, 40, 30], iscrowd=1)]
    for k, found in find_objects(detector, drawn, iou=0.4)[0].items():
        found = found[(found[:, 2:4] - found[:, :2] > 5).all(axis=1)]
        best = [found[found[:, 5] == label][:4] for label in range(2)]
        for row in np.concatenate(best) if k != 2 else []:
            corners = (row[:4] + rng.normal(0, 0.6, 4)).clip(0, [*PICTURES[k]] * 2)
            annotations.append(annotation(k, (9, 7)[int(row[5])], corners))
    return write_data(folder / "data", pictures, annotations)


@pytest.fixture(scope="module")
def metrics(detector, data):
    dataset = open_set(data)
    detections, milliseconds = find_objects(detector, dataset)
    assert milliseconds > 0
    return DetectionMetrics(dataset, detections)


# ------------------------------------------------------------------------------ the same numbers


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 3])
def test_pytensor_and_onnx_score_the_same(metrics, finder_onnx, finder_onnx_of_one, batch):
    path = finder_onnx_of_one if batch == 1 else finder_onnx
    detections, _ = find_objects(open_detector(path, batch_size=batch), metrics.dataset)
    found = DetectionMetrics(metrics.dataset, detections)
    assert 0.05 < metrics.coco["map50_95"] < metrics.coco["map50"] < 0.95
    for key, value in metrics.coco.items():
        if key != "per_class":
            assert found.coco[key] == pytest.approx(value, abs=1e-4, nan_ok=True)
    want, scores = metrics.scores(), found.scores()
    assert want["boxes"] == 56
    for key in ("precision", "recall", "f1", "boxes"):
        assert scores[key] == pytest.approx(want[key], abs=1e-4)
    np.testing.assert_array_equal(found.confusion(), metrics.confusion())


@pytest.mark.parametrize("names", [CLASSES[1:], CLASSES[::-1]])
def test_classes_are_matched_by_name(metrics, finder_onnx, data, names):
    """Some of them, in another order: each keeps its scores."""
    want = metrics.coco["per_class"]
    assert abs(want["person"]["map50"] - want["cell phone"]["map50"]) > 0.02
    model, dataset = open_detector(finder_onnx, batch_size=3), open_set(data, names)
    rows = choose_classes(finder_onnx, model.classes, names)
    own = coco_map(dataset, find_objects(model, dataset, rows)[0])["per_class"]
    assert list(own) == names
    for name in names:
        # Suppression moves classes apart by their number, which rounds the boxes.
        assert own[name] == pytest.approx(want[name], abs=2e-3)


def test_table_of_a_class_without_ground_truth(builder):
    builder.add(64, 64, [(1, 10, 10, 20, 30)])
    dataset = builder.dataset()
    (image_id,) = dataset.image_ids
    found = {image_id: [[10, 10, 30, 40, 0.9, 0], [40, 40, 60, 60, 0.8, 1]]}
    table = format_table(DetectionMetrics(dataset, found)).splitlines()
    assert table[0].split() == ["class", "images", "boxes", "P", "R", "AP50", "AP50-95"]
    assert table[1].split() == ["all", "1", "1", "1.000", "1.000", "1.000", "1.000"]
    assert table[3].split() == ["cell", "phone", "0", "0", *"----"]


# ------------------------------------------------------------------------------ the command


def test_command(metrics, finder_onnx, data, tmp_path, capsys):
    output = tmp_path / "new" / "folder"
    arguments = [str(finder_onnx), "--data", str(data), "--output-dir", str(output)]
    assert main([*arguments, "--batch-size", "5"]) == 0
    text, coco = capsys.readouterr().out, metrics.coco
    written = json.loads((output / "metrics.json").read_text())
    assert written["coco"]["map50_95"] == pytest.approx(coco["map50_95"], abs=1e-4)
    assert written["coco"]["map_large"] is None
    assert written["metrics"]["precision"] == pytest.approx(metrics.scores()["precision"], abs=1e-4)
    assert written["confusion_matrix"]["counts"] == metrics.confusion().tolist()
    assert (written["classes"], written["images"], written["image_size"]) == (CLASSES, 8, SIZE)
    assert written["settings"] == {"confidence": 0.001, "iou": 0.7}
    assert written["batch_size"] == 5
    assert f"\nmAP@0.5:0.95 {coco['map50_95']:.4f} (mAP@0.5 {coco['map50']:.4f}), by pyco" in text
    for line in ("class", "all", "person", "cell phone", "COCO's twelve scores: map50_95 0."):
        assert f"\n{line}" in text
    pictures = ["precision_recall", "confusion_matrix", "worst_images"]
    for name in pictures:
        assert read_image(output / f"{name}.png").std() > 5
    files = {"metrics.json", *(f"{name}.png" for name in pictures)}
    assert {p.name for p in output.iterdir()} == files


def test_command_with_options(detector, finder_weights, data, tmp_path, monkeypatch):
    monkeypatch.setattr(evaluate_yolo11n, "open_detector", lambda *_: detector)
    arguments = [str(finder_weights), "--data", str(data), "--output-dir", str(tmp_path)]
    options = ["--limit", "4", "--classes", "cell phone", "--image-size", str(SIZE)]
    assert main([*arguments, *options, "--confidence", "0.3", "--iou", "0.5"]) == 0
    written = json.loads((tmp_path / "metrics.json").read_text())
    assert (written["images"], written["classes"]) == (4, ["cell phone"])
    assert written["settings"] == {"confidence": 0.3, "iou": 0.5}
    worst = list(written["worst_images"].values())
    assert worst == sorted(worst, key=lambda w: -w["missed"] - w["false"])
    assert (tmp_path / "worst_images.png").is_file()


@pytest.mark.parametrize(
    ("model_file", "options", "message"),
    [
        ("absent.onnx", [], "absent.onnx: no such file"),
        ("absent.safetensors", [], "no such file"),
        ("open.onnx", ["--classes", "zebra"], "doesn't detect zebra; its classes are person, cell"),
        ("open.onnx", ["--data", "nowhere"], "nowhere does not exist"),
        ("open.onnx", ["--data", "out"], "no YOLO-format val part in out"),
        ("open.onnx", ["--split", "test"], "no COCO-format test part in"),
        ("open.onnx", ["--limit", "0"], "limit is 0"),
        ("open.onnx", ["--data", "unlabelled"], "have no box of person, cell phone"),
        ("open.onnx", ["--output-dir", "open.onnx"], "File exists: 'open.onnx'"),
    ],
)
def test_command_errors(
    finder_onnx, data, tmp_path, monkeypatch, capsys, model_file, options, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "open.onnx").write_bytes(finder_onnx.read_bytes())
    write_data(tmp_path / "unlabelled", [np.zeros((9, 9, 3), np.uint8)], [])
    assert main([model_file, "--data", str(data), "--output-dir", "out", *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--image-size", "100"], "multiple of 32"),
        (["--batch-size", "0"], "--batch-size must be at least 1"),
        (["--iou", "nan"], "must be at least 0 and below 1"),
        (["--confidence", "1"], "must be at least 0 and below 1"),
        (["--split", "all"], "invalid choice: 'all'"),
    ],
)
def test_wrong_options(capsys, options, message):
    with pytest.raises(SystemExit):
        main(["m.onnx", "--data", "d", *options])
    assert message in capsys.readouterr().err
