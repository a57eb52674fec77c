"""`from_onnx`: an ONNX model as a PyTensor graph."""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from pkgutil import iter_modules
from typing import Any

import numpy as np
import onnx_ir as ir

import onnx
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.graph.basic import Constant, Variable
from pytensor.link.onnx.importing import operators
from pytensor.link.onnx.importing.errors import ImportedModelError, ImportedOpError
from pytensor.link.onnx.importing.model import HIGHEST_OPSET, read_model
from pytensor.link.onnx.importing.registry import (
    Node,
    Refused,
    array_of,
    converter_of,
    dtype_name,
    folded,
)
from pytensor.tensor.basic import as_tensor_variable, constant
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.type import TensorType

# What PyTensor raises where inputs don't fit an operator: the model contradicts itself then.
ERRORS = (ArithmeticError, AssertionError, IndexError, NotImplementedError, TypeError, ValueError)

for _module in iter_modules(operators.__path__):
    import_module(f"{operators.__name__}.{_module.name}")


@dataclass
class ImportedModel:
    """What `from_onnx` returns.

    Attributes
    ----------
    inputs, outputs : dict of str to Variable
        By the model's names, in its order.  Initializers aren't among the inputs.
    parameters : dict of str to Variable
        The model's initializers by name: shared variables where they are trainable, else constants.
    updates : dict of SharedVariable to Variable
        New values of trainable parameters that the model itself computes, such as the running
        statistics of batch normalization in training form.
    """

    inputs: dict[str, Variable]
    outputs: dict[str, Variable]
    parameters: dict[str, Variable]
    updates: dict[SharedVariable, Variable] = field(default_factory=dict)


def from_onnx(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto,
    inputs: Mapping[str, Variable] | None = None,
    *,
    trainable: bool | Collection[str] = False,
    opset: int | None = None,
) -> ImportedModel:
    """Read an ONNX model as a PyTensor graph.

    The graph computes what the model computes, in the model's dtypes, and has gradients like any
    other.  Operators mean what the model's opset says, from opset 1 on; which can be read:
    docs/onnx_import.md.

    Parameters
    ----------
    model : str, path, bytes or onnx.ModelProto
        Values in files beside the model are read if `model` is a path, and only from the model's
        folder.
    inputs : dict of str to Variable, optional
        Variables in the place of inputs, by the model's names; for others variables are made.
        A network is applied to part of a graph so.
    trainable : bool or collection of str
        Which initializers become shared variables, which optimizers can change: True for all of
        floating point that are weights (how much a node resizes or drops isn't), or names.  Others
        are constants.
    opset : int, optional
        An opset that the installed onnx package knows.  What the graph computes doesn't depend on
        it: older models needed it, before they were read as they are.

    Returns
    -------
    ImportedModel
        Sizes that the model leaves open are open in the variables; where it gives two sizes one
        name, they must be equal when the graph is computed.

    Raises
    ------
    ImportedOpError
        If some nodes can't be imported; it lists them all, with reasons.
    FileNotFoundError
        If the file, or a file with its values, isn't there.
    ImportedModelError
        If the model is damaged, contradicts itself, or is of an opset that the installed onnx
        package doesn't know; a ValueError.
    ValueError
        If `inputs` or `trainable` have names that the model doesn't have, or `opset` isn't one
        that can be imported.
    TypeError
        If a given input doesn't fit the model's.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx import export_onnx, from_onnx
    >>> x = pt.vector("x")
    >>> imported = from_onnx(export_onnx([x], [pt.exp(x) * 2]))
    >>> imported.outputs["output_0"].eval({imported.inputs["x"]: [0.0]})
    array([2.])
    """
    if opset is not None and not 1 <= opset <= HIGHEST_OPSET:
        raise ValueError(f"from_onnx: opset={opset}; 1 to {HIGHEST_OPSET} can be imported")
    read = read_model(model)
    graph = read.graph
    initializers = dict(graph.initializers)
    shared_names = _trainable_names(trainable, graph)
    importer = Importer(read.opset_imports)
    parameters = {}
    for name, value in initializers.items():
        importer.values[value] = parameters[name] = importer.initializer(
            value, name in shared_names
        )
    model_inputs = [v for v in graph.inputs if v.name not in initializers]
    variables = _input_variables(model_inputs, dict(inputs or {}))
    importer.values.update(_checked(model_inputs, variables))
    results = importer.convert(graph)
    importer.raise_failures()
    outputs: dict[Any, Any] = dict(zip([v.name for v in graph.outputs], results, strict=True))
    for name, variable in outputs.items():
        if isinstance(variable, Variable) and variable.owner is not None and not variable.name:
            variable.name = name
    return ImportedModel(variables, outputs, parameters, importer.updates)


