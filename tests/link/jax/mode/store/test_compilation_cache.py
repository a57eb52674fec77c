"""Compiled programs on disk."""

import re

import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.mode.store import compilation_cache
from tests.link.jax.programs import lowered


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """Put JAX's settings back afterwards; the user's cache folder is ``tmp_path / "user"``."""
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
    compilation_cache.forget_compilation_cache()


@pytest.fixture
def hits(settings):
    """Yield names of the programs that were read from disk, also small ones."""
    found, least = [], jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)

    def listen(event, **_):
        if event.endswith("/cache_hits"):
            found.append(event)

    jax.monitoring.register_event_listener(listen)
    yield found
    jax.monitoring.unregister_event_listener(listen)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", least)


def train(scopes=True):
    """Return losses of a new training step, and whether its program has PyTensor's names."""
    w = pytensor.shared(np.linspace(-1, 1, 12).reshape(3, 4), name="w", shape=(3, 4))
    x = pt.tensor("x", shape=(5, 3))
    loss = pt.tanh(x @ w).sum() ** 2
    updates = [(w, w - 0.01 * pytensor.grad(loss, w))]
    mode = jax_mode(named_scopes=scopes)
    step = pytensor.function([x], loss, updates=updates, mode=mode, trust_input=True)
    losses = [float(step(np.full((5, 3), k / 7))) for k in range(4)]
    return losses, "/Elemwise" in lowered(step).compile().as_text()


@pytest.mark.slow
def test_programs_are_read_again(settings, hits, capfd):
    """As by another process: nothing of a function is kept in this one."""
    compilation_cache.use_cache("off")
    without, _ = train()
    compilation_cache.use_cache(settings / "deep" / "cache")
    first, _ = train()
    assert not hits
    second, _ = train()
    assert hits
    assert first == second == without
    assert len(set(first)) == 4
    compilation_cache.use_cache(settings / "other")
    train()
    assert [*(settings / "other").iterdir()]
    assert capfd.readouterr().err == ""  # where XLA tells of programs for another processor


def test_a_profile_gets_programs_with_its_names(settings, hits):
    """JAX takes programs that differ in nothing but names for the same one."""
    compilation_cache.use_cache(settings / "cache")
    assert not train(scopes=False)[1]
    assert not train()[1]
    assert hits
    compilation_cache.use_cache(settings / "cache", with_names=True)
    assert train()[1]


def test_the_users_folder_is_the_default(settings, monkeypatch):
    folder = compilation_cache.use_cache()
    assert folder.parent == settings / "user" / "pytensor-jax"
    assert folder.is_dir()
    assert not [*folder.iterdir()]
    assert jax.config.jax_compilation_cache_dir == str(folder)
    assert re.fullmatch("cpu-[0-9a-f]{12}", folder.name)
    monkeypatch.setattr(compilation_cache, "processor", lambda: ["another"])
    assert compilation_cache.default_folder() != folder


def test_home_without_xdg(settings, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(settings))
    assert compilation_cache.default_folder().parent == settings / ".cache" / "pytensor-jax"


def test_choices(settings, monkeypatch):
    use = compilation_cache.use_cache
    assert use(settings / "own", True) == settings / "own"
    assert jax.config.jax_compilation_cache_include_metadata_in_key
    assert use("off") is None
    assert jax.config.jax_compilation_cache_dir is None
    assert not jax.config.jax_compilation_cache_include_metadata_in_key
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(settings / "jax"))
    assert use() == settings / "jax"
    assert use(settings / "own") == settings / "own"
    assert use("off") is None
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "off")
    assert use() is None
    jax.config.update("jax_enable_compilation_cache", False)
    assert use() is None


def test_a_folder_that_cannot_be_used(settings):
    (settings / "file").write_text("x")
    folder = settings / "file" / "below"
    with pytest.warns(RuntimeWarning, match=f"not kept: {folder} .*give another folder, or 'off'"):
        assert compilation_cache.use_cache(folder) is None
    assert jax.config.jax_compilation_cache_dir is None


def test_no_home(settings, monkeypatch):
    def fail():
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(compilation_cache.Path, "home", fail)
    with pytest.warns(RuntimeWarning, match="this user has no home folder"):
        assert compilation_cache.use_cache() is None
