"""What happens to a PyTensor graph before its nodes are converted."""

import sys
from copy import copy
from functools import partial

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.mode import optdb
from pytensor.compile.rewriting import inline_ofg_node
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.graph.features import PreserveVariableAttributes
from pytensor.graph.rewriting.basic import MergeOptimizer, copy_stack_trace
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.dispatch.basic import onnx_funcify_OpFromGraph
from pytensor.link.onnx.dispatch.choose import ChooseAmong
from pytensor.link.onnx.dispatch.loops import lower_scan
from pytensor.link.onnx.settings import INCOMPATIBLE_REWRITES, REQUIRED_REWRITES
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Composite
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.axes_of_one import with_agreed_axes
from pytensor.tensor.basic import Choose, cast, constant, expand_dims, stack
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import Unique
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Reshape, Shape
from pytensor.typed_list.basic import MakeList, TypedListConstant

# The pass that folds batch normalization into the filters of a convolution keeps their names, and
# rounds once.
FOLDED_BY_PASSES = ("local_fold_batch_normalization_into_convolution",)
QUERY = RewriteDatabaseQuery(
    include=["fast_run", *REQUIRED_REWRITES], exclude=[*INCOMPATIBLE_REWRITES, *FOLDED_BY_PASSES]
)


def rewrite_for_onnx(fgraph, rewrite="all"):
    """Simplify a graph, in place, and attach a `ShapeFeature` to it.

    With `rewrite` "loops" the graph has been rewritten, but not the steps of its loops; with "none"
    nothing is simplified.
    """
    fgraph.attach_feature(PreserveVariableAttributes())
    if rewrite == "all":
        optdb.query(QUERY).rewrite(fgraph)
        inline_symbolic_ops(fgraph)
    if rewrite != "none":
        MergeOptimizer().rewrite(fgraph)
    if not hasattr(fgraph, "shape_feature"):
        fgraph.attach_feature(ShapeFeature())
    for node in fgraph.toposort():
        if isinstance(node.op, Scan):
            step = node.op.fgraph.unfreeze()
            rewrite_for_onnx(step, "none" if rewrite == "none" else "all")
            lower_scan(fgraph, node, step)


def make_portable(fgraph):
    """Undo, in place, what compilation did to a graph, and inline symbolic Ops.

    Afterwards it has no in-place Ops and no symbolic Ops without a converter.
    """
    fgraph.attach_feature(PreserveVariableAttributes())
    replace_nodes(fgraph, inline_branches)
    inline_symbolic_ops(fgraph)
    replace_nodes(fgraph, portable_scan)
    replace_nodes(fgraph, open_list)
    replace_nodes(fgraph, unique_of_vector)
    replace_nodes(fgraph, without_inplace)
    replace_nodes(fgraph, without_reduction_fusion)
    replace_nodes(fgraph, without_fusion)
    # They are loaded if there is a function compiled for JAX; importing the second needs JAX.
    if (jax := sys.modules.get("pytensor.link.jax.rewriting.channels_last")) is not None:
        jax.undo_channels_last(fgraph)
    if (jax := sys.modules.get("pytensor.link.jax.dispatch.shape")) is not None:
        replace_nodes(fgraph, partial(shape_vector, jax.JAXShapeTuple))


def replace_nodes(fgraph, replacement):
    """Replace the outputs of nodes by those that a function makes of them, unless that is None."""
    for node in fgraph.toposort():
        new = replacement(node)
        if new is not None:
            fgraph.replace_all(list(zip(node.outputs, new, strict=True)), reason="make_portable")


def rebuild_with(replacements, outputs):
    """Rebuild a graph on other inputs, whose types may say more about their shapes.

    Returns new outputs, with static shapes worked out again.  The graph given is left as it is.
    """
    new = dict(replacements)
    dims = Dims(ShapeFeature())
    for node in toposort(outputs, replacements):
        inputs = [new.get(i, i) for i in node.inputs]
        if isinstance(node.op, SymbolicOp):
            rebuilt = outputs_for(node.op, inputs)
        elif isinstance(node.op, Reshape):
            rebuilt = [dims.reshape(*inputs, ndim=node.op.ndim)]
        elif isinstance(node.op, Shape):
            rebuilt = [dims.shape(*inputs)]
        elif isinstance(node.op, Scan):
            op, inputs = with_agreed_axes(node.op, inputs)
            rebuilt = op.make_node(*inputs).outputs
        elif isinstance(node.op, MakeList):
            # The one Op that takes its inputs as a list.
            rebuilt = node.op.make_node(inputs).outputs
        else:
            rebuilt = node.clone_with_new_inputs(inputs, strict=False).outputs
        for old, variable in zip(node.outputs, rebuilt, strict=True):
            variable.name = old.name
            new[old] = variable
        copy_stack_trace(node.outputs, rebuilt)
    return [new.get(output, output) for output in outputs]


def outputs_for(op, inputs):
    """Return all outputs of a symbolic Op, whose inner graph is made for the types of its inputs.

    The call of a subclass may refuse ``return_list``.
    """
    outputs = op(*inputs)
    return (outputs[0] if isinstance(outputs, list) else outputs).owner.outputs


