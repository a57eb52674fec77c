"""Compiled programs on disk."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax
import pytest
import train_yolo11n
from training import run_folder

from pytensor.link.jax import compilation_cache
from tests.examples.yolo11n_runs import command

DEMO = Path(run_folder.__file__).parents[1]
# A training step in small, and what JAX says about its programs on disk.
SCRIPT = """
import os, sys
sys.path.insert(0, {demo!r})
os.environ["PYTENSOR_FLAGS"] = "floatX=float32"
import jax
import numpy as np
from pytensor.link.jax.compilation_cache import use_cache
use_cache({folder!r}, with_names={names})
hits = []
jax.monitoring.register_event_listener(
    lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None
)
import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.tuned import jax_mode
w = pytensor.shared(np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4), name="w",
    shape=(3, 4))
x = pt.tensor("x", dtype="float32", shape=(5, 3))
loss = pt.tanh(x @ w).sum() ** 2
step = pytensor.function(
    [x], loss, updates=[(w, w - np.float32(0.01) * pytensor.grad(loss, w))],
    mode=jax_mode(donate=True, named_scopes={scopes}, keep_programs={keep}), trust_input=True,
)
found = step.maker.deferred
losses = [float(step(np.full((5, 3), k / 7, dtype="float32"))) for k in range(4)]
shapes = [jax.ShapeDtypeStruct(v.type.shape, "float32") for v in step.maker.fgraph.inputs]
text = step.vm.jit_fn.lower(*shapes).compile().as_text()
print(len(hits), "/Elemwise" in text, found, *(value.hex() for value in losses))
"""
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    # its programs take far less than the second below which JAX keeps none
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "PYTHONWARNINGS": "error",
}


def start(folder, names=False, scopes=True, keep=False, **variables):
    """(hits, whether the program has PyTensor's names, losses, found) of a new process.

    The last is whether the program was found by its graph.
    """
    script = SCRIPT.format(demo=str(DEMO), folder=folder, names=names, scopes=scopes, keep=keep)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=kept | ENVIRONMENT | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # XLA tells there when a program is for another processor
    hits, named, found, *losses = done.stdout.split()
    return int(hits), named == "True", losses, found == "True"


def test_second_start_reads_the_programs(tmp_path):
    folder = str(tmp_path / "deep" / "cache")
    first, second, without = start(folder), start(folder), start("off")
    assert (first[0], without[0]) == (0, 0)
    assert second[0] >= 1
    assert first[2] == second[2] == without[2]
    assert len(set(first[2])) == 4


def test_second_start_finds_the_program_by_its_graph(tmp_path):
    folder = str(tmp_path)
    first, second, others = (start(folder, keep=True, scopes=s) for s in (True, True, False))
    assert [first[3], second[3], others[3]] == [False, True, False]
    assert first[2] == second[2] == others[2] == start("off", keep=True)[2]
    assert second[1]  # its text is still to be had, with names


def test_a_profile_gets_programs_with_its_names(tmp_path):
    """JAX takes programs that differ in nothing but names for the same one."""
    folder = str(tmp_path)
    assert not start(folder, scopes=False)[1]
    hits, named, *_ = start(folder)
    assert hits
    assert not named
    assert start(folder, names=True)[1]


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """JAX's settings, put back afterwards; the user's cache folder is ``tmp_path / "user"``."""
    for variable in ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    names = (
        "jax_compilation_cache_dir",
        "jax_compilation_cache_include_metadata_in_key",
        "jax_enable_compilation_cache",
    )
    before = {name: getattr(jax.config, name) for name in names}
    yield tmp_path
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def no_words(text):
    raise AssertionError(text)


def test_the_users_folder_is_the_default(settings):
    folder = compilation_cache.use_cache(say=no_words)
    assert folder.parent == settings / "user" / "pytensor-yolo11n"
    assert folder.is_dir()
    assert not [*folder.iterdir()]
    assert jax.config.jax_compilation_cache_dir == str(folder)
    assert folder.name == f"cpu-{compilation_cache.processor()}"


def test_home_without_xdg(settings, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(settings))
    assert compilation_cache.default_folder().parent == settings / ".cache" / "pytensor-yolo11n"


def test_choices(settings, monkeypatch):
    use = compilation_cache.use_cache
    assert use(settings / "own", True, no_words) == settings / "own"
    assert jax.config.jax_compilation_cache_include_metadata_in_key
    assert use("off", say=no_words) is None
    assert jax.config.jax_compilation_cache_dir is None
    assert not jax.config.jax_compilation_cache_include_metadata_in_key
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(settings / "jax"))
    assert use(say=no_words) == settings / "jax"
    assert use(settings / "own", say=no_words) == settings / "own"
    assert use("off", say=no_words) is None
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "off")
    assert use(say=no_words) is None
    jax.config.update("jax_enable_compilation_cache", False)
    assert use(say=no_words) is None


def test_a_folder_that_cannot_be_used_takes_one_line(settings):
    (settings / "file").write_text("x")
    said = []
    assert compilation_cache.use_cache(settings / "file" / "below", say=said.append) is None
    [line] = said
    assert line.startswith("warning: compiled programs are not kept: ")
    assert str(settings / "file" / "below") in line
    assert "give another --compilation-cache, or off" in line
    assert "\n" not in line
    assert jax.config.jax_compilation_cache_dir is None


def test_no_home(settings, monkeypatch):
    def fail():
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(compilation_cache.Path, "home", fail)
    said = []
    assert compilation_cache.use_cache(say=said.append) is None
    assert "there is no home folder" in said[0]


def test_processors_are_told_apart(tmp_path):
    def key(text):
        (tmp_path / "cpuinfo").write_text(text)
        return compilation_cache.processor(tmp_path / "cpuinfo")

    one = "model name\t: A\nflags\t\t: sse avx\ncpu MHz\t\t: 1000\n"
    assert key(one) == key(one.replace("1000", "2000")) == key(f"{one}\nflags\t\t: other\n")
    assert len({key(one), key(one.replace("A", "B")), key(one.replace(" avx", ""))}) == 3
    assert len(compilation_cache.processor(tmp_path / "none")) == 12


def test_the_option_reaches_jax(settings, monkeypatch):
    """A run starts its cache before anything is compiled, and its own line may say off."""
    asked = []

    def use_cache(choice, with_names, say):
        asked.append((choice, with_names))
        raise OSError("enough")

    monkeypatch.setattr(train_yolo11n, "use_cache", use_cache)
    for extra in ([], ["--compilation-cache", "x"], ["--profile"]):
        own = command(settings, "--output-dir", settings / "out", *extra)
        assert train_yolo11n.main(own) == 1
    assert asked == [("off", False), ("x", False), ("off", True)]
    assert train_yolo11n.parse_arguments("", []).compilation_cache is None


@pytest.mark.parametrize("check", ["compilation_cache", "run_folder"])
def test_threads_that_try_one_folder(check, tmp_path, monkeypatch):
    """Each has written its own file when the first deletes one."""
    barrier, unlink = threading.Barrier(2, timeout=20), os.unlink

    def together(path, **kwargs):
        if ".write_test." in os.fspath(path):
            barrier.wait()
        unlink(path, **kwargs)

    monkeypatch.setattr(os, "unlink", together)
    checks = {
        "compilation_cache": lambda _: compilation_cache.check_folder(tmp_path),
        "run_folder": lambda _: run_folder.check_writable(tmp_path, "--output-dir"),
    }
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(checks[check], range(2))) == [None, None]
    assert list(tmp_path.iterdir()) == []
