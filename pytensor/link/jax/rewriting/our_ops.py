"""Rewrites that plain mode JAX does in graphs that have an Op of ours, and in no others."""

import os
import sys
from functools import cache
from pathlib import Path

from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.tensor.rewriting.corrections import local_set_subtensor_of_make_vector

__all__ = ["local_set_subtensor_of_make_vector_with_our_ops", "only_with_our_ops"]

# `pytensor`, as a checkout and the wheel have it; PyTensor's own folder is another one.
OUR_FOLDER = str(Path(os.path.abspath(__file__)).parents[3])


@cache
def _is_ours(op_class):
    file = getattr(sys.modules.get(op_class.__module__), "__file__", None) or ""
    return os.path.abspath(file).startswith(OUR_FOLDER + os.sep)


def has_op_of_ours(fgraph):
    """Return whether a graph has an Op that this distribution defines."""
    return any(_is_ours(type(getattr(node.op, "core_op", node.op))) for node in fgraph.apply_nodes)


def only_with_our_ops(rewriter):
    """Return a node rewriter that skips graphs without an Op of ours."""

    @node_rewriter(rewriter.tracks())
    def local_with_our_ops(fgraph, node):
        new = rewriter.transform(fgraph, node)
        return new if new and has_op_of_ours(fgraph) else None

    return local_with_our_ops


local_set_subtensor_of_make_vector_with_our_ops = only_with_our_ops(
    local_set_subtensor_of_make_vector
)
