"""Evaluation of a trained detector: one code for PyTensor's weights and for ONNX files.

One model of random weights is compiled and exported once. What it finds in generated pictures is
moved a little and made the ground truth, so that there is something to score.
"""

import json

import evaluate_yolo11n
import export
import numpy as np
import onnx
import pytest
from data.images import read_image
from dataset import load_split
from evaluate_yolo11n import CAPTION, evaluate, format_table, main, open_part
from evaluation import report
from evaluation.detectors import (
    ModelError,
    OnnxDetector,
    PyTensorDetector,
    choose_classes,
    open_detector,
)
from model import YOLO11n
from PIL import Image
from training import parts as training
from training.checkpoint import STATE, load_weights, save_weights
from utils import coco_map, coco_scores, nms, scale_detections

from pytensor.optimizers import ExponentialMovingAverage
from tests.examples import yolo11n_golden as golden

SIZE, BATCH = 64, 4
CLASSES = ["person", "cell phone"]
PICTURES = [
    (80, 60),
    (60, 80),
    (64, 64),
    (100, 50),
    (72, 48),
    (90, 90),
    (64, 40),
    (50, 70),
    (70, 70),
]


# ------------------------------------------------------------------------------ helpers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("evaluate")


@pytest.fixture(scope="module")
def model():
    """Random weights that find much: small boxes, and scores from 0 to 1."""
    model = YOLO11n(len(CLASSES))
    golden.load_golden_weights(model)
    state = model.state_dict() | golden.load_arrays(golden.CORE / "bn_calib_nc2.npz")
    for level in range(3):
        box, label = f"model.23.cv2.{level}.2", f"model.23.cv3.{level}.2"
        bins = np.tile(np.arange(16, dtype=np.float32), 4)
        state[f"{box}.bias"] = state[f"{box}.bias"] - np.float32(1.5) * bins
        state[f"{label}.bias"] = state[f"{label}.bias"] - np.float32(1)
        state[f"{box}.weight"] = state[f"{box}.weight"] * np.float32(0.03)
        state[f"{label}.weight"] = state[f"{label}.weight"] * np.float32(0.1)
    model.load_state_dict(state)
    return model


@pytest.fixture(scope="module")
def weights(model, folder):
    info = {"classes": CLASSES, "image_size": SIZE, "class_width": model.class_width}
    save_weights(folder / "best.safetensors", model.state_dict(), info)
    return folder / "best.safetensors"


@pytest.fixture(scope="module")
def detector(weights):
    return open_detector(weights, batch_size=BATCH)


@pytest.fixture(scope="module")
def onnx_file(model, folder):
    """The model in ONNX, the number of images left open."""
    export.export_detector(model, folder / "open.onnx", CLASSES, SIZE, batch_size=None)
    return folder / "open.onnx"


@pytest.fixture(scope="module")
def onnx_of_one(model, folder):
    """The model in ONNX for one image."""
    export.export_detector(model, folder / "one.onnx", CLASSES, SIZE)
    return folder / "one.onnx"


def changed(path, new, **metadata):
    """Write a copy of an ONNX file with other metadata; None removes an entry."""
    proto = onnx.load(path)
    known = {p.key: p.value for p in proto.metadata_props} | metadata
    onnx.helper.set_model_props(proto, {k: v for k, v in known.items() if v is not None})
    onnx.save(proto, new)
    return new


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
            "annotations": [a | {"id": n} for n, a in enumerate(annotations, 1)]
            if split == "val"
            else [],
            "categories": categories,
        }
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(content))
    return root


def annotation(image_id, category, corners, iscrowd=0):
    x, y, right, bottom = (float(v) for v in corners)
    box = [x, y, right - x, bottom - y]
    return {
        "image_id": image_id,
        "category_id": category,
        "bbox": box,
        "area": box[2] * box[3],
        "iscrowd": iscrowd,
    }


def open_set(root, classes=CLASSES):
    return open_part(root, "val", classes, SIZE)


