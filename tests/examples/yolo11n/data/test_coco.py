"""Download of a part of COCO for the YOLO11n demo, from a loopback server that misbehaves."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from data import coco
from data.coco import download_coco, main, select_images, subset_name
from data.finding import find
from data.listing import DataError
from dataset import load_data
from filelock import FileLock

from tests.examples.coco_server import ARCHIVE, PHONE, Answer, CocoServer, make_archive
from tests.examples.conftest import CLASSES

PHONE_IMAGE = "train2017/000000000002.jpg"  # always chosen, as it holds a phone
DEMO = Path(coco.__file__).parents[1]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Set a test's patience, and no proxies."""
    for name, value in (("ATTEMPTS", 2), ("DELAY", 0.01), ("TIMEOUT", (2, 0.5))):
        monkeypatch.setattr(coco, name, value)
    # Room for the true annotations is not needed.
    monkeypatch.setattr(coco, "ANNOTATION_BYTES", 1000)
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", "unchecked")
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def server(monkeypatch):
    with CocoServer(train=40, val=20) as server:
        monkeypatch.setenv("COCO_BASE_URL", server.url)
        yield server


@pytest.fixture
def root(tmp_path):
    return tmp_path / "coco"


def download(root, train=0, val=0, classes=CLASSES, **options):
    options = {"connections": 4, "progress": False} | options
    return download_coco(root, classes, train, val, **options)


def load(subset, split="train"):
    """Return content of a subset's annotation file."""
    return json.loads((subset / f"annotations/instances_{split}2017.json").read_text())


def names(subset):
    return {Path(image["file_name"]).name for image in load(subset)["images"]}


# ---------------------------------------------------------------------------------- selection


def test_many_classes_all_get_some():
    holds = {k: {f"c{min(k.bit_length(), 9)}"} for k in range(2000)}  # 1, 1, 2, 4, ... images
    chosen = select_images(holds, 60)
    counts = {}
    for k in chosen:
        for name in holds[k]:
            counts[name] = counts.get(name, 0) + 1
    assert counts["c0"] == counts["c1"] == 1
    assert counts["c4"] == 8
    assert {counts[f"c{k}"] for k in range(5, 10)} <= {8, 9}


def test_selection_is_the_same_everywhere_and_grows():
    """Of 100 persons, of whom 10 have a phone, and 5 phones alone."""
    skewed = {k: {"person"} | ({"phone"} if k % 10 == 0 else set()) for k in range(100)}
    skewed |= {100 + k: {"phone"} for k in range(5)}
    shuffled = dict(sorted(skewed.items(), key=lambda item: hash((item[0], "x"))))
    chosen = select_images(skewed, 40)
    assert chosen == select_images(shuffled, 40)
    assert sum("phone" in skewed[k] for k in chosen) == 15
    assert chosen != select_images(skewed, 40, seed=1)
    assert set(chosen) < set(select_images(skewed, 41))
    assert select_images(skewed, 999) == sorted(skewed)
    # A change of the rule must come with a new coco.VERSION.
    assert select_images({k: {"a"} for k in range(50)}, 5, seed=3) == [5, 13, 15, 22, 41]


# ------------------------------------------------------------------------------- what is made


def test_all_images_and_their_annotations(server, root):
    crowded = server.instances["train"]  # a crowd next to a box stays
    crowded["annotations"].append(crowded["annotations"][0] | {"id": 777, "iscrowd": 1})
    server.set_instances("train", crowded)
    subset = download(root)
    data = load(subset)
    # Of ten scenes three show nothing wanted, and one only a crowd.
    assert len(data["images"]) == 24
    assert {c["name"] for c in data["categories"]} == set(CLASSES)
    original = server.instances["train"]
    kept = {image["id"] for image in data["images"]}
    expected = [
        {k: v for k, v in a.items() if k != "segmentation"}
        for a in original["annotations"]
        if a["image_id"] in kept and a["category_id"] != 18
    ]
    assert data["annotations"] == expected
    for image in data["images"]:
        path = f"train2017/{Path(image['file_name']).name}"
        assert (subset / "train2017" / image["file_name"]).read_bytes() == server.files[path]
    assert len(list((root / "train2017").iterdir())) == 24
    assert set(server.requests.values()) == {1}
    assert not list(root.rglob("*.part")) + list(root.rglob("*.zip"))
    assert load(root, "val") == server.instances["val"]


