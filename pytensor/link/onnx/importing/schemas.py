"""What the standard says of an operator's inputs, checked before its converter runs."""

from functools import cache

import onnx
from pytensor.graph.basic import Variable
from pytensor.link.onnx.importing.registry import NARROW, NodeReader, Refused

_NAMES = {"float32": "float", "float64": "double"}


@cache
def _schema(op_type, opset, domain):
    """Return an operator's schema, or None for what the standard lacks."""
    if not onnx.defs.has(op_type, opset, domain):
        return None
    return onnx.defs.get_schema(op_type, opset, domain)


def check_inputs(node: NodeReader, given: list) -> None:
    """Check the number and the dtypes of a node's inputs, as the standard has them.

    Raises
    ------
    Refused
        If one that the operator must have is left out, there are too many, or a dtype isn't one
        that it takes.
    """
    schema = _schema(node.op_type, node.opset, node.domain)
    if schema is None:
        return
    if len(given) > schema.max_input:
        raise Refused(f"it has {len(given)} inputs, and takes {schema.max_input} at most")
    options, last = onnx.defs.OpSchema.FormalParameterOption, len(schema.inputs) - 1
    for i, parameter in enumerate(schema.inputs):
        missing = i >= len(given) or given[i] is None
        if missing and parameter.option == options.Single:
            raise Refused(f"it has no input {parameter.name!r}, which it must have")
    dtypes: dict[str, str] = {}
    for i, variable in enumerate(given):
        # A weight whose dtype PyTensor lacks is float32 here
        if not isinstance(variable, Variable) or _is_narrow(node, i):
            continue
        parameter, dtype = schema.inputs[min(i, last)], variable.type.dtype
        name = f"tensor({_NAMES.get(dtype, dtype)})"
        # An optional value that is there is its tensor
        if parameter.types.isdisjoint({name, f"optional({name})"}):
            allowed = sorted(t for t in parameter.types if t.startswith(("tensor", "optional(t")))
            raise Refused(
                f"its input {parameter.name!r} is of dtype {dtype}; it takes {', '.join(allowed)}"
            )
        first = dtypes.setdefault(parameter.type_str, dtype)
        if first != dtype and parameter.is_homogeneous:
            raise Refused(
                f"its inputs are of the dtypes {first} and {dtype}, which must be equal: cast one"
            )


def _is_narrow(node, position):
    values = node.ir_node.inputs
    return position < len(values) and values[position].dtype in NARROW
