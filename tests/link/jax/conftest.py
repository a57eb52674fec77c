"""Fixtures of tests of programs on disk."""

import pytest

SETTINGS = {
    "jax_compilation_cache_include_metadata_in_key": False,
    "jax_enable_compilation_cache": True,
    "jax_persistent_cache_min_compile_time_secs": 0,
}
PUT_BACK = (*SETTINGS, "jax_compilation_cache_dir")


@pytest.fixture
def folder(tmp_path):
    """Yield the folder of JAX's cache, which keeps all programs; put the settings back."""
    import jax

    from pytensor.link.jax.internals import forget_compilation_cache
    from pytensor.link.jax.mode.store import disk, lookup

    before = {name: getattr(jax.config, name) for name in PUT_BACK}
    for name, value in (SETTINGS | {"jax_compilation_cache_dir": str(tmp_path)}).items():
        jax.config.update(name, value)
    forget_compilation_cache()  # JAX decides once whether it keeps programs, and where
    lookup.log_once.cache_clear()
    disk.warn_once.cache_clear()
    yield tmp_path / "pytensor"
    for name, value in before.items():
        jax.config.update(name, value)
    forget_compilation_cache()


@pytest.fixture
def traced(monkeypatch):
    """List that grows whenever a graph is rewritten."""
    from pytensor.compile.maker import FunctionMaker

    seen, prepare = [], FunctionMaker.prepare_fgraph

    def watched(*args):
        seen.append(args)
        return prepare(*args)

    monkeypatch.setattr(FunctionMaker, "prepare_fgraph", staticmethod(watched))
    return seen
