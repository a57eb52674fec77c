"""What happens to a PyTensor graph before its nodes are converted."""

import sys
from copy import copy
from functools import partial
from math import prod

from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.mode import optdb
from pytensor.compile.rewriting import inline_ofg_node
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.graph.features import PreserveVariableAttributes
from pytensor.graph.rewriting.basic import MergeOptimizer, copy_stack_trace
from pytensor.graph.rewriting.db import RewriteDatabaseQuery
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.dispatch.basic import onnx_funcify, onnx_funcify_OpFromGraph
from pytensor.link.onnx.dispatch.choose import ChooseAmong
from pytensor.link.onnx.settings import INCOMPATIBLE_REWRITES, REQUIRED_REWRITES
from pytensor.link.onnx.support.dims import Dims, Size
from pytensor.link.onnx.support.loops import lower_scans
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Composite
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Choose, cast, constant, expand_dims, stack
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import Unique
from pytensor.tensor.rewriting.channels_last import undo_channels_last
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Reshape, reshape
from pytensor.typed_list.basic import MakeList, TypedListConstant

# The pass that folds batch normalization into the filters of a convolution keeps their names, and
# rounds once.
FOLDED_BY_PASSES = ("local_fold_batch_normalization_into_convolution",)
QUERY = RewriteDatabaseQuery(
    include=["fast_run", *REQUIRED_REWRITES], exclude=[*INCOMPATIBLE_REWRITES, *FOLDED_BY_PASSES]
)


def rewrite_for_onnx(fgraph, *, optimize=True):
    """Simplify a graph, in place, and attach a `ShapeFeature` to it."""
    fgraph.attach_feature(PreserveVariableAttributes())
    if optimize:
        optdb.query(QUERY).rewrite(fgraph)
        inline_symbolic_ops(fgraph)
        MergeOptimizer().rewrite(fgraph)
    if not hasattr(fgraph, "shape_feature"):
        fgraph.attach_feature(ShapeFeature())
    lower_scans(fgraph, partial(rewrite_for_onnx, optimize=optimize))


def make_portable(fgraph):
    """Undo, in place, what compilation did to a graph, and inline symbolic Ops.

    Afterwards it has no in-place Ops and no symbolic Ops without a converter.
    """
    fgraph.attach_feature(PreserveVariableAttributes())
    inline_branches(fgraph)
    inline_symbolic_ops(fgraph)
    make_scans_portable(fgraph)
    open_lists(fgraph)
    unique_of_vectors(fgraph)
    forget_inplace(fgraph)
    forget_reduction_fusion(fgraph)
    forget_fusion(fgraph)
    forget_backend(fgraph)


def rebuild_with(replacements, outputs):
    """Rebuild a graph on other inputs, whose types may say more about their shapes.

    Parameters
    ----------
    replacements : dict of Variable to Variable
    outputs : list of Variable

    Returns
    -------
    list of Variable
        With static shapes worked out anew.  The graph given is left as it is.
    """
    new = dict(replacements)
    dims = Dims(ShapeFeature())
    for node in toposort(outputs, replacements):
        inputs = [new.get(i, i) for i in node.inputs]
        if isinstance(node.op, SymbolicOp):
            # Its inner graph is made for the types of its inputs.
            rebuilt = node.op(*inputs, return_list=True)
        elif isinstance(node.op, Reshape):
            rebuilt = [reshape_to_known(dims, *inputs, ndim=node.op.ndim)]
        elif isinstance(node.op, MakeList):
            # The one Op that takes its inputs as a list.
            rebuilt = node.op.make_node(inputs).outputs
        else:
            rebuilt = node.op.make_node(*inputs).outputs
        for old, variable in zip(node.outputs, rebuilt, strict=True):
            variable.name = old.name
            new[old] = variable
        copy_stack_trace(node.outputs, rebuilt)
    return [new.get(output, output) for output in outputs]


def reshape_to_known(dims, x, shape, *, ndim):
    """Reshape, with integers for sizes wherever those that aren't fixed cancel.

    Of ``x.reshape((x.shape[0], 2, -1))`` PyTensor knows the last size only if the first is fixed.
    """
    elements = dims.elements(shape)
    if elements is None:
        return reshape(x, shape, ndim=ndim)
    if elements.count(Size(-1)) == 1:
        known = prod((size for size in elements if size != Size(-1)), start=Size(1))
        rest = prod(dims.sizes(x), start=Size(1)) // known
        if rest is not None and rest.is_fixed:
            elements[elements.index(Size(-1))] = rest
    entries = [size.factor if size.is_fixed else shape[i] for i, size in enumerate(elements)]
    return reshape(x, entries, ndim=ndim)


def forget_inplace(fgraph):
    """Replace Ops that overwrite an input, as compiled functions have them."""
    for node in fgraph.toposort():
        if not node.op.destroy_map:
            continue
        if isinstance(node.op, Elemwise):
            op = Elemwise(node.op.scalar_op, name=node.op.name)
        else:
            op = copy(node.op)
            op.inplace, op.destroy_map = False, {}
        new = op.make_node(*node.inputs).outputs
        fgraph.replace_all(list(zip(node.outputs, new, strict=True)), reason="forget_inplace")


