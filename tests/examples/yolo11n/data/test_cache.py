"""Decoded pictures that are kept, in memory or on disk."""

import os

import numpy as np
import pytest
from data import cache as cache_module
from dataset import CacheError, load_data, load_split
from PIL import Image

from tests.examples.conftest import CLASSES
from tests.examples.yolo11n.data.pictures import same


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def on_disk(builder, folder):
    """Opens the builder's data set with the cache on disk."""
    return lambda **options: builder.dataset(cache="disk", cache_dir=folder, **options)


def files(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".npy")


def test_disk(builder, seven, on_disk, folder, monkeypatch):
    first = on_disk()
    assert same(first, seven)
    assert "decoded into" in first.summary()
    np.testing.assert_array_equal(np.load(*files(folder)), seven.squares)
    assert not first.squares.flags.writeable
    assert type(first.squares) is np.ndarray
    assert not list(folder.glob("*.part"))
    monkeypatch.setattr(cache_module, "decode", None)  # whoever decodes again fails
    again = on_disk()
    assert same(again, seven)
    assert "reused" in again.summary()
    monkeypatch.undo()
    builder.dataset(cache="disk")  # by default it lies beside the data
    assert len(files(builder.root / ".cache")) == 1


@pytest.mark.parametrize(
    "cause", ["picture", "time", "image size", "declared size", "version", "way"]
)
def test_disk_notices_changes(builder, seven, on_disk, folder, cause, monkeypatch):
    on_disk()
    before = files(folder)
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
    # The old one is of use only if it is of another kind.
    kept = cause in ("image size", "way")
    assert len(files(folder)) == 1 + kept
    assert before[0].exists() == kept


@pytest.mark.parametrize("damage", ["short", "header", "json", "no json"])
def test_disk_notices_damage(seven, on_disk, folder, damage, capsys):
    on_disk()
    [path] = files(folder)
    data, info = path.read_bytes(), path.with_suffix(".json")
    if damage == "short":
        path.write_bytes(data[:-1])
    elif damage == "header":
        path.write_bytes(data.replace(b"(7,", b"(6,"))
    elif damage == "json":
        info.write_text("{")
    else:
        info.unlink()
    again = on_disk()
    assert same(again, seven)
    assert f"{path} is damaged" in capsys.readouterr().out
    assert path.read_bytes() == data


def test_skipped_pictures_leave_no_gaps(builder, on_disk):
    for k in range(5):
        builder.add(30, 40, [(1, k, k, 9, 9)])
    for name in ("10.png", "30.png"):
        (builder.folder / name).write_bytes(b"")
    lazy = builder.dataset(cache=False)
    for dataset in (builder.dataset(), builder.dataset(workers=3), on_disk(workers=2), on_disk()):
        assert dataset.squares.shape == (3, 64, 64, 3)
        assert same(dataset, lazy)
        np.testing.assert_array_equal(dataset.squares[1], dataset[1].image)
        assert dataset.skipped == [
            (name, "not readable: an empty file") for name in ("10.png", "30.png")
        ]


def test_all_broken_on_disk(builder, on_disk):
    builder.add(30, 40)
    (builder.folder / "10.png").write_bytes(b"")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"none of the 1 images.*10\.png: not readable"):
            on_disk()


def test_both_parts_and_the_first_pictures_are_kept(both):
    for _ in range(2):
        sets = [*load_data(both[1], None, 64, cache="disk")]
        sets.append(load_split(both[1], "val", CLASSES, 64, cache="disk", limit=2))
    assert all("reused" in part.summary() for part in sets)
    assert len(files(both[1] / ".cache")) == 3


def test_no_room(both, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk", cache_dir=tmp_path / "file")
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(cache_module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(CacheError, match=r"need 0\.0 GB, and .* give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk")
    assert not list((both[1] / ".cache").glob("*.part"))
    monkeypatch.setattr(cache_module, "free_memory", lambda: 14 * 64 * 64 * 3)
    load_data(both[1], None, 64)
    monkeypatch.setattr(cache_module, "free_memory", lambda: 14 * 64 * 64 * 3 - 1)
    with pytest.raises(CacheError, match='cache="disk"'):
        load_data(both[1], None, 64)


def test_free_memory(tmp_path):
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < cache_module.free_memory() <= machine
    for name, text in (("max", "1000"), ("current", "700"), ("stat", "anon 5\ninactive_file 60")):
        (tmp_path / f"memory.{name}").write_text(text)
    (tmp_path / "meminfo").write_text("MemFree:  1 kB\nMemAvailable:   2 kB\n")
    assert cache_module.free_memory(tmp_path / "meminfo", tmp_path) == 360
    (tmp_path / "memory.max").write_text("max\n")
    assert cache_module.free_memory(tmp_path / "meminfo", tmp_path) == 2048
    assert cache_module.free_memory(tmp_path / "none", tmp_path / "none") is None


def test_an_interrupted_start_leaves_nothing(builder, seven, on_disk, folder, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(cache_module, "decode", fail)
    with pytest.raises(KeyboardInterrupt):
        on_disk()
    assert not [path for path in folder.iterdir() if path.suffix != ".lock"]
    monkeypatch.undo()
    on_disk()
    leftover = files(folder)[0].with_suffix(".part")  # of a process that was killed
    leftover.touch()
    os.utime(builder.folder / "10.png", (1, 1))
    on_disk()
    assert not leftover.exists()