@pytest.fixture(scope="module")
def data(detector, folder):
    """Nine pictures; the third has no object, the fifth a crowd region."""
    rng = np.random.default_rng(0)
    pictures = [
        np.kron(rng.integers(0, 256, (12, 12, 3), dtype=np.uint8), np.ones((10, 10, 1), np.uint8))[
            :height, :width
        ]
        for width, height in PICTURES
    ]
    empty = write_data(folder / "pictures", pictures, [])
    dataset = load_split(empty, "val", CLASSES, SIZE)
    annotations = [annotation(4, 9, [0, 0, 40, 30], iscrowd=1)]
    for k in range(len(dataset)):
        sample = dataset[k]
        images = np.repeat(sample.image.transpose(2, 0, 1)[None], BATCH, axis=0)
        predictions = detector(detector.prepare(images))[0]
        found = scale_detections(nms(predictions, 0.001, 0.4), sample.geometry)
        sides = found[:, 2:4] - found[:, :2]
        found = found[(sides > 5).all(axis=1)]
        best = [found[found[:, 5] == label][:4] for label in range(2)]
        for row in np.concatenate(best) if k != 2 else []:
            corners = (row[:4] + rng.normal(0, 0.6, 4)).clip(0, [*PICTURES[k]] * 2)
            annotations.append(annotation(k, (9, 7)[int(row[5])], corners))
    return write_data(folder / "data", pictures, annotations)