def test_the_subset_is_a_data_set(server, root, tmp_path, capsys):
    """It is read again without a server, also after the whole folder was moved."""
    subset = download(root, 10, 5, progress=True)
    assert f"train or evaluate with --data {subset}" in capsys.readouterr().err
    moved = root.rename(tmp_path / "moved")
    server.requests.clear()
    train, val = load_data(moved / subset.relative_to(root), CLASSES, 64)
    assert (len(train), len(val)) == (10, 5)
    assert not train.skipped
    assert train.report["background"] == 0
    assert train.report["per_class"]["cell phone"] >= 5
    assert not server.requests


def test_empty_folders_that_a_copy_left_out(server, root):
    subset = download(root, 10, 5)
    (subset / "val2017").rmdir()
    assert download(root, 10, 5) == subset
    assert find(subset, "val")[1] == subset / "val2017"


def test_subsets_of_one_folder_share_images(server, root):
    small = download(root, 10, 5)
    server.requests.clear()
    large = download(root, 12, 5)
    assert names(small) < names(large)
    assert len(server.requests) == 2  # the annotations and the others are there
    assert len(names(small)) == 10
    assert download(root, 10, 5, classes=CLASSES[::-1]) == small
    assert len(server.requests) == 2


def test_connections_are_kept(server, root):
    download(root, connections=3)
    assert sum(server.requests.values()) == 37
    assert server.connections <= 7  # one for the archive, three for each split


# ----------------------------------------------------------------------- servers that misbehave


@pytest.mark.by_default("train2017/000000000002.jpg-{'body': b'<html>busy</html>'}")
@pytest.mark.parametrize(
    ("path", "misdeed"),
    [
        (PHONE_IMAGE, {"status": 503, "headers": {"Retry-After": "1"}}),
        (PHONE_IMAGE, {"cut": 100}),
        (PHONE_IMAGE, {"reset": True}),
        (PHONE_IMAGE, {"stall": 100}),
        (PHONE_IMAGE, {"body": b"<html>busy</html>"}),
        (ARCHIVE, {"status": 500}),
        (ARCHIVE, {"cut": 100}),
        (ARCHIVE, {"body": b""}),
    ],
    ids=str,
)
def test_one_misdeed_is_got_over(server, root, misdeed, path, monkeypatch):
    archive = hashlib.sha256(server.files[ARCHIVE]).hexdigest()
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", archive)
    server.set(path, Answer(**misdeed))
    assert len(names(download(root))) == 24
    assert server.requests[path] == 2
    assert (root / PHONE_IMAGE).read_bytes() == server.files[PHONE_IMAGE]


def test_a_picture_of_another_size_is_refused(server, root):
    other = server.files["train2017/000000000003.jpg"]
    server.set(PHONE_IMAGE, Answer(body=other), always=True)
    reason = r"1 of 24 in train2017.*02\.jpg: is 80x80, but the annotation file says 72x96"
    with pytest.raises(DataError, match=reason):
        download(root)
    assert not (root / PHONE_IMAGE).exists()


@pytest.mark.slow
def test_the_archive_must_be_the_one_that_is_known(server, root, monkeypatch):
    monkeypatch.setenv("COCO_ANNOTATIONS_SHA256", "ab" * 32)
    with pytest.raises(DataError, match=r"(?s)abab.*COCO_ANNOTATIONS_SHA256 names another"):
        download(root)
    assert not list(root.rglob("*.json")) + list(root.rglob("*.zip"))


