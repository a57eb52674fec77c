"""The option of compiled programs on disk; `tests/link/jax/test_compilation_cache.py` has more."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import train_yolo11n
from training import run_folder

from tests.examples.yolo11n_runs import command


def test_the_option_reaches_jax(tmp_path, monkeypatch):
    """A run starts its cache before anything is compiled, and its own line may say off."""
    asked = []

    def use_cache(choice, with_names, say):
        asked.append((choice, with_names))
        raise OSError("enough")

    monkeypatch.setattr(train_yolo11n, "use_cache", use_cache)
    for extra in ([], ["--compilation-cache", "x"], ["--profile"]):
        own = command(tmp_path, "--output-dir", tmp_path / "out", *extra)
        assert train_yolo11n.main(own) == 1
    assert asked == [("off", False), ("x", False), ("off", True)]
    assert train_yolo11n.parse_arguments("", []).compilation_cache is None


def test_threads_that_try_one_folder(tmp_path, monkeypatch):
    """Each has written its own file when the first deletes one."""
    barrier, unlink = threading.Barrier(2, timeout=20), os.unlink

    def together(path, **kwargs):
        if ".write_test." in os.fspath(path):
            barrier.wait()
        unlink(path, **kwargs)

    monkeypatch.setattr(os, "unlink", together)
    with ThreadPoolExecutor(2) as threads:
        done = threads.map(lambda _: run_folder.check_writable(tmp_path, "--output-dir"), range(2))
        assert list(done) == [None, None]
    assert list(tmp_path.iterdir()) == []