@pytest.fixture(scope="module")
def evaluation(detector, data):
    return evaluate(detector, open_set(data))


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out the pictures, which take longer than the evaluation."""
    for name in dir(evaluate_yolo11n):
        if name.startswith("draw_"):
            monkeypatch.setattr(evaluate_yolo11n, name, lambda *args: None)


class Fake:
    """A detector that returns what it is told to, whatever the images are."""

    batch_size, image_size, classes = 2, SIZE, CLASSES

    def __init__(self, rows=()):
        """`rows`: x1, y1, x2, y2, score, class."""
        rows = np.array(rows, dtype=np.float32).reshape(-1, 6)
        self.decoded = np.zeros((6, max(len(rows), 10)), np.float32)
        for k, (x1, y1, x2, y2, score, label) in enumerate(rows):
            self.decoded[:4, k] = (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1
            self.decoded[4 + int(label), k] = score

    def prepare(self, images):
        return images

    def __call__(self, images):
        return np.stack([self.decoded] * len(images))


# ------------------------------------------------------------------------------ the same numbers


def test_pytensor_and_onnx_score_the_same(detector, evaluation, onnx_file, onnx_of_one, data):
    dataset = open_set(data)
    want = evaluation.metrics.scores()
    coco = coco_scores(dataset, evaluation.detections)
    assert 0.05 < want["map50_95"] < want["map50"] < 0.95
    assert want["boxes"] == 64
    assert set(evaluation.speed) == {"preprocessing", "inference", "postprocessing"}
    assert min(evaluation.speed.values()) > 0
    for path, batch in [(onnx_file, 2), (onnx_file, 9), (onnx_of_one, 1)]:
        other = open_detector(path, batch_size=2 if batch == 1 else batch)
        assert (other.classes, other.image_size, other.batch_size) == (CLASSES, SIZE, batch)
        found = evaluate(other, dataset)
        scores = found.metrics.scores()
        for key in ("map50", "map50_95", "precision", "recall", "f1"):
            assert scores[key] == pytest.approx(want[key], abs=1e-4)
        for key, value in coco_scores(dataset, found.detections).items():
            if key != "per_class":
                assert value == pytest.approx(coco[key], abs=1e-4, nan_ok=True)
        np.testing.assert_array_equal(found.metrics.confusion, evaluation.metrics.confusion)


def test_detections_are_those_of_training(detector, evaluation, data):
    dataset = open_set(data)
    found = training.detect(detector, dataset, BATCH)
    assert found.keys() == evaluation.detections.keys()
    for image_id, rows in found.items():
        np.testing.assert_array_equal(rows, evaluation.detections[image_id])


def test_classes_are_matched_by_name(evaluation, onnx_file, data):
    """Some of them, in another order: each keeps its scores."""
    want = evaluation.metrics.scores()["per_class"]
    assert abs(want["person"]["ap50"] - want["cell phone"]["ap50"]) > 0.02
    for names in (CLASSES[1:], CLASSES[::-1]):
        model = open_detector(onnx_file, batch_size=3)
        rows = choose_classes(onnx_file, model.classes, names)
        own = evaluate(model, open_set(data, names), rows).metrics.scores()["per_class"]
        assert list(own) == names
        for name in names:
            for key in ("boxes", "images", "ap50", "ap50_95"):
                # Suppression moves classes apart by their number, which rounds the boxes.
                assert own[name][key] == pytest.approx(want[name][key], abs=2e-3)


# ------------------------------------------------------------------------------ unusual sets


def test_detector_that_finds_nothing(data, tmp_path):
    dataset = open_set(data)
    result = evaluate(Fake(), dataset)
    curves = result.metrics.curves()
    scores, coco = result.metrics.scores(curves), coco_scores(dataset, result.detections)
    assert scores["map50"] == scores["recall"] == coco["map50"] == coco["ar_100"] == 0
    assert result.metrics.confusion[:2].sum() == 0
    report.draw_precision_recall(tmp_path / "a.png", curves, CLASSES, [0.0, 0.0])
    report.draw_confusion_matrix(tmp_path / "b.png", result.metrics.confusion, CLASSES)
    assert len(list(tmp_path.iterdir())) == 2


def test_class_without_ground_truth(tmp_path):
    grey = np.full((SIZE, SIZE, 3), 90, np.uint8)
    root = write_data(tmp_path, [grey] * 3, [annotation(0, 9, [10, 10, 30, 40])])
    dataset = open_set(root)
    rows = [[10, 10, 30, 40, 0.9, 0], [40, 40, 60, 60, 0.8, 1]]
    result = evaluate(Fake(rows), dataset)
    scores, coco = result.metrics.scores(), coco_scores(dataset, result.detections)
    # One of three is right, and comes first or not: the others have the same score.
    assert scores["recall"] == pytest.approx(1)
    assert np.isnan(scores["per_class"]["cell phone"]["ap50"])
    caption, *table = format_table(scores, coco).splitlines()
    assert caption == CAPTION
    assert table[0].split()[:3] == ["class", "images", "boxes"]
    assert table[1].split()[:3] == ["all", "3", "1"]
    assert table[3].split() == ["cell", "phone", "0", "0", *"------"]
    assert "nan" not in "".join(table)


def test_more_objects_than_detections(tmp_path):
    """As many detections are kept as an image has objects."""
    boxes = [[4 * x, 4 * y, 4 * x + 3, 4 * y + 3] for x in range(16) for y in range(16)]
    grey = np.full((SIZE, SIZE, 3), 90, np.uint8)
    root = write_data(tmp_path, [grey], [annotation(0, 9, box) for box in boxes])
    rows = [[*box, 0.9 - 0.002 * k, 0] for k, box in enumerate(boxes)]
    result = evaluate(Fake(rows), open_set(root), max_detections=100)
    assert result.max_detections == 256
    scores = result.metrics.scores()
    assert scores["recall"] == pytest.approx(1)
    assert scores["map50_95"] == pytest.approx(0.995)


def test_crowd_regions(tmp_path):
    """What is found in one is no false alarm, also where the picture was scaled and moved."""
    wide = np.full((50, 100, 3), 90, np.uint8)  # 64 x 32 in the square, 16 rows below the top
    person, crowd = [0, 0, 50, 50], [60, 0, 100, 50]
    annotations = [annotation(0, 9, person), annotation(0, 9, crowd, iscrowd=1)]
    root = write_data(tmp_path, [wide], annotations)
    inside, found = [40, 20, 60, 40, 0.9, 0], [0, 16, 32, 48, 0.8, 0]
    assert evaluate(Fake([inside, found]), open_set(root)).metrics.scores()["map50"] == (
        pytest.approx(0.995)
    )
    above = [40, 0, 60, 14, 0.9, 0]  # beyond the region, and beyond the picture
    assert evaluate(Fake([above, found]), open_set(root)).metrics.scores()["map50"] < 0.6


def test_boxes_beyond_the_picture(tmp_path):
    """What sticks out is clipped for COCO's scores, and left as it is for the others."""
    grey = np.full((SIZE, SIZE, 3), 90, np.uint8)
    root = write_data(tmp_path, [grey], [annotation(0, 9, [0, 0, 20, 20])])
    dataset = open_set(root)
    result = evaluate(Fake([[-20, 0, 20, 20, 0.9, 0]]), dataset)
    assert result.metrics.scores()["map50_95"] < 0.11  # IoU 0.5
    assert coco_scores(dataset, result.detections)["map50_95"] == pytest.approx(1)


