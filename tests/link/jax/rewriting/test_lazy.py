"""Rewrites for JAX are known from the start, and loaded when a function is compiled for it."""

import pytest

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.basic import Rewriter
from pytensor.graph.rewriting.db import RewriteDatabase
from pytensor.link.jax.rewriting import LazyNodeRewriter, LazyRewriter, load
from tests.link.jax.process import in_a_process


def lazy_rewriters(database=optdb):
    """Yield those of a database of rewrites, and of the databases in it."""
    for entry in {id(e): e for tagged in database.__db__.values() for e in tagged}.values():
        if isinstance(entry, LazyNodeRewriter | LazyRewriter):
            yield entry
        elif isinstance(entry, RewriteDatabase) and hasattr(entry, "__db__"):
            yield from lazy_rewriters(entry)


def test_what_is_registered_is_there():
    entries = list(lazy_rewriters())
    assert len(entries) == 10
    for entry in entries:
        assert isinstance(load(entry.path, entry.tag), Rewriter)


def test_mode_jax_leaves_out_a_rewrite_that_cannot_be_loaded():
    """As with a PyTensor of another version, whose own mode works; `jax_mode` is ours."""
    with pytest.warns(UserWarning, match="mode JAX goes without the rewrites of no_such_module"):
        assert load("no_such_module.rewriter", "jax") is None
    with pytest.raises(ModuleNotFoundError):
        load("no_such_module.rewriter", "jax_tuned")


LOADED = """
import sys
import pytensor
import pytensor.tensor as pt

def compile(mode, inputs, out):
    pytensor.function(inputs, out, mode=mode)
    name = "pytensor.link.jax.rewriting."
    print(*sorted(m.removeprefix(name) for m in sys.modules if m.startswith(name)))

x, image, filters = pt.vector(), pt.tensor4(), pt.tensor4()
compile("FAST_RUN", [x], x + 1)
compile("JAX", [x], x + 1)
compile("JAX", [image, filters], pt.nn.conv2d(image, filters))
"""


@pytest.mark.slow
def test_they_are_loaded_for_a_graph_that_needs_them():
    assert in_a_process(LOADED).stdout.splitlines() == ["", "", "channels_last"]
