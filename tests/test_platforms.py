"""What other systems lack is missing there, and nothing else: each lack is feigned here."""

import importlib.util
import logging
import math
import platform
import signal
import sys
from pathlib import Path

import pytest


def test_training_loads_where_there_is_no_sighup(monkeypatch):
    """As on Windows; a copy, for other tests hold the module's classes."""
    spec = importlib.util.find_spec("training.callbacks")
    copy = importlib.util.module_from_spec(spec)
    monkeypatch.delattr(signal, "SIGHUP")
    spec.loader.exec_module(copy)
    assert copy.Signals.NUMBERS == (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_memory_is_kept_by_glibc_alone(monkeypatch, system):
    from pytensor.link.jax.mode.host_memory import keep_freed_memory

    monkeypatch.setattr(sys, "platform", system)
    assert keep_freed_memory() is False


@pytest.fixture
def without_proc(monkeypatch):
    def missing(path, *arguments, **options):
        if str(path).replace("\\", "/").startswith("/proc/"):
            raise FileNotFoundError(path)
        return read_text(path, *arguments, **options)

    def exists(path, **options):
        return not str(path).startswith("/proc/") and path_exists(path, **options)

    read_text, path_exists = Path.read_text, Path.exists
    monkeypatch.setattr(Path, "read_text", missing)
    monkeypatch.setattr(Path, "exists", exists)


@pytest.mark.usefixtures("without_proc")
def test_processor_and_memory_without_proc():
    from data.cache import free_memory

    from pytensor.link.jax.kernels.processor import processor

    processor.cache_clear()
    try:
        assert processor() == list(platform.uname())
    finally:
        processor.cache_clear()
    assert free_memory() == math.inf


def test_a_library_of_another_system_is_done_without(monkeypatch, tmp_path, caplog):
    from pytensor.link.jax.kernels import cpu_kernels

    library = tmp_path / "jax_cpu_kernels_0.so"
    library.write_bytes(b"MZ: a library of another system")
    monkeypatch.setattr(cpu_kernels, "_compiled", lambda *_: library)
    with caplog.at_level(logging.WARNING):
        assert cpu_kernels._load.__wrapped__("g++", "", str(tmp_path)) is None
    assert "computed by XLA, and slower" in caplog.text
    assert library.name in caplog.text
