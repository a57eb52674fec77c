"""Rewrites for JAX: for mode JAX, and more for `pytensor.link.jax.jax_mode`.

`import pytensor` makes their names known, for ``mode="JAX"`` needs no other import.  Their
modules are imported when a graph that is compiled for JAX has something for them.  In mode JAX they
change graphs that have an Op of this distribution; others stay as PyTensor makes them.
"""

import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module

from pytensor.compile.mode import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.facts import layout
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import GraphRewriter, NodeRewriter

__all__ = ["LazyNodeRewriter", "LazyRewriter", "checks_of", "load"]


class LazyRewriter(GraphRewriter):
    """A graph rewriter of `pytensor.link.jax`, imported for graphs that may need it.

    Parameters
    ----------
    path : str
        Its module's name below `pytensor.link.jax`, and its own.
    tag : str
        Of the modes whose graphs it rewrites.
    is_needed : callable
        Returns whether a graph may need it.
    """

    def __init__(self, path: str, tag: str, is_needed: Callable[[FunctionGraph], bool]) -> None:
        self.path, self.tag, self._is_needed = path, tag, is_needed

    def apply(self, fgraph):
        rewriter = load(self.path, self.tag) if self._is_needed(fgraph) else None
        if rewriter is not None:
            rewriter.rewrite(fgraph)


class LazyNodeRewriter(NodeRewriter):
    """A node rewriter of `pytensor.link.jax`, imported when a node of its Op is met.

    `op_class` names the class of that Op, for this is imported before Ops are.
    """

    def __init__(self, path: str, tag: str, op_class: str) -> None:
        self.path, self.tag, self._op_class = path, tag, op_class

    def tracks(self):
        module, _, name = self._op_class.rpartition(".")
        return [getattr(import_module(module), name)]

    def transform(self, fgraph, node, *args, **kwargs):
        rewriter = load(self.path, self.tag)
        return None if rewriter is None else rewriter.transform(fgraph, node)


def load(path, tag):
    """Return the rewriter of that name; None if mode JAX has to go without it."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(f"pytensor.link.jax.{module}"), name)
    except (ImportError, AttributeError) as error:
        if tag != "jax":
            raise
        # Mode JAX is PyTensor's own, and must work with one of another version.  An Op of ours
        # has no conversion then, which says why: conversions import these modules as well.
        warnings.warn(
            f"pytensor-vision: mode JAX goes without the rewrites of {module}: {error}",
            stacklevel=2,
        )
        return None


def has(*starts, reading=None):
    """Return a predicate for graphs with an Op whose class, or a base of it, has such a name.

    With `reading`, only nodes count of which it is true for an index, or for another input after
    the first.
    """

    @cache
    def is_met(op_class):
        names = (f"{base.__module__}.{base.__qualname__}" for base in op_class.__mro__)
        return any(name.startswith(starts) for name in names)

    def counts(node):
        if not is_met(type(node.op)):
            return False
        written = hasattr(node.op, "set_instead_of_inc")
        return reading is None or any(map(reading, node.inputs[1 + written :]))

    def has_op(fgraph):
        return any(map(counts, fgraph.apply_nodes))

    return has_op


def _is_of_run_time(variable):
    return not isinstance(variable, Constant)


def _is_mask_of_run_time(variable):
    return variable.type.dtype == "bool" and _is_of_run_time(variable)


def may_have_masks(fgraph):
    """Return whether a graph may have a number of elements or rows that only the device knows."""
    return has_mask(fgraph) or has_loop_or_nonzero(fgraph)


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
INDEXING = has(
    "pytensor.tensor.subtensor", "pytensor.tensor.pool.unpool", reading=_is_of_run_time
)  # fmt: skip
has_mask = has("pytensor.tensor.subtensor.Advanced", reading=_is_mask_of_run_time)
has_loop_or_nonzero = has("pytensor.scan", "pytensor.tensor.basic.Nonzero")

for position, name, tag, path, is_needed in (
    # Before PyTensor replaces nodes by their graphs.
    (
        -0.02, "keep_squares", "jax_tuned", "rewriting.updates.keep_squares",
        has("pytensor.tensor.moments"),
    ),
    # Before rewrites of scans, which would take out what a mask selects.
    (
        0.04, "jax_masks", "jax_tuned", "rewriting.until_loops.compute_at_full_length",
        may_have_masks,
    ),
    # After "ShapeOpt", which infers lengths; before rewrites look into slices.
    (0.15, "jax_windows", "jax_tuned", "rewriting.windows.make_windows", INDEXING),
    (
        3.3, "jax_normalize_by_kernels", "jax_cpu_kernels",
        "kernels.normalization.normalize_by_kernels", NORMALIZATION,
    ),
    # Before the channels-last rewrite, which knows its Ops.
    (
        3.4, "jax_recompute_normalized", "jax", "rewriting.recompute.recompute_normalized",
        NORMALIZATION,
    ),
    # After the rewrites that look for patterns, before those that prepare for compilation.
    (
        3.5, "jax_channels_last", "jax", "rewriting.channels_last.keep_channels_last",
        gains_by_channels_last,
    ),
    # Before what asks whether a shape is known.
    (
        98, "jax_known_length", "jax", "rewriting.known_lengths.known_lengths_with_our_ops",
        LENGTHS,
    ),
    # Last, for it notes something on the nodes that are left.
    (200, "jax_keep_checks", "jax_tuned", "rewriting.host_checks.keep_checks", checks_of),
):  # fmt: skip
    optdb.register(name, LazyRewriter(path, tag, is_needed), tag, position=position)

# Only by the tag: PyTensor's `rewrite_graph` selects what has the phase's name for one.
for phase in ("canonicalize", "specialize"):
    optdb[phase].register(
        "set_subtensor_of_make_vector_beside_our_ops",
        LazyNodeRewriter(
            "rewriting.our_ops.local_set_subtensor_of_make_vector_with_our_ops", "jax",
            "pytensor.tensor.subtensor.IncSubtensor",
        ),
        "jax",
        use_db_name_as_tag=False,
    )  # fmt: skip
