"""Make the types of a loop agree on which axes have length 1.

PyTensor builds loops whose types don't, and its rewrites of other nodes make more of them.  It
refuses both when the loop is rewritten, copied, compiled or differentiated.  See
thoughts/upstream/scan-axes-of-one.md.  Importing this module replaces the gradient of PyTensor's
`Scan`, for such loops only: `pytensor.grad` looks for it nowhere else.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from pytensor.compile import optdb
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import copy_stack_trace, graph_rewriter
from pytensor.graph.traversal import toposort
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.db import scan_eqopt2, scan_seqopt1
from pytensor.tensor.shape import specify_broadcastable
from pytensor.tensor.type import TensorType


def agree_on_axes_of_one(fgraph: FunctionGraph) -> None:
    """Replace the loops whose types don't agree on which axes have length 1."""
    for node in fgraph.toposort():
        if isinstance(node.op, Scan):
            op, inputs = with_agreed_axes(node.op, node.inputs)
            if op is not node.op:
                op.destroy_map, op.view_map = node.op.destroy_map, node.op.view_map
                outputs = op.make_node(*inputs).outputs
                copy_stack_trace(node.outputs, outputs)
                pairs = list(zip(node.outputs, outputs, strict=True))
                fgraph.replace_all(pairs, reason="agree_on_axes_of_one")


def with_agreed_axes(
    op: Scan, inputs: Sequence[Variable], step: FunctionGraph | None = None
) -> tuple[Scan, Sequence[Variable]]:
    """Return a loop and inputs for it, with types that agree on which axes have length 1.

    A sequence's entries have the shape of the step's input, an entry of a state that the step reads
    has the shape of those that it writes, and an input that all steps share has the shape of the
    step's input.  If the type of one says that an axis has length 1, the others' types say so, too,
    and the length is checked at run time where it doesn't follow.

    Parameters
    ----------
    op : Scan
    inputs : list of Variable
        Inputs of a node of `op`.
    step : FunctionGraph, optional
        A graph of the step, instead of that of `op`.

    Returns
    -------
    Scan
        `op` if its types agree and `step` isn't given; else one that computes nothing in place.
    list of Variable
    """
    groups = list(_same_shapes(op))
    if step is None:
        if not any(_missing_ones(groups, op.fgraph.inputs, op.fgraph.outputs, inputs)):
            return op, inputs
        step = op.fgraph.unfreeze()
    read, written, inputs = list(step.inputs), list(step.outputs), list(inputs)
    while (missing := _missing_ones(groups, read, written, inputs))[0]:
        new = {read[k]: _with_ones(read[k], axes) for k, axes in missing[0].items()}
        written = _rebuilt(written, new)
        read = [new.get(v, v) for v in read]
    for variables, found in zip((written, inputs), missing[1:], strict=True):
        for k, axes in found.items():
            variables[k] = specify_broadcastable(variables[k], *axes)
    agreed = Scan(
        read, written, op.info, mode=op.mode, truncate_gradient=op.truncate_gradient, name=op.name,
        profile=op.profile, allow_gc=op.allow_gc, strict=op.strict,
    )  # fmt: skip
    return agreed, inputs


def _same_shapes(op):
    """Yield places of a step's inputs, of its outputs and of a loop's inputs, all of one shape."""
    read, written = range(len(op.inner_inputs)), range(len(op.inner_outputs))
    given = range(op.n_outer_inputs)
    seqs = zip(op.inner_seqs(read), op.outer_seqs(given), strict=True)
    non_seqs = zip(op.inner_non_seqs(read), op.outer_non_seqs(given), strict=True)
    for k, outer in chain(seqs, non_seqs):
        yield [k], [], [outer]
    singles = [*op.inner_mitsot_outs(written), *op.inner_sitsot_outs(written)]
    yield from zip(
        [
            *op.inner_mitmot_grouped(read),
            *op.inner_mitsot_grouped(read),
            *([k] for k in op.inner_sitsot(read)),
        ],
        [*op.inner_mitmot_outs_grouped(written), *([k] for k in singles)],
        [[]] * op.n_tap_outs,
        strict=True,
    )


def _missing_ones(groups, *variables):
    """Return, for each list of variables, the axes of unknown length 1 by the variable's place.

    Each of `groups` has a list of places in each of `variables`, whose last axes have one shape.
    """
    missing = [{} for _ in variables]
    for group in groups:
        members = [
            (found, place, of_kind[place].type)
            for found, of_kind, places in zip(missing, variables, group, strict=True)
            for place in places
            if isinstance(of_kind[place].type, TensorType)
        ]
        ndim = min((type.ndim for *_, type in members), default=0)
        ones = {axis for *_, type in members for axis in range(-ndim, 0) if type.shape[axis] == 1}
        for found, place, type in members:
            if axes := [axis for axis in ones if type.shape[axis] is None]:
                found[place] = axes
    return missing


def _with_ones(variable, axes):
    shape = list(variable.type.shape)
    for axis in axes:
        shape[axis] = 1
    return variable.type.clone(shape=shape)(name=variable.name)


def _rebuilt(outputs, new):
    """Return outputs that are computed from other inputs, whose types say more of their shapes."""
    new = dict(new)
    for node in toposort(outputs):
        op, inputs = node.op, [new.get(v, v) for v in node.inputs]
        if inputs == node.inputs:
            continue
        if isinstance(op, Scan):
            op, inputs = with_agreed_axes(op, inputs)
        rebuilt = op.make_node(*inputs).outputs
        copy_stack_trace(node.outputs, rebuilt)
        # Rewrites may have found out more of a shape than the node tells of itself.
        new |= {v: v.type.filter_variable(r) for v, r in zip(node.outputs, rebuilt, strict=True)}
    return [new.get(v, v) for v in outputs]


of_agreeing_loop = Scan.pullback


def pullback_of_loop(
    self: Scan,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_gradients: Sequence[Any],
) -> list[Variable]:
    """Return the gradient of a loop, whose types agree first on which axes have length 1."""
    op, inputs = with_agreed_axes(self, inputs)
    if op is not self:
        # The loop itself becomes this one, too, when it is compiled.
        outputs = op.make_node(*inputs).outputs
    return of_agreeing_loop(op, inputs, outputs, output_gradients)


Scan.pullback = pullback_of_loop  # type: ignore[method-assign]

# Before each rewrite that looks at loops, and before their steps are compiled.  A rewriter has the
# name that it is registered by, so that each place has another one.
for database, positions in (
    (scan_seqopt1, [{"position": 0}]),
    (scan_eqopt2, [{}]),
    (optdb, [{"position": p} for p in (1.59, 1.604, 1.6105, 1.6115, 1.6195, 50.4, 99.9)]),
):
    for k, position in enumerate(positions):
        database.register(
            f"scan_agree_on_axes_of_one_{k}",
            graph_rewriter(agree_on_axes_of_one),
            "minimum_compile",
            **position,
        )
