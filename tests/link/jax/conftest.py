"""How tests of `jax_mode` are compiled, and fixtures of programs on disk."""

from pathlib import Path

import pytest

COMPILED_SOONER = ("dispatch", "fixes", "mode", "rewriting", "store")
# What these say is about programs as users have them: threads, memory, training, files.
AS_USERS_HAVE_THEM = (
    "test_host_memory", "test_precision", "test_program_store", "test_program_store_draws",
    "test_program_store_files", "test_recompute",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def sooner(request):
    """Use `compiled_sooner` in most modules of these folders."""
    path = Path(request.module.__file__)
    if path.parent.name in COMPILED_SOONER and path.stem not in AS_USERS_HAVE_THEM:
        request.getfixturevalue("compiled_sooner")


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
