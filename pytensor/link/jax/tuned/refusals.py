"""The error for lengths that XLA can't know: one, when a function is compiled."""

from pytensor.graph.basic import Constant, Variable
from pytensor.link.jax.rewriting.sizes import Undecided
from pytensor.link.jax.tuned.scopes import op_kind
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Nonzero

__all__ = ["nearest_name", "refuse"]

LENGTHS = (
    "Have it follow from numbers, integer inputs or shared variables, or lengths of arrays (in "
    "PyMC, give dims fixed lengths, or take "
    "pymc.model.transform.optimization.freeze_dims_and_data)"
)
MASKS = (
    "Compute with pt.where(mask, x, 0) instead of x[mask], or have the mask follow from integers"
)
LOOPS = "Take only the last value of the loop's results ([-1]), which needs no length"


def refuse(undecided: tuple[Undecided, ...]) -> None:
    """Raise the error that names these lengths, if there are any.

    Raises
    ------
    NotImplementedError
    """
    if not undecided:
        return
    first = undecided[0]
    inside = "".join(f" within {op_kind(node.op)}" for node in reversed(first.within))
    more = f" (and {len(undecided) - 1} more such nodes)" if len(undecided) > 1 else ""
    raise NotImplementedError(
        f"{op_kind(first.node.op)}{inside}{more}: XLA compiles for known lengths, and here one "
        f"depends on values that the device computes{_origin(first)}. "
        f"{_advice(first)}; or compile with mode NUMBA or ONNX."
    )


def _advice(undecided: Undecided) -> str:
    op = undecided.node.op
    if isinstance(op, Scan) and op.info.as_while:
        return LOOPS
    masked = undecided.variable.type.dtype == "bool" or isinstance(op, Nonzero)
    return MASKS if masked else LENGTHS


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
