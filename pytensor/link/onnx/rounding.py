"""Is this difference rounding?  What single precision loses of a graph's outputs.

A network can enlarge rounding errors until no fixed tolerance tells them from a wrong result.  The
same graph in double precision shows how large they are: an exported model whose outputs differ from
PyTensor's by no more than a few times `rounding_error` isn't known to be wrong.
"""

import contextlib
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph, SymbolicOp
from pytensor.compile.maker import function
from pytensor.compile.mode import Mode, get_mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import explicit_graph_inputs, toposort
from pytensor.link.jax.linker import JAXLinker
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import CAReduce, Elemwise

__all__ = ["in_double_precision", "rounding_error"]


def rounding_error(
    inputs: Sequence[Variable], outputs: Sequence[Variable], values: Sequence[ArrayLike],
    mode: Mode | str | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """Compute a graph in float32 and in float64, and compare.

    Parameters
    ----------
    inputs, outputs : list of Variable
        Of a graph in float32.  Its shared variables count with the values that they have.
    values : list of arrays
        Of the inputs.
    mode : Mode or str, optional
        What computes it.  With JAX, products are computed in full float32, on GPUs too, and 64-bit
        types are switched on for the time.

    Returns
    -------
    list of ndarray
        For each output its absolute errors in float32, as float64.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx.rounding import rounding_error
    >>> x = pt.scalar("x", dtype="float32")
    >>> [error] = rounding_error([x], [pt.sqrt(x)], [2.0])
    >>> bool(0 < error < 2.0**-24)
    True
    """
    shared = [v for v in explicit_graph_inputs(outputs) if isinstance(v, SharedVariable)]
    own = [v.type(name=v.name) for v in shared]
    arguments = [*inputs, *own]
    outputs = clone_replace(list(outputs), zip(shared, own, strict=True))
    given = [*values, *(v.get_value() for v in shared)]
    arrays = [np.asarray(x, v.type.dtype) for x, v in zip(given, arguments, strict=True)]
    single = _compute(arguments, outputs, arrays, mode, double=False)
    arrays = [array.astype(wider(array.dtype.name)) for array in arrays]
    exact = _compute(*in_double_precision(arguments, outputs), arrays, mode, double=True)
    pairs = zip(single, exact, strict=True)
    return [np.asarray(np.abs(a.astype("float64") - b)) for a, b in pairs]


def _compute(
    arguments: Any, outputs: Any, values: Any, mode: Mode | str | None, double: bool
) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        if isinstance(get_mode(mode).linker, JAXLinker):
            import jax

            stack.enter_context(jax.enable_x64(double))
            stack.enter_context(jax.default_matmul_precision("highest"))
        compute = function(arguments, outputs, mode=mode, on_unused_input="ignore")
        return [np.asarray(result) for result in compute(*values)]


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
            results = op(*own, return_list=True)
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
