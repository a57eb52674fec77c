"""The mark of full precision, where there is no other precision."""

from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.tensor.precision import full_precision_mark
from pytensor.tensor.rewriting.basic import register_canonicalize


@register_canonicalize("fast_compile")
@node_rewriter([full_precision_mark])
def local_remove_full_precision(fgraph, node):
    """Take the mark away; `TunedJAXLinker` excludes this in mixed precision."""
    return node.inputs
