"""Passes over the exported graph.

Each takes a `Graph`, changes it in place, returns whether it did, and does nothing when it is
run again on its own result.  The bodies of If, Loop and Scan are graphs of their own.
"""

from pytensor.link.onnx.passes.branches import sink_into_branches
from pytensor.link.onnx.passes.cancel import cancel_inverses
from pytensor.link.onnx.passes.common import merge_common_subexpressions
from pytensor.link.onnx.passes.constants import fold_constants
from pytensor.link.onnx.passes.conv import fold_batch_norm, fold_conv_offset, fold_conv_scale
from pytensor.link.onnx.passes.scales import keep_double_scales
from pytensor.link.onnx.passes.split import slices_to_split
from pytensor.link.onnx.passes.unused import (
    remove_unused,
    restore_parameter_names,
    sort_initializers,
)

PASSES = (
    fold_constants,
    cancel_inverses,
    merge_common_subexpressions,
    fold_batch_norm,
    fold_conv_scale,
    fold_conv_offset,
    slices_to_split,
    sink_into_branches,
    keep_double_scales,
    remove_unused,
)
# What these passes look for: they are left out where no node is of this operator.
LOOKS_FOR = {
    fold_batch_norm: "BatchNormalization",
    fold_conv_scale: "Conv",
    fold_conv_offset: "Conv",
    slices_to_split: "Slice",
    sink_into_branches: "If",
    keep_double_scales: "MatMul",
}
# Passes without which the model would be wrong, or hold what nothing uses.
NECESSARY = (keep_double_scales, remove_unused)


def run_pass(apply, graph):
    """Run one pass, on the bodies of nodes too; returns whether it found anything to do."""
    nodes = list(graph.all_nodes())
    if apply in LOOKS_FOR and LOOKS_FOR[apply] not in {node.op_type for node in nodes}:
        return False
    bodies = [body for node in nodes for body in node.subgraphs]
    return True in [apply(part) for part in (graph, *bodies)]


def run_passes(graph, passes=PASSES):
    """Run every pass, on the bodies of nodes too, until none finds anything left to do."""
    while True in [run_pass(apply, graph) for apply in passes]:
        pass
    restore_parameter_names(graph)
    sort_initializers(graph)
