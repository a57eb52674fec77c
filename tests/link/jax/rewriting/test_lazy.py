"""Rewrites for JAX are known from the start, and loaded when a function is compiled for it."""

import subprocess
import sys

import pytest

from pytensor.compile.mode import get_mode, optdb
from pytensor.graph.rewriting.basic import NodeRewriter, Rewriter
from pytensor.graph.rewriting.db import RewriteDatabase
from pytensor.link.jax.rewriting import LazyNodeRewriter, LazyRewriter, load


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


def test_modes_select_by_tags():
    def names(mode):
        sequence = get_mode(mode).optdb.query(get_mode(mode)._optimizer)
        inner = (r for part in sequence if hasattr(part, "get_node_rewriters")
                 for r in part.get_node_rewriters() if isinstance(r, NodeRewriter))  # fmt: skip
        return {getattr(rewriter, "name", None) for rewriter in [*sequence, *inner]}

    assert {
        "jax_channels_last", "jax_known_length", "jax_recompute_normalized",
        "set_subtensor_of_make_vector_beside_our_ops",
    } <= names("JAX")  # fmt: skip
    assert not names("JAX") & {"jax_tuned_known_length", "keep_squares", "positive_solve"}
    assert not any("jax" in str(name) or "beside" in str(name) for name in names("FAST_RUN"))


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
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert done == ["", "", "channels_last"]