def test_images_without_sizes(tmp_path):
    """A COCO file may leave out the pictures' sizes."""
    wide = np.full((32, 64, 3), 90, np.uint8)
    root = write_data(tmp_path, [wide], [annotation(0, 9, [10, 0, 30, 32])])
    path = root / "annotations/instances_val.json"
    content = json.loads(path.read_text())
    del content["images"][0]["width"], content["images"][0]["height"]
    path.write_text(json.dumps(content))
    dataset = open_set(root)
    result = evaluate(Fake([[10, 10, 30, 60, 0.9, 0]]), dataset)
    assert coco_scores(dataset, result.detections)["map50_95"] == pytest.approx(1)


def test_sheet_of_a_turned_picture(tmp_path):
    """Pictures are drawn as their boxes see them, where the camera's orientation is ignored."""
    pixels = np.full((40, 60, 3), 90, np.uint8)
    pixels[:, :30] = 200
    root = write_data(tmp_path, [pixels], [annotation(0, 9, [0, 0, 30, 40])])
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pixels).save(root / "images/val/0.png", exif=exif)
    dataset = open_set(root)
    report.draw_validation(tmp_path / "sheet.png", dataset, {0: np.empty((0, 6))}, CLASSES)
    sheet = read_image(tmp_path / "sheet.png")
    bright = (sheet > 150).all(axis=2)
    assert bright[:, : sheet.shape[1] // 2].mean() > 0.9
    assert bright[:, sheet.shape[1] // 2 :].mean() < 0.1


# ------------------------------------------------------------------------------ models


def test_averaged_weights(model, weights, folder, monkeypatch):
    """A checkpoint's averages are what is evaluated."""
    ema = ExponentialMovingAverage(model.params + list(model.store.statistics.values()), 0.9)
    for average in ema.averages:
        average.set_value(average.get_value() + np.float32(0.25))
    arrays, info = load_weights(weights)
    state = {STATE + name: average.get_value() for name, average in ema.state.items()}
    other = {STATE + "step": np.zeros((), np.float32)}
    path = folder / "last.safetensors"
    save_weights(path, arrays | state | other, info)
    used = []
    monkeypatch.setattr(training, "compile_detector", lambda model, *args: used.append(model))
    for source, shift in [(path, 0.25), (weights, 0.0)]:
        opened = PyTensorDetector(source)
        assert opened.averaged == (shift != 0)
        assert opened.image_size == SIZE
        now = used[-1].state_dict()
        for name in ("model.0.conv.weight", "model.0.bn.running_mean"):
            np.testing.assert_allclose(now[name], arrays[name] + shift, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(
            now["model.23.dfl.conv.weight"], arrays["model.23.dfl.conv.weight"]
        )


def test_sizes_and_names_of_onnx_files(onnx_file, tmp_path):
    assert OnnxDetector(onnx_file, SIZE).image_size == SIZE
    nameless = changed(onnx_file, tmp_path / "nameless.onnx", names=None)
    assert OnnxDetector(nameless, classes=["a", "b"]).classes == ["a", "b"]
    proto = onnx.load(onnx_file)
    shape = proto.graph.input[0].type.tensor_type.shape
    for dim in shape.dim[2:]:
        dim.dim_param = "side"
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    for name in "NCA":
        proto.graph.output[0].type.tensor_type.shape.dim.add().dim_param = name
    onnx.save(proto, tmp_path / "open.onnx")
    assert OnnxDetector(tmp_path / "open.onnx").image_size == SIZE  # of the metadata
    assert OnnxDetector(tmp_path / "open.onnx", 96).image_size == 96
    silent = changed(tmp_path / "open.onnx", tmp_path / "silent.onnx", imgsz=None)
    with pytest.raises(ModelError, match="says no image size; give --image-size"):
        OnnxDetector(silent)
    wrong = OnnxDetector(tmp_path / "open.onnx")
    wrong.classes = ["a"]  # where the graph doesn't say how many rows its output has
    with pytest.raises(ModelError, match=r"returns an array of shape \(2, 6, 84\)"):
        wrong(np.zeros((2, 3, SIZE, SIZE), np.float32))


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"names": None}, "names no classes in its metadata; give --classes"),
        ({"names": "{0: 'person'}"}, "has 1 class names"),
        ({"names": "{1: 'person', 2: 'cell phone'}"}, "don't fit its output"),
        ({"names": "person, phone"}, "say names = 'person, phone'"),
        ({"names": "{0: 'dog', 1: 'dog'}"}, "class name twice"),
    ],
)
def test_unusable_metadata(onnx_file, tmp_path, metadata, message):
    path = changed(onnx_file, tmp_path / "changed.onnx", **metadata)
    with pytest.raises(ModelError, match=message):
        choose_classes(path, open_detector(path).classes, None)


