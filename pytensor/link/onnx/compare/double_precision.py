"""The same graph in double precision."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.lowering.rewriting import outputs_for
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import CAReduce, Elemwise


def in_double_precision(
    inputs: Sequence[Variable], outputs: Sequence[Variable]
) -> tuple[list[Variable], list[Variable]]:
    """Return inputs and outputs of the same graph in which all that is float32 is float64.

    The inputs are all that it depends on, but for constants: replace its shared variables by others
    before.  The graph given is left as it is.
    """
    new = {v: v.type.clone(dtype=wider(v.type.dtype))(name=v.name) for v in inputs}
    for node in toposort(outputs, inputs):
        own = [new[v] if v in new else _widened(v) for v in node.inputs]
        op = node.op
        if isinstance(op, CAReduce):
            op = copy(op)
            op.dtype, op.acc_dtype = wider(op.dtype), wider(op.acc_dtype)
        if isinstance(op, SymbolicOp):
            results = outputs_for(op, own)
        elif isinstance(op, OpFromGraph):
            inner, results = in_double_precision(op.inner_inputs, op.inner_outputs)
            results = clone_replace(results, dict(zip(inner, own, strict=True)))
        elif isinstance(op, Elemwise) and isinstance(op.scalar_op, Cast):
            results = [pt.cast(own[0], wider(node.outputs[0].type.dtype))]
        else:
            results = op.make_node(*own).outputs
        new.update(zip(node.outputs, results, strict=True))
    return [new[v] for v in inputs], [new[v] for v in outputs]


def wider(dtype: str | None) -> Any:
    """Return float64 for float32; any other as it is."""
    return "float64" if dtype == "float32" else dtype


def _widened(variable: Any) -> Any:
    if isinstance(variable, Constant) and getattr(variable.type, "dtype", None) == "float32":
        return pt.constant(variable.data.astype("float64"))
    return variable