def without_inplace(node):
    """Replace an Op that overwrites an input, as compiled functions have it."""
    if not node.op.destroy_map:
        return None
    if isinstance(node.op, Elemwise):
        op = Elemwise(node.op.scalar_op, name=node.op.name)
    else:
        op = copy(node.op)
        op.inplace, op.destroy_map = False, {}
    return op.make_node(*node.inputs).outputs


def without_fusion(node):
    """Replace a fused scalar graph by the elementwise Ops that it was made of."""
    fused = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    if not isinstance(fused, Composite):
        return None
    new = dict(zip(fused.fgraph.inputs, node.inputs, strict=True))
    for inner in fused.fgraph.toposort():
        op = Elemwise(inner.op) if isinstance(node.op, Elemwise) else inner.op
        # A constant has the inner graph's scalar type, which both kinds of Op take.
        outputs = op(*[new.get(i, i) for i in inner.inputs], return_list=True)
        new.update(zip(inner.outputs, outputs, strict=True))
    outputs = [new[output] for output in fused.fgraph.outputs]
    # One that doesn't depend on every input may lack the size of the others.
    pairs = zip(node.outputs, outputs, strict=True)
    return outputs if all(_ones(old) == _ones(other) for old, other in pairs) else None


def without_reduction_fusion(node):
    """Replace a reduction that computes its terms itself by elementwise Ops and a reduction."""
    op = node.op
    if not (isinstance(op, CAReduce) and isinstance(op.scalar_op, Composite)):
        return None
    fused = op.scalar_op.fgraph
    accumulated, *terms = fused.inputs
    new = dict(zip(terms, node.inputs, strict=True))
    *before, last = fused.toposort()
    for inner in before:
        outputs = Elemwise(inner.op)(*[new.get(i, i) for i in inner.inputs], return_list=True)
        new.update(zip(inner.outputs, outputs, strict=True))
    (term,) = (i for i in last.inputs if i is not accumulated)
    reduction = CAReduce(last.op, axis=op.axis, dtype=op.dtype, acc_dtype=op.acc_dtype)
    return [reduction(new.get(term, term))]


def _ones(variable):
    return [size == 1 for size in variable.type.shape]


def shape_vector(shape_tuple, node):
    """Undo what is done to shapes for JAX."""
    if not isinstance(node.op, shape_tuple):
        return None
    return [stack([cast(entry, "int64") for entry in node.inputs])]


def portable_scan(node):
    """Undo what compilation did to a scan and to the graph of its steps."""
    if not isinstance(node.op, Scan):
        return None
    step = node.op.fgraph.unfreeze()
    make_portable(step)
    op, inputs = with_agreed_axes(node.op, node.inputs, step)
    return op.make_node(*inputs).outputs


def open_list(node):
    """Let a choice be made among tensors, where it is made among a list's tensors."""
    if not isinstance(node.op, Choose):
        return None
    index, choices = node.inputs
    if isinstance(choices, TypedListConstant):
        entries = [constant(entry) for entry in choices.data]
    elif choices.owner is not None and isinstance(choices.owner.op, MakeList):
        entries = choices.owner.inputs
    else:
        return None
    return [ChooseAmong(node.op.mode, node.outputs[0].type)(index, *entries)]


def unique_of_vector(node):
    """Give Unique a vector instead of a scalar, whose shape PyTensor can't infer.

    See thoughts/upstream/unique-of-scalar-shape.md.
    """
    if not isinstance(node.op, Unique) or node.inputs[0].type.ndim:
        return None
    return node.op.make_node(expand_dims(node.inputs[0], 0)).outputs


def inline_branches(node):
    """Replace a conditional whose branches have graphs of their own, as compiled functions do."""
    if not isinstance(node.op, LazyIfElse):
        return None
    condition, *inputs = node.inputs
    branches = [
        inline_ofg_node(branch.make_node(*inputs))
        for branch in (node.op.true_branch, node.op.false_branch)
    ]
    return IfElse(len(node.outputs))(condition, *branches[0], *branches[1], return_list=True)


def has_converter(op):
    return onnx_funcify.dispatch(type(op)) is not onnx_funcify_OpFromGraph


def inline_symbolic_ops(fgraph):
    """Replace Ops made of a graph, unless a converter is registered for their class."""
    while True:
        nodes = [
            node
            for node in fgraph.toposort()
            if isinstance(node.op, OpFromGraph) and not has_converter(node.op)
        ]
        if not nodes:
            return
        for node in nodes:
            fgraph.replace_all(
                list(zip(node.outputs, inline_ofg_node(node), strict=True)),
                reason="inline_symbolic_ops",
            )


def checks_in(fgraph):
    """Return the Ops in a graph that check something at run time, those in loops included.

    PyTensor's rewrites and gradients add checks of their own, of shapes, which a model doesn't
    have; they can be told from the user's by looking before.
    """
    found = set()
    for node in fgraph.apply_nodes:
        if isinstance(node.op, CheckAndRaise):
            found.add(node.op)
        elif isinstance(node.op, Scan):
            found |= checks_in(node.op.fgraph)
    return found
