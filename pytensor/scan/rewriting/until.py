"""Keep PyTensor from counting the entries of a loop that ends early by its largest number of steps.

`scan_reduce_trace` reads ``x[1:]`` and ``x[0]`` of a loop of at most 9 steps as ``x[-8:]`` and
``x[-9]``, also where ``until`` ends it after two: other entries, or an IndexError.
See thoughts/upstream/scan-trace-of-until-loops.md.
"""

from pytensor.compile import optdb
from pytensor.compile.ops import view_op
from pytensor.graph.basic import Constant
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import copy_stack_trace, graph_rewriter
from pytensor.scan.op import Scan


@graph_rewriter
def hide_largest_number_of_steps(fgraph: FunctionGraph) -> None:
    """Make the number of steps of loops with ``until`` no constant, until constants are folded."""
    for node in fgraph.toposort():
        if not isinstance(node.op, Scan) or not node.op.info.as_while:
            continue
        steps, *others = node.inputs
        if isinstance(steps, Constant):
            hidden = view_op(steps)
            inputs = [hidden if v is steps else v for v in others]
            outputs = node.op.make_node(hidden, *inputs).outputs
            copy_stack_trace(node.outputs, outputs)
            pairs = list(zip(node.outputs, outputs, strict=True))
            fgraph.replace_all(pairs, reason="hide_largest_number_of_steps")


# Just before `scan_reduce_trace`
optdb.register(
    "hide_largest_number_of_steps", hide_largest_number_of_steps, "corrections", position=1.6117
)