def with_a_damaged_stream(content):
    """Return bytes of an archive whose first file can't be unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        entry = opened.infolist()[0]
    start = entry.header_offset + 30 + len(entry.filename)
    return content[:start] + b"\xff" * 20 + content[start + 20 :]


def test_a_damaged_archive_is_deleted(server, root):
    right = server.files[ARCHIVE]
    for content in (b"no archive", make_archive({}), with_a_damaged_stream(right)):
        server.set(ARCHIVE, Answer(body=content))
        with pytest.raises(DataError, match="is damaged and was deleted"):
            download(root)
    download(root)


@pytest.mark.slow
def test_no_server(root, monkeypatch):
    monkeypatch.setenv("COCO_BASE_URL", "http://127.0.0.1:9")
    reason = r"annotations_trainval2017\.zip: no connection to 127\.0\.0\.1:9; check the network"
    with pytest.raises(DataError, match=reason):
        download(root)


# ------------------------------------------------------------------------------------ failures


def test_one_percent(monkeypatch, root, capsys):
    """One of 120 pictures may fail, and is left out; the next call tries it again."""
    with CocoServer(train=200, val=20) as server:
        monkeypatch.setenv("COCO_BASE_URL", server.url)
        gone = "train2017/000000000001.jpg"
        server.set(gone, Answer(status=404), always=True)
        data = load(download(root))
        images = {image["id"] for image in data["images"]}
        assert len(images) == 119
        assert {a["image_id"] for a in data["annotations"]} == images
        assert "warning: 1 images of train2017 failed:\n  000000000001.jpg: 404" in (
            capsys.readouterr().err
        )
        server.set(gone)
        assert len(names(download(root))) == 120


def test_a_server_that_has_gone(server, root, monkeypatch):
    """It is not asked for every picture."""
    monkeypatch.setattr(coco, "MAX_FAILED_SHARE", 0.2)
    for path in server.files:
        if path.startswith("train2017"):
            server.set(path, Answer(reset=True), always=True)
    with pytest.raises(DataError, match=r"too many .* run again to go on"):
        download(root, connections=1)
    assert 5 <= sum(path.startswith("train2017") for path in server.requests) < 10


# ------------------------------------------------------------------------------ what is there


def test_nothing_is_fetched_twice(server, root, monkeypatch):
    subset = download(root)
    server.requests.clear()
    # Finished data need no lock, and no server.
    with FileLock(root / ".download.lock"):
        assert download(root) == subset
    (root / PHONE_IMAGE).unlink()
    (root / "val2017/000000001001.jpg.part").write_bytes(b"torn")  # of a process that was killed
    assert download(root) == subset
    assert dict(server.requests) == {PHONE_IMAGE: 1}
    (subset / "subset.json").unlink()
    server.requests.clear()
    assert download(root) == subset
    assert not server.requests


def test_two_processes(server, root):
    root.mkdir()
    with (
        FileLock(root / ".download.lock"),
        pytest.raises(DataError, match="another process downloads into"),
    ):
        download(root)


def command(server, root, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "data.coco", str(root), "--connections", "2", *arguments],
        cwd=DEMO, env=os.environ | server.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.slow
def test_command_line_and_interruption(server, root):
    for path in server.files:
        if path.startswith("val2017"):
            server.set(path, Answer(delay=0.2), always=True)
    process = command(server, root)
    deadline = time.monotonic() + 60
    while not list(root.glob("val2017/*.jpg")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "download interrupted; run again to go on where it stopped" in errors
    assert "Traceback" not in errors
    server.requests.clear()
    process = command(server, root)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert len(names(Path(out.strip()))) == 24
    assert "train2017: 24 of 24 images chosen (20 with person, 8 with cell phone)" in errors
    assert 0 < len(server.requests) < 12  # only what was missing


# ---------------------------------------------------------------------------- what users do wrong


def test_unknown_classes(server, root, capsys):
    assert main([str(root), "--quiet", "--classes", "Dog", "person"]) == 1
    assert "no category ['Dog'] (did you mean 'dog'?)" in capsys.readouterr().err
    assert main([str(root), "--quiet", "--classes", "dogs"]) == 1
    assert "no category ['dogs'] (did you mean 'dog'?)" in capsys.readouterr().err
    assert not server.requests


@pytest.mark.parametrize(
    "wrong", [{"connections": 0}, {"train": -1}, {"val": -1}, {"seed": -1}], ids=str
)
def test_wrong_settings(root, wrong):
    with pytest.raises(DataError, match="connections must be positive, the others not"):
        download(root, **wrong)


@pytest.mark.parametrize(
    "url", ["http://example.org", "ftp://localhost", "example.org", "https://"]
)
def test_wrong_addresses(root, monkeypatch, url):
    monkeypatch.setenv("COCO_BASE_URL", url)
    with pytest.raises(DataError, match="COCO_BASE_URL must be https"):
        download(root)
    monkeypatch.setenv("COCO_BASE_URL", "")
    assert coco.base_url() == coco.BASE_URL


@pytest.mark.parametrize(("name", "what"), [("ANNOTATION", "annotations"), ("MEAN_IMAGE", "24 im")])
def test_a_full_disk(server, root, monkeypatch, name, what):
    monkeypatch.setattr(coco, f"{name}_BYTES", 10**16)
    with pytest.raises(DataError, match=rf"{what}.* need [0-9,]+ MB in .*make room"):
        download(root)


def test_boxes_without_area_do_not_count(server, root):
    data = server.instances["train"]
    for annotation in data["annotations"]:
        if annotation["category_id"] == PHONE:
            annotation["bbox"][2] = 0
    server.set_instances("train", data)
    assert len(names(download(root))) == 20


def test_names_of_subsets():
    assert subset_name(["person", "cell phone"], 0, 5, 1) == "cell-phone+person_trainall_val5_seed1"
    assert subset_name([f"class {k}" for k in range(30)], 1, 2, 3).startswith("30-classes-")
