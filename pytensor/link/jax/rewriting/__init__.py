"""Rewrites for JAX: for mode JAX, and more for `pytensor.link.jax.jax_mode`.

`import pytensor` makes their names known, for ``mode="JAX"`` needs no other import.  The modules
here are imported when a graph that is compiled for JAX has something for them.  In mode JAX they
change graphs that have an Op of this distribution; others stay as PyTensor makes them.
"""

import warnings
from collections.abc import Callable
from importlib import import_module

from pytensor.compile.mode import optdb
from pytensor.graph.facts import layout
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import GraphRewriter, SequentialGraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabase

__all__ = ["LazyRewriter", "LazyRewrites", "checks_of", "load"]


class LazyRewriter(GraphRewriter):
    """The graph rewriter of that name in a module here, imported for graphs that may need it.

    Parameters
    ----------
    module, rewriter : str
    tag : str
        Of the modes whose graphs it rewrites.
    is_needed : callable
        Returns whether a graph may need it.
    """

    def __init__(
        self, module: str, rewriter: str, tag: str, is_needed: Callable[[FunctionGraph], bool]
    ) -> None:
        self.module, self.rewriter, self.tag, self._is_needed = module, rewriter, tag, is_needed

    def apply(self, fgraph):
        if self._is_needed(fgraph):
            load(self.module, self.rewriter, self.tag).rewrite(fgraph)


class LazyRewrites(RewriteDatabase):
    """The node rewriter of that name in a module here, imported when a mode asks for it."""

    def __init__(self, module: str, rewriter: str, tag: str) -> None:
        super().__init__()
        self.module, self.rewriter, self.tag = module, rewriter, tag

    def query(self, *tags, **subqueries):
        return load(self.module, self.rewriter, self.tag)


def load(module, rewriter, tag):
    """Return the rewriter of that name in a module here."""
    try:
        return getattr(import_module(f"{__name__}.{module}"), rewriter)
    except (ImportError, AttributeError) as error:
        if tag != "jax":
            raise
        # Mode JAX is PyTensor's own, and must work with one of another version.  An Op of ours
        # has no conversion then, which says why: conversions import these modules as well.
        warnings.warn(
            f"pytensor-vision: mode JAX goes without the rewrites of {module}: {error}",
            stacklevel=2,
        )
        return SequentialGraphRewriter()


def has(*starts):
    """Return a predicate for graphs with an Op whose class, or a base of it, has such a name."""

    def is_met(op):
        names = (f"{base.__module__}.{base.__qualname__}" for base in type(op).__mro__)
        return any(name.startswith(starts) for name in names)

    def has_op(fgraph):
        return any(is_met(node.op) for node in fgraph.apply_nodes)

    return has_op


def gains_by_channels_last(fgraph):
    """Return whether a graph has an Op that is computed faster with the channels last."""
    layouts = [layout(node.op) for node in fgraph.apply_nodes]
    return any(found is not None and found.gains for found in layouts)


def checks_of(fgraph):
    """Return the `HostChecks` of a rewritten graph, or of a copy of it, or None."""
    if hasattr(fgraph, "host_checks"):
        return fgraph.host_checks
    found = (getattr(node.tag, "host_checks", None) for node in fgraph.apply_nodes)
    return next(filter(None, found), None)


NORMALIZATION = has("pytensor.tensor.batchnorm")
LENGTHS = has("pytensor.tensor.shape.Shape")
RESHAPE = has("pytensor.tensor.shape.Reshape")
INDEXING = has("pytensor.tensor.subtensor", "pytensor.tensor.pool.unpool")
MASKS = has("pytensor.scan", "pytensor.tensor.subtensor.Advanced", "pytensor.tensor.basic.Nonzero")

for name, tag, module, rewriter, position, is_needed in (
    # Before PyTensor puts their graphs in the place of nodes.
    ("keep_squares", "jax_tuned", "updates", "keep_squares", -0.02, has("pytensor.tensor.moments")),
    # Before rewrites of scans, which would take out what a mask selects.
    ("jax_masks", "jax_tuned", "until_loops", "compute_at_full_length", 0.04, MASKS),
    # After "ShapeOpt", which infers lengths; before rewrites look into slices.
    ("jax_windows", "jax_tuned", "windows", "make_windows", 0.15, INDEXING),
    (
        "jax_normalize_by_kernels", "jax_cpu_kernels", "normalization", "normalize_by_kernels", 3.3,
        NORMALIZATION,
    ),
    # Before the channels-last rewrite, which knows its Ops.
    ("jax_recompute_normalized", "jax", "recompute", "recompute_normalized", 3.4, NORMALIZATION),
    # After the rewrites that look for patterns, before those that prepare for compilation.
    (
        "jax_channels_last", "jax", "channels_last", "keep_channels_last", 3.5,
        gains_by_channels_last,
    ),
    # Before what asks whether a shape is known.
    ("jax_known_length", "jax", "known_lengths", "known_lengths_with_our_ops", 98, LENGTHS),
    ("jax_tuned_known_length", "jax_tuned", "known_lengths", "known_lengths", 98, LENGTHS),
    # Before "jax_shape_parameter_as_tuple", which takes what remains.
    ("jax_reshape_to_lengths", "jax_tuned", "static_shapes", "reshape_to_lengths", 99, RESHAPE),
    # Last, for it notes something on the nodes that are left.
    ("jax_keep_checks", "jax_tuned", "host_checks", "keep_checks", 200, checks_of),
):  # fmt: skip
    optdb.register(name, LazyRewriter(module, rewriter, tag, is_needed), tag, position=position)

# By the tag alone: PyTensor's `rewrite_graph` selects what has the phase's name for one.
for phase in ("canonicalize", "specialize"):
    optdb[phase].register(
        "set_subtensor_of_make_vector_beside_our_ops",
        LazyRewrites("our_ops", "local_set_subtensor_of_make_vector_with_our_ops", "jax"),
        "jax",
        use_db_name_as_tag=False,
    )