def test_other_interfaces(tmp_path):
    """A model of another kind is refused when it is opened."""

    def save(inputs, output_shape):
        values = [
            onnx.helper.make_tensor_value_info(f"x{k}", kind, shape)
            for k, (kind, shape) in enumerate(inputs)
        ]
        output = onnx.helper.make_tensor_value_info("y", inputs[0][0], output_shape)
        node = onnx.helper.make_node("Identity", ["x0"], ["y"])
        graph = onnx.helper.make_graph([node], "g", values, [output])
        opset = onnx.helper.make_opsetid("", 18)
        proto = onnx.helper.make_model(graph, ir_version=8, opset_imports=[opset])
        onnx.save(proto, tmp_path / "m.onnx")
        return OnnxDetector(tmp_path / "m.onnx", 64, classes=["a"])

    float32, uint8 = onnx.TensorProto.FLOAT, onnx.TensorProto.UINT8
    square, flat = [1, 3, 64, 64], ["N", 5]
    for inputs, output, message in [
        ([(uint8, square)], square, "takes one float image tensor"),
        ([(float32, square)] * 2, square, "takes one float image tensor"),
        ([(float32, flat)], flat, "takes one float image tensor"),
        ([(float32, square)], square, r"not \(batch, 4 \+ classes, anchors\)"),
        ([(float32, [1, 3, 64, 32])], [1, 3, 64, 32], "only squares"),
    ]:
        with pytest.raises(ModelError, match=message):
            save(inputs, output)


# ------------------------------------------------------------------------------ the command


def test_command(evaluation, onnx_file, data, tmp_path, capsys):
    output = tmp_path / "new" / "folder"
    arguments = [str(onnx_file), "--data", str(data), "--output-dir", str(output)]
    assert main([*arguments, "--batch-size", "5"]) == 0
    text = capsys.readouterr().out
    metrics = json.loads((output / "metrics.json").read_text())
    want = evaluation.metrics.scores()
    assert metrics["metrics"]["map50_95"] == pytest.approx(want["map50_95"], abs=1e-4)
    assert metrics["coco"]["map_large"] is None
    assert metrics["confusion_matrix"]["counts"] == evaluation.metrics.confusion.tolist()
    assert (metrics["classes"], metrics["images"], metrics["image_size"]) == (CLASSES, 9, SIZE)
    assert metrics["settings"] == {"confidence": 0.001, "iou": 0.7, "max_detections": 300}
    assert metrics["batch_size"] == 5
    headline = (
        f"mAP@0.5:0.95 {metrics['coco']['map50_95']:.4f} (mAP@0.5 {metrics['coco']['map50']:.4f})"
    )
    assert f"\n{headline}, by pycocotools: the headline" in text
    dataset = open_set(data)
    trained = coco_map(dataset, evaluation.detections)  # what training prints
    assert metrics["coco"]["map50_95"] == pytest.approx(trained["map50_95"], abs=1e-4)
    for line in (CAPTION, "class", "all", "person", "cell phone", "COCO's scores", "  AP 0."):
        assert f"\n{line}" in text
    assert f"{want['map50']:.3f}" in text
    assert "speed per image: preprocessing" in text
    names = ["precision_recall", "confidence_curves", "confusion_matrix", "worst_images"]
    for name in names:
        assert read_image(output / f"{name}.png").std() > 5
    assert {p.name for p in output.iterdir()} == {"metrics.json", *(f"{n}.png" for n in names)}


@pytest.mark.usefixtures("undrawn")
def test_command_with_options(onnx_of_one, data, tmp_path):
    arguments = [str(onnx_of_one), "--data", str(data), "--output-dir", str(tmp_path)]
    options = ["--limit", "4", "--classes", "cell phone", "--image-size", str(SIZE)]
    options += ["--confidence", "0.3", "--iou", "0.5", "--max-detections", "20"]
    assert main([*arguments, *options]) == 0
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert (metrics["images"], metrics["classes"]) == (4, ["cell phone"])
    assert metrics["settings"] == {"confidence": 0.3, "iou": 0.5, "max_detections": 20}
    assert metrics["batch_size"] == 1  # the file is fixed to it


