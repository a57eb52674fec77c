"""The generator of the YOLO11n demo's own data set."""

import json

import numpy as np
import pytest
from data.synthetic import scenes as scenes_module
from data.synthetic.generate import MARKER, generate_dataset, main
from data.synthetic.scenes import MIN_SIDE, MIN_VISIBLE, sample_scene
from dataset import load_data
from PIL import Image

from tests.examples.conftest import CLASSES

NUM_TRAIN, NUM_VAL = 10, 5


@pytest.fixture(scope="module")
def small_set(tmp_path_factory):
    root = tmp_path_factory.mktemp("set")
    assert generate_dataset(root, NUM_TRAIN, NUM_VAL, seed=3)
    return root


def contents(root):
    return {p.relative_to(root): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


@pytest.mark.slow
def test_layout(small_set):
    sets = load_data(small_set, None, 64)
    for data, count in zip(sets, (NUM_TRAIN, NUM_VAL), strict=True):
        assert len(data) == count
        assert (data.classes, data.category_ids) == (CLASSES, [1, 77])
        assert not data.skipped + data.changed
        report = data.report
        assert report["boxes"]
        assert not report["clipped"] + report["zero_area"] + report["regions"]
        annotations = data.ground_truth()["annotations"]
        assert len({a["id"] for a in annotations}) == len(annotations)
        assert all(0 < a["area"] <= a["bbox"][2] * a["bbox"][3] for a in annotations)
    with Image.open(small_set / "images/train/000000000001.jpg") as picture:
        assert (picture.format, picture.mode) == ("JPEG", "RGB")


@pytest.mark.slow
def test_bytes_do_not_depend_on_processes(small_set, tmp_path):
    generate_dataset(tmp_path / "two", NUM_TRAIN, NUM_VAL, seed=3, jobs=2)
    assert contents(tmp_path / "two") == contents(small_set)


def test_seed_and_index_change_pictures(small_set, tmp_path):
    generate_dataset(tmp_path, 2, 1, seed=4)
    ours, theirs = contents(tmp_path), contents(small_set)
    pictures = [data for path, data in ours.items() if path.suffix == ".jpg"]
    assert len(set(pictures)) == 3
    assert not set(pictures) & set(theirs.values())


def test_larger_set_begins_with_the_smaller(small_set, tmp_path):
    generate_dataset(tmp_path, 3, 1, seed=3)
    for name in ("train/000000000003.jpg", "val/000001000001.jpg"):
        path = f"images/{name}"
        assert (tmp_path / path).read_bytes() == (small_set / path).read_bytes()


@pytest.mark.slow
def test_done_once(tmp_path):
    assert generate_dataset(tmp_path, 3, 2)
    before = contents(tmp_path)
    times = {path: (tmp_path / path).stat().st_mtime_ns for path in before}
    assert not generate_dataset(tmp_path, 3, 2)
    assert times == {path: (tmp_path / path).stat().st_mtime_ns for path in before}
    # A picture that was lost comes back, and nothing else is different.
    (tmp_path / "images/train/000000000002.jpg").unlink()
    assert generate_dataset(tmp_path, 3, 2)
    assert contents(tmp_path) == before
    # So does a set whose drawing was interrupted.
    marker = json.loads((tmp_path / MARKER).read_text())
    (tmp_path / MARKER).write_text(json.dumps({**marker, "complete": False}))
    assert generate_dataset(tmp_path, 3, 2)
    assert contents(tmp_path) == before
    # Other settings leave nothing of the old set behind.
    assert generate_dataset(tmp_path, 2, 1, seed=1)
    assert len(list((tmp_path / "images").rglob("*.jpg"))) == 3


def test_foreign_files_are_left_alone(tmp_path):
    mine = tmp_path / "images/train/000000000001.jpg"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"a photo")
    with pytest.raises(FileExistsError, match="choose another folder"):
        generate_dataset(tmp_path, 2, 1)
    assert mine.read_bytes() == b"a photo"


def test_command_line(tmp_path, capsys):
    command = [str(tmp_path / "a"), "--train", "2", "--val", "1", "--seed", "5"]
    main(command)
    assert "drew 2 training and 1 validation images" in capsys.readouterr().out
    main(command)
    assert "nothing to do" in capsys.readouterr().out
    generate_dataset(tmp_path / "b", 2, 1, seed=5)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    for wrong in (["--train", "0"], ["--val", "0"], ["--jobs", "0"], ["--seed", "-1"]):
        with pytest.raises(SystemExit):
            main([str(tmp_path / "c"), *wrong])
        assert "must be positive" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()


@pytest.fixture(scope="module")
def scenes():
    return [sample_scene(np.random.default_rng([9, k])) for k in range(120)]


@pytest.mark.slow
def test_object_statistics(scenes):
    counts = np.array([len(objects) for _, objects in scenes])
    assert 0.02 < (counts == 0).mean() < 0.2
    assert counts.max() >= 4
    assert 1.7 < counts.mean() < 2.6
    for category, low, high in ((1, 0.12, 0.3), (77, 0.08, 0.18)):
        things = [
            (t, image.shape)
            for image, objects in scenes
            for t in objects
            if t.category_id == category
        ]
        assert len(things) > 70
        size = [side_of(t) / max(shape[:2]) for t, shape in things]
        assert low < np.median(size) < high
        # Small and large ones occur.
        assert np.median(size) > 1.6 * np.quantile(size, 0.1)
        assert np.quantile(size, 0.9) > 1.6 * np.median(size)
        assert 0.05 < np.mean([t.visible < 0.9 for t, _ in things]) < 0.7  # occlusion
        for t, _ in things:
            assert MIN_VISIBLE <= t.visible <= 1
            assert min(t.bbox[2:]) >= MIN_SIDE


def side_of(thing):
    return (thing.bbox[2] * thing.bbox[3]) ** 0.5


def test_shapes_vary(scenes):
    shapes = {image.shape for image, _ in scenes}
    assert len(shapes) > 30
    assert all(240 <= side <= 480 for shape in shapes for side in shape[:2])
    assert {np.sign(w - h) for h, w, _ in shapes} == {-1, 0, 1}


@pytest.mark.slow
def test_boxes_are_where_the_objects_are():
    # The pixels that adding an object changes reach to every side of its box, and not beyond.
    checked = 0
    for k in range(40):
        rng = np.random.default_rng([11, k])
        scene = scenes_module.Scene(scenes_module.background(rng, 320, 240))
        before = np.asarray(scene.picture).astype(int)
        add = scenes_module._add_person if k % 2 else scenes_module._add_phone
        if not add(rng, scene, []):
            continue
        changed = np.abs(np.asarray(scene.picture).astype(int) - before).max(axis=2) > 0
        (thing,) = scene.objects()
        x, y, w, h = thing.bbox
        # Antialiased rims below half coverage may lie one pixel outside.
        outside = changed.copy()
        outside[max(y - 1, 0) : y + h + 1, max(x - 1, 0) : x + w + 1] = False
        assert not outside.any()
        inside = changed[y : y + h, x : x + w]
        assert inside[0].any()
        assert inside[-1].any()
        assert inside[:, 0].any()
        assert inside[:, -1].any()
        checked += 1
    assert checked > 25


def test_given_size():
    image, _ = sample_scene(np.random.default_rng(0), (300, 200))
    assert image.shape == (200, 300, 3)
    assert image.dtype == np.uint8
    with pytest.raises(ValueError, match="too small"):
        sample_scene(np.random.default_rng(0), (300, 20))
