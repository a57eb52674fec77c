"""Detection in pictures and films: what is written, and that --data reads it."""

import json
import shutil
from types import SimpleNamespace

import detect
import numpy as np
import pytest
from dataset import load_data
from evaluation import films
from PIL import Image

from tests.utils import error_line

CLASSES = ["bolt", "large nut"]
BOXES = np.array([[4, 5, 20, 25, 0.9, 0], [30, 10, 60, 40, 0.8, 1]], np.float32)


@pytest.fixture
def shots(tmp_path, monkeypatch):
    """Make pictures, and a detector that finds the same in each."""
    folder = tmp_path / "shots"
    (folder / "more").mkdir(parents=True)
    for k, name in enumerate(("a.png", "b.jpg", "more/a.png")):
        Image.new("RGB", (80, 60), (40 * k,) * 3).save(folder / name)
    least = np.array([0.25, 0.25])
    detector = SimpleNamespace(
        classes=CLASSES, image_size=64,
        suppression=SimpleNamespace(confidence=least, iou=0.45),
    )  # fmt: skip
    monkeypatch.setattr(detect, "open_detector", lambda *_: detector)
    monkeypatch.setattr(detect, "detect_in", lambda *_: BOXES)
    return folder


def run(shots, *arguments):
    out = shots.parent / "out"
    return detect.main(["m.onnx", *map(str, arguments), "--out", str(out)]), out


def test_what_is_written(shots, capsys):
    code, out = run(shots, shots, "--save", "drawn", "json", "crops")
    assert code == 0
    assert "3 pictures: bolt 3, large nut 3; in" in capsys.readouterr().out
    names = ["a.jpg", "b.jpg", "more/a.jpg"]
    drawn = sorted(p.relative_to(out / "drawn").as_posix() for p in (out / "drawn").rglob("*.jpg"))
    assert drawn == names
    pixels = np.asarray(Image.open(out / "drawn/a.jpg"))
    assert pixels[15, 4].max() > 90  # an edge of a box, where the picture is black
    assert pixels[50, 70].max() < 30
    content = json.loads((out / "detections.json").read_text())
    assert [picture["title"] for picture in content["pictures"]] == ["a", "b", "more/a"]
    assert content["pictures"][0]["detections"][0] == {
        "name": "bolt", "score": 0.9, "x1": 4.0, "y1": 5.0, "x2": 20.0, "y2": 25.0
    }  # fmt: skip
    with Image.open(out / "crops/large nut/b_2.jpg") as crop:
        assert crop.size == (30, 30)


@pytest.mark.parametrize("kinds", [["coco"], ["yolo"], ["coco", "yolo", "json"]])
def test_what_is_written_is_read(shots, kinds):
    code, out = run(shots, shots, "--save", *kinds)
    assert code == 0
    sets = load_data(out, None, 64)
    assert sum(map(len, sets)) == 3
    name = "out" if "yolo" in kinds else "coco.json"  # classes.txt has no labels
    assert sets[0].summary().startswith(f"{name}: ")
    assert "in all" in sets[0].summary()
    assert "in all" not in sets[0].summary(["undivided"])
    for data in sets:
        assert data.classes == CLASSES
        for k in range(len(data)):
            own = slice(data._bounds[k], data._bounds[k + 1])
            np.testing.assert_allclose(data._corners[own], BOXES[:, :4], atol=0.01)


@pytest.mark.parametrize("kind", ["coco", "yolo"])
def test_corrected_labels_are_kept(shots, capsys, kind):
    _, out = run(shots, shots, "--save", kind, "drawn")
    file = out / ("coco.json" if kind == "coco" else "labels/a.txt")
    file.write_text("corrected")
    assert run(shots, shots, "--save", kind)[0] == 1
    assert "out holds labels or pictures already" in error_line(capsys)
    assert file.read_text() == "corrected"
    assert run(shots, shots, "--save", "drawn", "json", "crops")[0] == 0  # no labels
    assert run(shots, shots, "--save", kind, "--overwrite")[0] == 0
    assert file.read_text() != "corrected"


