"""The same graph in double precision: what single precision loses of its outputs."""

from copy import copy

import pytensor.tensor as pt
from pytensor.compile.builders import SymbolicOp
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import CAReduce, Elemwise


def in_double_precision(arguments, outputs):
    """The same graph in which all that is float32 is float64.

    Parameters
    ----------
    arguments : list of Variable
        All that the graph depends on, but for constants.  Shared variables aren't changed: stand
        others in for them before.
    outputs : list of Variable

    Returns
    -------
    arguments, outputs : list of Variable
        New ones.  The graph given is left as it is.
    """
    new = {v: v.type.clone(dtype=wider(v.type.dtype))(name=v.name) for v in arguments}
    for node in toposort(outputs, arguments):
        inputs = [new[v] if v in new else _widened(v) for v in node.inputs]
        op = node.op
        if isinstance(op, CAReduce):
            op = copy(op)
            op.dtype, op.acc_dtype = wider(op.dtype), wider(op.acc_dtype)
        if isinstance(op, SymbolicOp):
            results = op(*inputs, return_list=True)
        elif isinstance(getattr(op, "scalar_op", None), Cast) and isinstance(op, Elemwise):
            results = [pt.cast(inputs[0], wider(node.outputs[0].type.dtype))]
        else:
            results = op.make_node(*inputs).outputs
        new.update(zip(node.outputs, results, strict=True))
    return [new[v] for v in arguments], [new[v] for v in outputs]


def wider(dtype):
    """float64 for float32; what else is given as it is."""
    return "float64" if dtype == "float32" else dtype


def _widened(variable):
    if isinstance(variable, Constant) and getattr(variable.type, "dtype", None) == "float32":
        return pt.constant(variable.data.astype("float64"))
    return variable