@pytest.fixture(scope="module")
def text_labels(data, folder):
    """The same as `data` with text labels; the pictures are the part called test."""
    root = folder / "text"
    truth = json.loads((data / "annotations/instances_val.json").read_text())
    (root / "images").mkdir(parents=True)
    (root / "images/test").symlink_to(data / "images/val")
    (root / "labels/test").mkdir(parents=True)
    for image in truth["images"]:
        rows = [
            f"{[7, 2, 9].index(a['category_id'])} {(x + w / 2) / image['width']} "
            f"{(y + h / 2) / image['height']} {w / image['width']} {h / image['height']}\n"
            for a in truth["annotations"]
            if a["image_id"] == image["id"] and not a["iscrowd"]
            for x, y, w, h in [a["bbox"]]
        ]
        (root / "labels/test" / f"{image['id']}.txt").write_text("".join(rows))
    names = "names: [cell phone, dog, person]\n"
    (root / "data.yaml").write_text(
        f"train: images/none\nval: images/none\ntest: images/test\n{names}"
    )
    return root


@pytest.mark.usefixtures("undrawn")
def test_every_kind_of_data(onnx_file, data, text_labels, tmp_path):
    """A COCO file, a data.yaml and what the demo has drawn give the same scores."""
    (tmp_path / "drawn").symlink_to(data)
    subset = tmp_path / "root/subsets/one"
    subset.mkdir(parents=True)
    for name in ("annotations", "images"):
        (subset / name).symlink_to(data / name)
    (subset / "subset.json").touch()
    found = []
    for arguments in [
        ["--data", str(data / "annotations/instances_train.json")],
        ["--data", "synthetic", "--data-dir", str(tmp_path / "drawn")],
        ["--data", "coco", "--data-dir", str(tmp_path / "root")],
        ["--data", str(text_labels), "--split", "test"],
        ["--data", str(text_labels / "data.yaml"), "--split", "test"],
    ]:
        assert main([str(onnx_file), *arguments, "--output-dir", str(tmp_path)]) == 0
        found.append(json.loads((tmp_path / "metrics.json").read_text()))
    assert [m["split"] for m in found] == ["val", "val", "val", "test", "test"]
    assert {m["images"] for m in found} == {9}
    assert len({m["coco"]["map50_95"] for m in found[:3]}) == 1
    # Without the crowd region.
    assert found[3]["metrics"]["boxes"] == found[0]["metrics"]["boxes"] == 64
    assert found[3]["coco"] == found[4]["coco"]
    phone = "cell phone"
    assert found[3]["coco"]["per_class"][phone]["map50_95"] == pytest.approx(
        found[0]["coco"]["per_class"][phone]["map50_95"], abs=1e-3
    )


