"""Decoded pictures that are kept, in memory or on disk."""

import os

import numpy as np
import pytest
from data import cache as cache_module
from data.images import letterbox
from dataset import load_data, load_split
from PIL import Image

from tests.examples.conftest import CLASSES
from tests.examples.yolo11n.data.pictures import same


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def on_disk(builder, folder):
    """Open the builder's data set with the cache on disk."""
    return lambda **options: builder.dataset(cache="disk", cache_dir=folder, **options)


def files(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".npy")


def test_disk(builder, seven, on_disk, folder, monkeypatch):
    first = on_disk()
    assert same(first, seven)
    np.testing.assert_array_equal(np.load(*files(folder)), seven.squares)
    assert not first.squares.flags.writeable
    assert type(first.squares) is np.ndarray
    assert not list(folder.glob("*.part"))
    monkeypatch.setattr(cache_module, "decode", None)  # whoever decodes again fails
    assert same(on_disk(), seven)
    monkeypatch.undo()
    builder.dataset(cache="disk")  # by default it lies beside the data
    assert len(files(builder.root / ".cache")) == 1


@pytest.mark.parametrize(
    "cause", ["picture", "time", "image size", "declared size", "version", "way"]
)
def test_disk_notices_changes(builder, seven, on_disk, folder, cause, monkeypatch):
    on_disk()
    size = 32 if cause == "image size" else 64
    path = builder.folder / "10.png"
    if cause == "picture":
        Image.new("RGB", (80, 60)).save(path)
    elif cause == "time":
        os.utime(path, (1, 1))
    elif cause == "declared size":
        builder.images[0]["width"] = 81
    elif cause == "version":
        monkeypatch.setattr(cache_module, "_VERSION", 0)
    options = {"size": size, "antialias": cause != "way"}
    after = on_disk(**options)
    assert same(after, builder.dataset(**options))
    assert len(after) == (6 if cause == "declared size" else 7)
    assert len(files(folder)) == 2


@pytest.mark.parametrize("damage", ["short", "json"])
def test_damage_is_an_error(seven, on_disk, folder, damage):
    on_disk()
    [path] = files(folder)
    if damage == "short":
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.with_suffix(".json").write_text("{")
    with pytest.raises(OSError, match=r"can't keep decoded pictures in .*cache: .*; empty it, or"):
        on_disk()


def test_skipped_pictures_leave_no_gaps(builder, on_disk):
    for k in range(5):
        builder.add(30, 40, [(1, k, k, 9, 9)])
    for name in ("10.png", "30.png"):
        (builder.folder / name).write_bytes(b"")
    plain = builder.dataset()
    for dataset in (plain, builder.dataset(workers=3), on_disk(workers=2), on_disk()):
        assert dataset.squares.shape == (3, 64, 64, 3)
        assert same(dataset, plain)
        for k, name in enumerate(("20.png", "40.png", "50.png")):
            assert dataset.file_name(k) == name
            pixels = letterbox(np.asarray(Image.open(builder.folder / name)), 64)[0]
            np.testing.assert_array_equal(dataset[k].image, pixels)
        assert [name for name, _ in dataset.skipped] == ["10.png", "30.png"]


def test_both_parts_and_the_first_pictures_are_kept(both, monkeypatch):
    for _ in range(2):
        load_data(both[1], None, 64, cache="disk")
        load_split(both[1], "val", CLASSES, 64, cache="disk", limit=2)
        monkeypatch.setattr(cache_module, "decode", None)
    assert len(files(both[1] / ".cache")) == 3


def test_no_room(both, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk", cache_dir=tmp_path / "file")
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(cache_module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(OSError, match=r"need 0 MB in .*give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk")
    assert not files(both[1] / ".cache")

    assert 2**20 < cache_module.free_memory() < 2**50
    monkeypatch.setattr(cache_module, "free_memory", lambda: 1000)
    with pytest.raises(OSError, match=r"only 0.0 GB are free; .*--cache disk"):
        load_data(both[1], None, 64)


@pytest.mark.parametrize(
    ("told", "limit", "free"),
    [
        ("MemAvailable", "1000000", 1_000_000 - 700_000 + 200_000),
        ("MemAvailable", "max", 2**40),
        ("MemTotal", "max", np.inf),  # a system that doesn't tell
    ],
)
def test_a_container_may_have_less_memory_than_its_machine(
    told, limit, free, tmp_path, monkeypatch
):
    monkeypatch.setattr(cache_module, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(cache_module, "CONTAINER", tmp_path)
    (tmp_path / "meminfo").write_text(f"{told}:  {2**30} kB\n")
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 200000\nslab 7\n")
    assert cache_module.free_memory() == free


def test_an_interrupted_start(builder, seven, on_disk, folder, monkeypatch):
    """What it leaves doesn't count."""

    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_module, "decode", fail)
    with pytest.raises(KeyboardInterrupt):
        on_disk()
    monkeypatch.undo()
    assert same(on_disk(), seven)
    assert len(files(folder)) == 1
