"""Run-time checks and printing, which ONNX doesn't have."""

import warnings

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError, DroppedCheckWarning, DroppedPrintWarning
from pytensor.printing import Print
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.extra_ops import _broadcast_assert, _runtime_broadcast_assert
from pytensor.tensor.known_lengths import cells_are_left


@onnx_funcify.register(CheckAndRaise)
def onnx_funcify_CheckAndRaise(op, node, x, *conditions):
    builder = x.builder
    open_conditions = [c for c in conditions if c.data is None or not c.data]
    # In a model, where shapes don't match, the operator fails by itself, except for a length of 1.
    of_shapes = builder.checks != "raise" and op in (_broadcast_assert, _runtime_broadcast_assert)
    matters = builder.known_checks is None or op in builder.known_checks
    if op == cells_are_left and not can_raise(builder):
        return x
    if open_conditions and matters and not of_shapes:
        refuse_drop_or_keep(op, builder, open_conditions)
    return x


def refuse_drop_or_keep(op, builder, conditions):
    exception = f"{op.exc_type.__name__}({op.msg!r})"
    if builder.checks == "error":
        raise ConversionError(
            f"ONNX has no run-time checks; remove {exception} from the graph that is exported, "
            "or see the argument checks of export_onnx"
        )
    # A loop can't hand a condition out; where the caller would raise it, the rest is still right.
    inside = builder.graph.parent is not None
    if builder.checks == "drop" or (builder.checks == "raise" and inside):
        warnings.warn(
            f"the model does not check what raises {exception}: ONNX has no run-time checks",
            DroppedCheckWarning,
            stacklevel=2,
        )
        return
    if inside:
        raise ConversionError(
            f"a check inside of a loop or a branch, {exception}, can't be an output of the model; "
            "drop it with checks='drop'"
        )
    result, *rest = conditions
    for condition in rest:
        result = result & condition
    builder.kept_checks.append((result.name, op))


def can_raise(builder):
    """Return whether `require` does anything: models have no checks, and loops hand none out."""
    return builder.checks == "raise" and builder.graph.parent is None


def require(condition, exc_type, message):
    """Let mode ONNX raise an error as PyTensor does, unless all of a condition's booleans hold."""
    if can_raise(condition.builder):
        holds = ~(~condition).any()
        condition.builder.kept_checks.append((holds.name, CheckAndRaise(exc_type, message)))


@onnx_funcify.register(Print)
def onnx_funcify_Print(op, node, x):
    warnings.warn(
        f"the model does not print {op.message!r}: ONNX can't", DroppedPrintWarning, stacklevel=2
    )
    return x
