"""The error for lengths that XLA can't know: one, when a function is compiled."""

from typing import Any

import jax
import numpy as np

from pytensor.compile.ops import DeepCopyOp
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import AbstractFunctionGraph, Output
from pytensor.graph.traversal import ancestors
from pytensor.link.jax.profiling.node_names import op_kind
from pytensor.link.jax.rewriting.find_sizes import Undecided
from pytensor.link.jax.rewriting.kept_rows import FirstRows
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)

__all__ = ["nearest_name", "refuse", "refuse_choice"]


def _is_loop(undecided: Undecided) -> bool:
    """Return whether a loop that a condition ends decides a length by its number of steps."""
    op, variable = undecided.node.op, undecided.variable
    if isinstance(op, Scan) and op.info.as_while:
        return True
    variables = [variable] if _is_mask(undecided) else ancestors([variable])
    return any(isinstance(v.owner_op, FirstRows) for v in variables)


def _is_mask(undecided: Undecided) -> bool:
    dtype = getattr(undecided.variable.type, "dtype", None)
    return dtype == "bool" or isinstance(undecided.node.op, Nonzero)


def _is_bound(undecided: Undecided) -> bool:
    indexing = Subtensor | AdvancedSubtensor | IncSubtensor | AdvancedIncSubtensor
    return isinstance(undecided.node.op, indexing)


# What the user can do about it: the text of the first condition that holds.  A selection is `x` at
# `index`; `mask` is the mask with an axis for each axis of `x` after it.
ADVICE = (
    (
        _is_loop,
        "Of a loop that a condition ends, return sums, products, extrema, means, the number of "
        "steps or the last value ([-1]); they, elementwise functions and gradients need no length",
    ),
    (
        _is_mask,
        "Elementwise functions, sums, products, extrema and shapes of {x}[{index}], and what is "
        "written there, need no length. Compute other functions before you index by the mask, "
        "or compute with pt.where({mask}, {x}, 0) instead of {x}[{index}]; or let the mask be an "
        "input of bools or follow from integers",
    ),
    (
        _is_bound,
        "Compute the bounds from integer inputs, shared variables and lengths of arrays; where the "
        "slice has one length and lies inside for certain, write x[start + pt.arange(length)]",
    ),
    (
        lambda undecided: True,
        "Have it follow from numbers, integer inputs or shared variables, or lengths of arrays (in "
        "PyMC, give dims fixed lengths, or take "
        "pymc.model.transform.optimization.freeze_dims_and_data)",
    ),
)


def _names(undecided: Undecided) -> dict[str, str]:
    """Return the names of a selection for `ADVICE`."""
    array, name = undecided.node.inputs[0], undecided.variable.name or "mask"
    if array is undecided.variable:  # of a `Nonzero`
        return {"x": "x", "index": "mask", "mask": "mask"}
    before = after = 0
    if _is_mask(undecided) and array.name and isinstance(undecided.node.op, AdvancedSubtensor):
        indices = indices_from_subtensor(undecided.node.inputs[1:], undecided.node.op.idx_list)
        before = indices.index(undecided.variable)
        after = array.type.ndim - before - 1
    mask = f"{name}[:{', None' * after}]" if after else name
    return {"x": nearest_name(array) or "x", "index": ":, " * before + name, "mask": mask}


def refuse(undecided: tuple[Undecided, ...], fgraph: AbstractFunctionGraph) -> None:
    """Raise the error that names these lengths of a graph, if there are any.

    Raises
    ------
    NotImplementedError
    """
    if not undecided:
        return
    first = undecided[0]
    kind = "Scan" if _is_loop(first) else op_kind(first.node.op)
    inside = "".join(f" within {op_kind(node.op)}" for node in reversed(first.within))
    reader = "" if first.within else _reader(first.node, fgraph)
    advice = next(text for holds, text in ADVICE if holds(first))
    more = f" (and {len(undecided) - 1} more such nodes)" if len(undecided) > 1 else ""
    raise NotImplementedError(
        f"{kind}{inside}{more}: XLA compiles for known lengths, and here one "
        f"depends on values that the device computes{_origin(first)}{reader}. "
        f"{advice.format(**_names(first))}; or compile with mode NUMBA or ONNX."
    )


def refuse_choice(node: Apply, results: Any, others: Any) -> None:
    """Raise the error of a condition between arrays of different lengths, if they have such.

    Raises
    ------
    NotImplementedError
    """
    shapes, others = ([np.shape(v) for v in jax.tree.leaves(one)] for one in (results, others))
    found = next((pair for pair in zip(shapes, others, strict=True) if pair[0] != pair[1]), None)
    if found is None:
        return
    origin = _origin(Undecided(node, node.inputs[0]))
    raise NotImplementedError(
        f"{op_kind(node.op)}: XLA compiles for known lengths, and here a condition that the device "
        f"computes{origin} chooses between arrays of shapes {found[0]} and {found[1]}. Have the "
        "condition follow from integer inputs or shared variables, or from lengths of arrays, or "
        "give both arrays one shape; or compile with mode NUMBA or ONNX."
    )


def _reader(node: Apply, fgraph: AbstractFunctionGraph) -> str:
    """Return what reads a node's result, for the error."""
    readers = (reader for out in node.outputs for reader, _ in fgraph.clients.get(out, ()))
    reader = next(readers, None)
    if reader is None:
        return ""
    return (
        f", for {'a result' if isinstance(reader.op, Output | DeepCopyOp) else op_kind(reader.op)}"
    )


def _origin(undecided: Undecided) -> str:
    variables = [undecided.variable, *(v for node in undecided.within for v in node.inputs)]
    name = next((name for v in variables if (name := nearest_name(v)) is not None), None)
    if name is not None:
        return f", from {name!r}"
    owner = undecided.variable.owner
    return "" if owner is None else f", by {op_kind(owner.op)}"


def nearest_name(variable: Variable) -> str | None:
    """Return the name of a variable, or else of the nearest one that it is computed from."""
    level, seen = [variable], {variable}
    while level:
        for one in level:
            if one.name and not isinstance(one, Constant):
                return str(one.name)
        level = [v for one in level if one.owner is not None for v in one.owner.inputs]
        level = [v for v in dict.fromkeys(level) if v not in seen]
        seen.update(level)
    return None