def test_two_sets_of_labels_that_differ(shots):
    _, out = run(shots, shots, "--save", "coco", "yolo")
    (out / "labels/b.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    with pytest.raises(ValueError, match=r"b\.jpg: text labels .*or give --data .*coco\.json"):
        load_data(out, None, 64)
    assert sum(map(len, load_data(out / "coco.json", None, 64))) == 3
    (out / "coco.json").unlink()
    assert sum(data.report["boxes"] for data in load_data(out, None, 64)) == 5


def test_sources(shots, monkeypatch, capsys):
    monkeypatch.chdir(shots)
    given = detect.expanded(["*.png", "b.jpg", "more", "0", "rtsp://x/y"])
    assert given == [
        ("a.png", "a"), ("b.jpg", "b"), ("more/a.png", "a_2"), ("0", "camera_0"),
        ("rtsp://x/y", "stream"),
    ]  # fmt: skip
    assert [detect.is_film(source) for source, _ in given] == [False, False, False, True, True]
    shutil.copy("a.png", "more/a_2.png")
    names = [name for _, name in detect.expanded(["more/a_2.png", "a.png", "more/a.png"])]
    assert names == ["a_2", "a", "a_3"]
    assert run(shots, "none.png")[0] == 1
    assert "none.png: no picture or film there" in error_line(capsys)
    (shots / "broken.png").write_bytes(b"no")
    assert run(shots, "broken.png", "a.png")[0] == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("not read: broken.png: not readable")
    assert "1 pictures: bolt 1" in captured.out


def test_films_without_their_libraries_are_named(shots, monkeypatch, capsys):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(films.importlib, "import_module", missing)
    (shots / "film.mp4").touch()
    assert run(shots, shots / "film.mp4", "--save", "json")[0] == 1
    assert "films and cameras need OpenCV or PyAV: 'pip install" in capsys.readouterr().err


def test_things_in_films_are_numbered(shots, monkeypatch, capsys):
    def frames(source):
        assert source == "0"
        for k in range(6):
            yield k / 4, np.full((60, 80, 3), 20 * k, np.uint8)
        raise KeyboardInterrupt

    monkeypatch.setattr(detect, "frames", frames)
    code, out = run(shots, "0", "--save", "json", "coco", "--every", "2")
    assert code == 0
    said = capsys.readouterr().out
    assert "camera_0: stopped" in said
    assert "camera_0: 1 different bolt" in said
    pictures = json.loads((out / "detections.json").read_text())["pictures"]
    assert [picture["title"] for picture in pictures] == [
        f"camera_0_frame_{k:06d}" for k in (0, 2, 4)
    ]
    numbers = [[row.get("number") for row in p["detections"]] for p in pictures]
    assert numbers == [[None, None]] * 2 + [[1, 1]]


@pytest.mark.parametrize("library", ["cv2", "av"])
def test_films_are_written_and_read(shots, monkeypatch, library):
    module = pytest.importorskip(library)
    monkeypatch.setattr(films, "_library", lambda: (library, module))
    with films.FilmWriter(shots / "film.mp4", 10) as film:
        for k in range(8):
            film.write(np.full((49, 65, 3), (30 * k, 100, 20), np.uint8))
    found = [*films.frames(str(shots / "film.mp4"))]
    assert len(found) == 8
    assert [seconds for seconds, _ in found] == pytest.approx([k / 10 for k in range(8)])
    assert found[7][1].shape == (48, 64, 3)
    assert np.abs(found[7][1].mean(axis=(0, 1)) - (210, 100, 20)).max() < 20
    (shots / "no.mp4").write_bytes(b"no film")
    with pytest.raises(films.FilmError, match=r"no\.mp4 can't be"):
        next(films.frames(str(shots / "no.mp4")))
    code, out = run(shots, shots / "film.mp4", "--every", "2")
    assert code == 0
    assert len([*films.frames(str(out / "drawn/film.mp4"))]) == 4