@pytest.mark.usefixtures("undrawn")
def test_command_on_weights(detector, weights, evaluation, data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(evaluate_yolo11n, "open_detector", lambda *args: detector)
    assert main([str(weights), "--data", str(data), "--output-dir", str(tmp_path)]) == 0
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    want = evaluation.metrics.scores()
    assert metrics["metrics"]["map50"] == want["map50"]
    assert "(averaged weights)" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model_file", "options", "message"),
    [
        ("absent.onnx", [], "absent.onnx: no such file"),
        ("absent.safetensors", [], "no such file"),
        ("noise.onnx", [], "not an ONNX model that onnxruntime runs"),
        ("noise.safetensors", [], "not a safetensors file"),
        ("noise.pt", [], "a model is a .safetensors or an .onnx file"),
        ("open.onnx", ["--classes", "zebra"], "doesn't detect zebra; its classes are person, cell"),
        ("open.onnx", ["--image-size", "96"], "fixed to images of 64 px, not 96"),
        ("renamed.onnx", [], "has no category ['zebra']"),
        ("open.onnx", ["--data", "nowhere"], "nowhere does not exist"),
        ("open.onnx", ["--data", "out"], "no YOLO-format data in out"),
        ("open.onnx", ["--data", "synthetic"], "run python -m data.synthetic datasets/synthetic"),
        ("open.onnx", ["--data", "coco", "--data-dir", "x"], "run python -m data.coco x"),
        ("open.onnx", ["--data", "coco", "--data-dir", "two"], "--data two/subsets/a or two/subs"),
        ("open.onnx", ["--split", "test"], "no COCO-format test part in"),
        ("open.onnx", ["--data", "unlabelled"], "have no box of person, cell phone"),
        ("open.onnx", ["--output-dir", "noise.pt"], "can't write to the output folder noise.pt ("),
    ],
)
def test_command_errors(
    onnx_file, data, tmp_path, monkeypatch, capsys, model_file, options, message
):
    monkeypatch.chdir(tmp_path)
    for name in ("noise.onnx", "noise.safetensors", "noise.pt"):
        (tmp_path / name).write_bytes(b"noise" * 20)
    (tmp_path / "open.onnx").write_bytes(onnx_file.read_bytes())
    changed(onnx_file, tmp_path / "renamed.onnx", names="{0: 'person', 1: 'zebra'}")
    write_data(tmp_path / "unlabelled", [np.zeros((9, 9, 3), np.uint8)], [])
    for name in "ab":
        (tmp_path / "two/subsets" / name).mkdir(parents=True)
        (tmp_path / "two/subsets" / name / "subset.json").touch()
    arguments = ["--data", str(data), "--output-dir", "out"]
    assert main([model_file, *arguments, *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--image-size", "100"], "multiple of 32"),
        (["--batch-size", "0"], "--batch-size must be at least 1"),
        (["--limit", "0"], "--limit must be at least 1"),
        (["--iou", "nan"], "--iou must be at least 0 and below 1"),
        (["--confidence", "1"], "--confidence must be"),
        (["--classes", "a", "a"], "--classes names one twice"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--split", "all"], "invalid choice: 'all'"),
        (["--data-dir", "x"], "--data-dir is for --data coco and --data synthetic"),
    ],
)
def test_wrong_options(capsys, options, message):
    with pytest.raises(SystemExit):
        main(["m.onnx", "--data", "d", *options])
    assert message in capsys.readouterr().err


def test_worst_images(evaluation, data, tmp_path):
    """Those with the most mistakes come first; without any, no sheet stays."""
    dataset, path = open_set(data), tmp_path / "worst.png"
    mistakes = evaluation.metrics.mistakes(0.5)
    assert set(mistakes) == set(dataset.image_ids)
    assert sum(mistakes[4]) > 0
    report.draw_worst_images(path, dataset, evaluation.detections, mistakes, 0.5, 3)
    tall = read_image(path).shape[0]
    report.draw_worst_images(path, dataset, evaluation.detections, mistakes, 0.5, 1)
    assert tall == pytest.approx(3 * read_image(path).shape[0], rel=0.05)
    report.draw_worst_images(path, dataset, evaluation.detections, {0: (0, 0)}, 0.5, 3)
    assert not path.exists()


def test_names_that_are_no_formulas(evaluation, data, tmp_path, monkeypatch):
    """Dollar signs, a leading underscore and letters that the font lacks stop no drawing."""
    dataset, names = open_set(data), ["US$_{$", "_x"]
    dataset.classes = names
    monkeypatch.setattr(dataset, "file_name", lambda index: "$a_{$ \u5199.jpg")
    mistakes = evaluation.metrics.mistakes(0.5)
    path, curves = tmp_path / "a.png", evaluation.metrics.curves()
    report.draw_worst_images(path, dataset, evaluation.detections, mistakes, 0.5, 1)
    report.draw_confusion_matrix(path, evaluation.metrics.confusion, names)
    monkeypatch.setattr(report.plt, "close", lambda figure: None)
    report.draw_precision_recall(path, curves, names, [0.5, 0.5])
    legend = report.plt.gcf().axes[0].get_legend().get_texts()
    monkeypatch.undo()
    report.plt.close("all")
    assert [text.get_text() for text in legend] == [r"US\$_{\$ 0.500", " _x 0.500", "mean"]


def test_many_classes(tmp_path):
    """Curves without names and a matrix without numbers, rather than ones nobody can read."""
    names = [f"class {k}" for k in range(22)]
    metrics = evaluate_yolo11n.DetectionMetrics(names)
    for k in range(22):
        metrics.add(k, [[0, 0, 9, 9, 0.5 + k / 100, k]], [[0, 0, 9, 9]], [k if k % 5 else 0])
    curves = metrics.curves()
    report.draw_precision_recall(tmp_path / "a.png", curves, names, np.full(22, 0.5))
    report.draw_confusion_matrix(tmp_path / "b.png", metrics.confusion, names)
    assert read_image(tmp_path / "b.png").shape[1] < 3000
