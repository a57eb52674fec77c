"""Rewrites for JAX: for mode JAX, and more for `pytensor.link.jax.jax_mode`.

`import pytensor` makes their names known, for ``mode="JAX"`` needs no other import.  The modules
here are imported when a function is compiled for JAX.  In mode JAX they change graphs that have an
Op of this distribution; others stay as PyTensor makes them.
"""

import warnings
from importlib import import_module

from pytensor.compile.mode import optdb
from pytensor.graph.rewriting.basic import SequentialGraphRewriter
from pytensor.graph.rewriting.db import RewriteDatabase

__all__ = ["LazyRewriter"]


class LazyRewriter(RewriteDatabase):
    """The rewriter of that name in a module here, which is imported when a mode asks for it."""

    def __init__(self, module, rewriter, tag):
        super().__init__()
        self.module, self.rewriter, self.tag = module, rewriter, tag

    def query(self, *tags, **subqueries):
        try:
            module = import_module(f"{__name__}.{self.module}")
        except (ImportError, AttributeError) as error:
            if self.tag != "jax":
                raise
            # Mode JAX is PyTensor's own, and must work with one of another version.  An Op of ours
            # has no conversion then, which says why: conversions import these modules as well.
            warnings.warn(
                f"pytensor-vision: mode JAX goes without the rewrites of {self.module}: {error}",
                stacklevel=2,
            )
            return SequentialGraphRewriter()
        return getattr(module, self.rewriter)


for name, tag, module, rewriter, position in (
    # Before PyTensor puts their graphs in the place of nodes.
    ("keep_squares", "jax_tuned", "updates", "keep_squares", -0.02),
    # Before rewrites of scans, which would take out what a mask selects.
    ("jax_masks", "jax_tuned", "until_loops", "compute_at_full_length", 0.04),
    # After "ShapeOpt", which infers lengths; before rewrites look into slices.
    ("jax_windows", "jax_tuned", "windows", "make_windows", 0.15),
    ("jax_normalize_by_kernels", "jax_cpu_kernels", "normalization", "normalize_by_kernels", 3.3),
    # Before the channels-last rewrite, which knows its Ops.
    ("jax_recompute_normalized", "jax", "recompute", "recompute_normalized", 3.4),
    # After the rewrites that look for patterns, before those that prepare for compilation.
    ("jax_channels_last", "jax", "channels_last", "keep_channels_last", 3.5),
    # Before what asks whether a shape is known.
    ("jax_known_length", "jax", "known_lengths", "known_lengths_with_our_ops", 98),
    ("jax_tuned_known_length", "jax_tuned", "known_lengths", "known_lengths", 98),
    # Before "jax_shape_parameter_as_tuple", which takes what remains.
    # Last, for it notes something on the nodes that are left.
    ("jax_keep_checks", "jax_tuned", "host_checks", "keep_checks", 200),
    ("jax_reshape_to_lengths", "jax_tuned", "static_shapes", "reshape_to_lengths", 99),
):
    optdb.register(name, LazyRewriter(module, rewriter, tag), tag, position=position)

# By the tag alone: PyTensor's `rewrite_graph` selects what has the phase's name for one.
for phase in ("canonicalize", "specialize"):
    optdb[phase].register(
        "set_subtensor_of_make_vector_beside_our_ops",
        LazyRewriter("static_shapes", "local_set_subtensor_of_make_vector_with_our_ops", "jax"),
        "jax",
        use_db_name_as_tag=False,
    )