def _trainable_names(trainable: bool | Collection[str], graph: Any) -> set[str]:
    initializers = graph.initializers
    if trainable is True:
        values = [v for v in initializers.values() if v.const_value.dtype.is_floating_point()]
        return {v.name for v in values if not any(map(_says_how, v.uses()))}
    if trainable is False:
        return set()
    names = {trainable} if isinstance(trainable, str) else set(trainable)
    if unknown := names - initializers.keys():
        raise ValueError(
            f"from_onnx: trainable has {_listed(unknown)}; the model's initializers are "
            f"{_listed(initializers)}"
        )
    return names


def _says_how(use: Any) -> bool:
    """Whether a value is no weight but says how much a node resizes or drops."""
    return use.node.op_type in ("Dropout", "Resize") and use.idx > 0


def _listed(names: Iterable[str], most: int = 20) -> str:
    names = sorted(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more if names else "none"


def _input_variables(values: Any, given: dict[str, Variable]) -> dict[str, Variable]:
    """A variable for each of the model's inputs, by name."""
    if unknown := given.keys() - {v.name for v in values}:
        raise ValueError(
            f"from_onnx: inputs has {_listed(unknown)}; the model's inputs are "
            f"{_listed(v.name for v in values)}"
        )
    variables: dict[str, Variable] = {}
    for value in values:
        declared = _type_of(value)
        if value.name in given:
            variable = as_tensor_variable(given[value.name])
            if variable.type.dtype != declared.dtype or variable.type.ndim != declared.ndim:
                raise TypeError(
                    f"from_onnx: the input {value.name!r} is of dtype {declared.dtype} and has "
                    f"{declared.ndim} axes, the variable given has {variable.type.dtype} and "
                    f"{variable.type.ndim}"
                )
            variables[value.name] = variable
        else:
            variables[value.name] = declared(value.name)
    return variables


def _checked(values: Any, variables: Mapping[str, Any]) -> dict[ir.Value, Variable]:
    """By the model's values: their variables, checked to be of the shapes that the model says."""
    checked: dict[ir.Value, Variable] = {}
    lengths: dict[str, Any] = {}
    for value in values:
        variable = variables[value.name]
        if variable.type.ndim:
            variable = specify_shape(variable, _type_of(value).shape)
        checked[value] = _with_equal_lengths(variable, value, lengths)
    return checked


def _with_equal_lengths(variable: Any, value: Any, lengths: dict[str, Any]) -> Any:
    """The variable, checked for lengths that the model calls by a name that it used before."""
    wanted: list[Any] = [None] * variable.type.ndim
    for axis, dim in enumerate(value.shape or ()):
        name = getattr(dim, "value", None)
        if isinstance(name, str) and variable.type.shape[axis] is None:
            if name in lengths:
                wanted[axis] = lengths[name]
            else:
                lengths[name] = variable.shape[axis]
    return variable if wanted == [None] * len(wanted) else specify_shape(variable, wanted)


def _type_of(value: Any) -> TensorType:
    if not isinstance(value.type, ir.TensorType) or value.shape is None:
        raise ImportedModelError(
            f"from_onnx: the input {value.name!r} is no tensor whose number of axes the model says"
        )
    try:
        dtype = dtype_name(value.dtype)
    except Refused as error:
        text = f"from_onnx: the input {value.name!r}: {error}"
        raise ImportedModelError(text) from error
    return TensorType(dtype, [dim if isinstance(dim, int) else None for dim in value.shape])


def _is_blown_up(result: Any, given: Any, most: int = 2**16) -> bool:
    """Whether a result is large, and larger than what it is made of: it stays a formula."""
    if isinstance(result, list) or None in result.type.shape:
        return False
    return prod(result.type.shape) > max(most, sum(v.data.size for v in given if v is not None))


def _check_attributes(node: Node, domain: str) -> None:
    """Refuse a node with attributes that neither the standard nor the converter knows."""
    unknown = node.ir_node.attributes.keys() - node.read
    at = (node.op_type, node.opset, domain)
    if unknown and onnx.defs.has(*at):
        unknown -= onnx.defs.get_schema(*at).attributes.keys()
    if unknown:
        of = f"{domain or 'ai.onnx'} {node.opset}"
        raise Refused(f"the operator has no attribute {_listed(unknown)} in {of}")


def _check_outputs(node: Node, made: int) -> None:
    """Refuse a node of which an output is read that its converter doesn't make."""
    for position in range(made, len(node.ir_node.outputs)):
        if node.uses_output(position):
            name = node.ir_node.outputs[position].name
            raise Refused(f"its output {name!r}, number {position + 1}, can't be imported")


class Importer:
    """Converts the nodes of a graph and of the graphs in it.

    `values` holds a variable for each ONNX value that is known.
    """

    def __init__(self, opsets: Mapping[str, int]) -> None:
        self.opsets = {"" if k == "ai.onnx" else k: v for k, v in opsets.items()}
        self.values: dict[ir.Value, Variable] = {}
        self.failures: list[tuple[Node, str]] = []
        self.updates: dict[SharedVariable, Variable] = {}

    def initializer(self, value: Any, is_trainable: bool = False) -> Variable:
        """A constant or a shared variable with the values of an initializer."""
        try:
            data = array_of(value.const_value)
        except Refused as error:
            text = f"from_onnx: the initializer {value.name!r}: {error}"
            raise ImportedModelError(text) from error
        if is_trainable:
            return shared(np.array(data), name=value.name, shape=data.shape)
        return constant(data, name=value.name)

    def convert(self, graph: ir.Graph) -> list[Any]:
        """Convert a graph whose inputs have values; returns its outputs."""
        for value in graph.initializers.values():
            if value not in self.values:
                self.values[value] = self.initializer(value)
        for ir_node in graph:
            self._convert_node(ir_node)
        return [self.values.get(value) for value in graph.outputs]

    def convert_body(self, graph: ir.Graph, *inputs: Variable) -> list[Variable]:
        """Convert the body of an If, Loop or Scan, for one set of inputs."""
        if len(graph.inputs) != len(inputs):
            raise Refused(f"its body has {len(graph.inputs)} inputs, and is given {len(inputs)}")
        self.values.update(zip(graph.inputs, inputs, strict=True))
        outputs = self.convert(graph)
        if any(out is None for out in outputs):
            raise Refused("its body can't be imported")
        return outputs

    def _convert_node(self, ir_node: Any) -> None:
        domain = "" if ir_node.domain == "ai.onnx" else ir_node.domain
        node = Node(ir_node, self.opsets.get(domain, 1), self.convert_body, self.updates)
        given = [None if v is None else self.values.get(v) for v in ir_node.inputs]
        if any(v is not None and x is None for v, x in zip(ir_node.inputs, given, strict=True)):
            return  # what comes of a node that failed
        converter = converter_of(domain, ir_node.op_type, node.opset)
        try:
            if converter is None:
                raise Refused("there is no converter for this operator")
            results = converter(node, *given)
            results = results if isinstance(results, tuple) else (results,)
            _check_attributes(node, domain)
            _check_outputs(node, len(results))
            results = [v if isinstance(v, list) else as_tensor_variable(v) for v in results]
            if all(v is None or isinstance(v, Constant) for v in given) and not any(
                _is_blown_up(v, given) for v in results
            ):
                results = folded(results)
            for value, result in zip(ir_node.outputs, results, strict=False):
                self._check_type(value, result)
                self.values[value] = result
        except Refused as error:
            self.failures.append((node, str(error)))
        except ERRORS as error:
            self.failures.append((node, f"{type(error).__name__}: {error}"))

    def _check_type(self, value: Any, result: Any) -> None:
        """What the file says of a value must hold for what was made of it."""
        if isinstance(result, list) or not isinstance(value.type, ir.TensorType):
            return
        declared = dtype_name(value.dtype)
        if result.type.dtype != declared:
            raise Refused(
                f"the model says that {value.name!r} is of dtype {declared}, and its inputs make "
                f"it {result.type.dtype}"
            )
        if value.shape is None:
            return
        lengths = [dim if isinstance(dim, int) else None for dim in value.shape]
        if len(lengths) != result.type.ndim or any(
            None not in pair and pair[0] != pair[1]
            for pair in zip(lengths, result.type.shape, strict=True)
        ):
            raise Refused(
                f"the model says that {value.name!r} has the shape {tuple(lengths)}, and its "
                f"inputs make it {result.type.shape}"
            )

    def raise_failures(self) -> None:
        """Raise one error for all nodes that couldn't be converted."""
        if self.failures:
            raise ImportedOpError(
                [(node.operator, node.label, reason) for node, reason in self.failures]
            )