def forget_fusion(fgraph):
    """Replace fused scalar graphs by the elementwise Ops that they were made of."""
    for node in fgraph.toposort():
        fused = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
        if not isinstance(fused, Composite):
            continue
        new = dict(zip(fused.fgraph.inputs, node.inputs, strict=True))
        for inner in fused.fgraph.toposort():
            op = Elemwise(inner.op) if isinstance(node.op, Elemwise) else inner.op
            # A constant has the inner graph's scalar type, which both kinds of Op take.
            outputs = op(*[new.get(i, i) for i in inner.inputs], return_list=True)
            new.update(zip(inner.outputs, outputs, strict=True))
        replacements = [
            (old, new[output])
            for old, output in zip(node.outputs, fused.fgraph.outputs, strict=True)
        ]
        # One that doesn't depend on every input may lack the size of the others.
        if all(_ones(old) == _ones(other) for old, other in replacements):
            fgraph.replace_all(replacements, reason="forget_fusion")


def forget_reduction_fusion(fgraph):
    """Replace reductions that compute their terms themselves by elementwise Ops and reductions."""
    for node in fgraph.toposort():
        op = node.op
        if not (isinstance(op, CAReduce) and isinstance(op.scalar_op, Composite)):
            continue
        fused = op.scalar_op.fgraph
        accumulated, *terms = fused.inputs
        new = dict(zip(terms, node.inputs, strict=True))
        *before, last = fused.toposort()
        for inner in before:
            outputs = Elemwise(inner.op)(*[new.get(i, i) for i in inner.inputs], return_list=True)
            new.update(zip(inner.outputs, outputs, strict=True))
        (term,) = (i for i in last.inputs if i is not accumulated)
        reduction = CAReduce(last.op, axis=op.axis, dtype=op.dtype, acc_dtype=op.acc_dtype)
        fgraph.replace_all(
            [(node.outputs[0], reduction(new.get(term, term)))], reason="forget_reduction_fusion"
        )


def _ones(variable):
    return [size == 1 for size in variable.type.shape]


def forget_backend(fgraph):
    """Undo what is done to shapes and layouts for JAX, in graphs of functions compiled for it."""
    undo_channels_last(fgraph)
    # It is loaded if there is such a function; importing it needs JAX.
    backend = sys.modules.get("pytensor.link.jax.dispatch.shape")
    if backend is None:
        return
    for node in fgraph.toposort():
        if isinstance(node.op, backend.JAXShapeTuple):
            if hasattr(node.op, "computed_from"):
                vector = node.op.computed_from(*node.inputs)
            else:
                vector = stack([cast(entry, "int64") for entry in node.inputs])
            fgraph.replace_all([(node.outputs[0], vector)], reason="forget_backend")


def make_scans_portable(fgraph):
    """Undo what compilation did to scans and to the graphs of their steps."""
    for node in fgraph.toposort():
        if isinstance(node.op, Scan):
            step = node.op.fgraph.unfreeze()
            make_portable(step)
            op = node.op.clone_with_inner_graph(step)
            op.destroy_map = {}
            new = op.make_node(*node.inputs).outputs
            fgraph.replace_all(
                list(zip(node.outputs, new, strict=True)), reason="make_scans_portable"
            )


def open_lists(fgraph):
    """Let choices be made among tensors, where they are made among those of a list."""
    for node in fgraph.toposort():
        if not isinstance(node.op, Choose):
            continue
        index, choices = node.inputs
        if isinstance(choices, TypedListConstant):
            entries = [constant(entry) for entry in choices.data]
        elif choices.owner is not None and isinstance(choices.owner.op, MakeList):
            entries = choices.owner.inputs
        else:
            continue
        among = ChooseAmong(node.op.mode, node.outputs[0].type)
        fgraph.replace_all([(node.outputs[0], among(index, *entries))], reason="open_lists")


def unique_of_vectors(fgraph):
    """Give Unique vectors instead of scalars, whose shapes PyTensor can't infer.

    See thoughts/upstream/unique-of-scalar-shape.md.
    """
    for node in fgraph.toposort():
        if isinstance(node.op, Unique) and node.inputs[0].type.ndim == 0:
            new = node.op.make_node(expand_dims(node.inputs[0], 0)).outputs
            replacements = list(zip(node.outputs, new, strict=True))
            fgraph.replace_all(replacements, reason="unique_of_vectors")


def inline_branches(fgraph):
    """Replace conditionals whose branches have graphs of their own, as compiled functions have."""
    for node in fgraph.toposort():
        if isinstance(node.op, LazyIfElse):
            condition, *inputs = node.inputs
            branches = [
                inline_ofg_node(branch.make_node(*inputs))
                for branch in (node.op.true_branch, node.op.false_branch)
            ]
            new = IfElse(len(node.outputs))(condition, *branches[0], *branches[1], return_list=True)
            fgraph.replace_all(list(zip(node.outputs, new, strict=True)), reason="inline_branches")


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
    """The Ops in a graph that check something at run time, those within loops included.

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
