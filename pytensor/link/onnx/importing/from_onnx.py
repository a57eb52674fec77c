"""`from_onnx`: an ONNX model as a PyTensor graph."""

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

import numpy as np
import onnx_ir as ir

import onnx
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.graph.basic import Constant, Variable
from pytensor.link.conversions import import_all
from pytensor.link.onnx.importing import operators
from pytensor.link.onnx.importing.alternatives import (
    Either,
    Rows,
    checked,
    joined,
    of_rank,
    taken,
    why,
)
from pytensor.link.onnx.importing.errors import (
    ImportedModelError,
    ImportedOpError,
    ImportedShapeWarning,
)
from pytensor.link.onnx.importing.model import HIGHEST_OPSET, read_model
from pytensor.link.onnx.importing.operators.refused import REFUSED
from pytensor.link.onnx.importing.registry import (
    ALWAYS_WITHOUT_EFFECT,
    NARROW,
    Refused,
    array_of,
    dtype_name,
    operator_funcify,
)
from pytensor.link.onnx.importing.sizes import folded, known
from pytensor.link.onnx.importing.text import MOVING, OF_NUMBERS, READING, Strings, Text, codes_of
from pytensor.tensor.basic import as_tensor_variable, constant
from pytensor.tensor.batching import lengths_of, shapes_differ
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.type import TensorType

# What PyTensor raises where inputs don't fit an operator: the model contradicts itself then.
ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    StopIteration,
    TypeError,
    ValueError,
)

NO_CONVERTER = "there is no converter for this operator"
KEPT = (list, Either, Rows, Text)  # results of converters that are no variables
_STANDARD = {"float32": "float", "float64": "double"}  # the standard's names of dtypes

import_all(operators.__name__)


@dataclass
class ImportedModel:
    """Hold the variables of an imported model; `from_onnx` returns it.

    Attributes
    ----------
    inputs, outputs : dict of str to Variable
        By the model's names, in its order.  Initializers, and what was given as a constant, aren't
        among the inputs.
    parameters : dict of str to Variable
        The model's initializers by name: shared variables where they are trainable, else constants.
    updates : dict of SharedVariable to Variable
        New values of trainable parameters that the model itself computes, such as the running
        statistics of batch normalization in training form.
    strings : list of str
        Texts of the model.  PyTensor has no strings: inputs and outputs that are text in the file
        are int64, positions in this list; -1 is any string that isn't in it.
    """

    inputs: dict[str, Variable]
    outputs: dict[str, Variable]
    parameters: dict[str, Variable]
    updates: dict[SharedVariable, Variable] = field(default_factory=dict)
    strings: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        """Return inputs and outputs with their types, and how many parameters there are."""
        inputs, outputs = (
            ", ".join(f"{name!r}: {variable.type}" for name, variable in variables.items())
            for variables in (self.inputs, self.outputs)
        )
        count = f"{len(self.parameters)} parameter{'s' * (len(self.parameters) != 1)}"
        return f"ImportedModel(inputs={{{inputs}}}, outputs={{{outputs}}}, {count})"


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
        Values in files next to the model are read if `model` is a path, and only from the model's
        folder.
    inputs : dict of str to Variable, optional
        Variables in the place of inputs, by the model's names; for others variables are made.
        A network is applied to part of a graph so.  An array is a constant: axes, lengths or scales
        that are inputs must be known, ``inputs={"axes": numpy.array([1])}``.  An initializer that
        the file lists among the inputs is a default, which a variable here replaces.
    trainable : bool or collection of str
        Which initializers become shared variables, which optimizers can change: True for all of
        floating point that are weights, or names.  Others are constants.  Running statistics of
        a normalization for inference aren't weights, nor is how much a node resizes or drops.
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

    Warns
    -----
    ImportedShapeWarning
        If the file declares other shapes of results than the model computes, whose own are
        imported; it lists them.  Shapes of inputs must hold.

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
    given = dict(inputs or {})
    replaced = given.keys() & {v.name for v in graph.inputs}
    initializers = {k: v for k, v in graph.initializers.items() if k not in replaced}
    importer = Importer(read.opset_imports, _trainable_names(trainable, initializers))
    model_inputs = [v for v in graph.inputs if v.name not in initializers]
    variables = _input_variables(model_inputs, given)
    checked_inputs = _checked(model_inputs, variables)
    importer.values.update(
        (v, Text(x) if v.dtype == ir.DataType.STRING else x) for v, x in checked_inputs.items()
    )
    results = map(codes_of, importer.convert_model(graph))
    outputs: dict[Any, Any] = dict(zip([v.name for v in graph.outputs], results, strict=True))
    for name, variable in outputs.items():
        if isinstance(variable, Variable) and variable.owner is not None and not variable.name:
            variable.name = name
    parameters = {name: codes_of(importer.values[v]) for name, v in initializers.items()}
    open_inputs = {k: v for k, v in variables.items() if not isinstance(v, Constant)}
    return ImportedModel(
        open_inputs, outputs, parameters, importer.updates, list(importer.strings)
    )


def _trainable_names(
    trainable: bool | Collection[str], initializers: Mapping[str, Any]
) -> set[str]:
    if trainable is True:
        values = [v for v in initializers.values() if v.const_value.dtype.is_floating_point()]
        return {v.name for v in values if all(map(_as_weight, v.uses()))}
    if trainable is False:
        return set()
    names = {trainable} if isinstance(trainable, str) else set(trainable)
    if unknown := names - initializers.keys():
        raise ValueError(
            f"from_onnx: trainable has {_listed(unknown)}; the model's initializers are "
            f"{_listed(initializers)}"
        )
    return names


def _as_weight(use: Any) -> bool:
    """Return whether a node takes a value as a weight; see `from_onnx`."""
    if use.node.op_type == "BatchNormalization" and use.idx > 2:
        trains = use.node.attributes.get("training_mode")
        return trains is not None and bool(trains.as_int())
    return use.node.op_type not in ("Dropout", "Resize", "Upsample") or use.idx == 0


def _listed(names: Iterable[str]) -> str:
    names = sorted(names)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(map(repr, names[:20])) + more if names else "none"


def _input_variables(values: Any, given: dict[str, Variable]) -> dict[str, Variable]:
    """Return a variable for each of the model's inputs, by name."""
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
            if shapes_differ(variable.type.shape, declared.shape):
                raise TypeError(
                    f"from_onnx: the input {value.name!r} has shape {declared.shape}, the variable "
                    f"given {variable.type.shape}. To apply the graph to each row, leave it out: "
                    "vectorize_graph(y, {x: rows[:, None]})[:, 0], as docs/onnx.md shows"
                )
            variables[value.name] = variable
        else:
            variables[value.name] = declared(value.name)
    return variables


def _checked(values: Any, variables: Mapping[str, Any]) -> dict[ir.Value, Variable]:
    """Return the values' variables, checked to be of the shapes that the model says.

    Lengths that it calls by one name must be equal.
    """
    checked: dict[ir.Value, Variable] = {}
    lengths: dict[str, Any] = {}
    for value in values:
        variable = variables[value.name]
        wanted: list[Any] = list(_static(value.shape))
        own = zip(value.shape, lengths_of(variable), strict=True)
        for axis, (dim, length) in enumerate(own):
            name = getattr(dim, "value", None)
            if name in lengths:
                wanted[axis] = lengths[name]
            elif name is not None:
                lengths[name] = length
        checked[value] = specify_shape(variable, wanted)
    return checked


def _type_of(value: Any) -> TensorType:
    if not isinstance(value.type, ir.TensorType) or value.shape is None:
        raise ImportedModelError(
            f"from_onnx: the input {value.name!r} is no tensor whose number of axes the model says"
        )
    try:
        dtype = "int64" if value.dtype == ir.DataType.STRING else dtype_name(value.dtype)
    except Refused as error:
        text = f"from_onnx: the input {value.name!r}: {error}"
        raise ImportedModelError(text) from error
    return TensorType(dtype, _static(value.shape))


def _static(shape: Any) -> tuple[int | None, ...]:
    """Return the lengths that a file declares; exporters write -1 and 0 for open ones too."""
    return tuple(dim if isinstance(dim, int) and dim > 0 else None for dim in shape)


class NodeReader:
    """A node of an ONNX graph, as converters see it.

    Attributes
    ----------
    ir_node : onnx_ir.Node
    opset : int
        The version of its domain's operator set.
    importer : Importer
        Converts the graph.
    op_type, domain : str
        The domain is "" for ONNX's own operators.
    wanted_outputs : set of int
        The positions of the outputs that it has: optional ones may be left out.
    declared_inputs : list of tuple
        The inputs' shapes as the file declares them, empty where it declares none.
    """

    def __init__(self, ir_node: Any, opset: int, importer: "Importer") -> None:
        self.ir_node, self.opset, self.importer = ir_node, opset, importer
        self.op_type: str = ir_node.op_type
        self.domain: str = ir_node.domain
        self.wanted_outputs = {i for i, v in enumerate(ir_node.outputs) if v.name}
        shapes = [None if v is None else v.shape for v in ir_node.inputs]
        self.declared_inputs = [() if shape is None else tuple(shape) for shape in shapes]

    @property
    def label(self) -> str:
        """Name the node in errors."""
        name, outputs = self.ir_node.name, [v.name for v in self.ir_node.outputs if v.name]
        return repr(name) if name else f"the node of {', '.join(map(repr, outputs))}"

    @property
    def operator(self) -> str:
        """The operator's name, with its domain unless that is ONNX's own."""
        return f"{self.domain}.{self.op_type}" if self.domain else self.op_type

    def uses_output(self, position: int) -> bool:
        """Return whether another node reads an output, or it is one of the graph's."""
        if position not in self.wanted_outputs:
            return False
        value = self.ir_node.outputs[position]
        return bool(value.uses()) or value.is_graph_output()

    def declared_ndim(self) -> int | None:
        """Return the first output's number of axes, None where the file doesn't declare it."""
        shape = self.ir_node.outputs[0].shape
        return None if shape is None else len(shape)


class Importer:
    """Converts the nodes of a graph and of the graphs in it.

    Attributes
    ----------
    values : dict
        For each ONNX value that is known a variable, text, or list of variables.
    condition : Variable or None
        Of the If in whose branch the node is that is being converted.
    updates : dict
        New values of shared variables, to which a converter may add.
    strings : Strings
        The model's, with their numbers.
    """

    def __init__(self, opsets: Mapping[str, int], trainable: Collection[str]) -> None:
        self.opsets = opsets
        self.trainable = trainable  # names of initializers
        self.values: dict[ir.Value, Any] = {}
        self.failures: list[tuple[NodeReader, str]] = []
        self.wrong_shapes: dict[str, tuple[Any, Any]] = {}
        self.condition: Variable | None = None
        self.updates: dict[SharedVariable, Variable] = {}
        self.strings = Strings()

    def convert_model(self, graph: ir.Graph) -> list[Any]:
        """Convert a model's graph, whose inputs have values; returns its outputs.

        Raises
        ------
        ImportedOpError
            For all nodes that couldn't be converted.
        """
        results = self._convert(graph)
        if self.failures:
            raise ImportedOpError(
                [(node.operator, node.label, reason) for node, reason in self.failures]
            )
        pairs = zip(graph.outputs, results, strict=True)
        outputs = [_of_declared_rank(value, result) for value, result in pairs]
        self._warn_of_shapes()
        return outputs

    def _initializer(self, value: Any) -> Variable | Text:
        """Return a constant or a shared variable with the values of an initializer."""
        if value.const_value.dtype == ir.DataType.STRING:
            codes = self.strings.codes(value.const_value.string_data())
            return Text(constant(codes.reshape(tuple(value.const_value.shape)), name=value.name))
        try:
            data = array_of(value.const_value)
        except (Refused, ValueError) as error:
            text = f"from_onnx: the initializer {value.name!r}: {error}"
            raise ImportedModelError(text) from error
        if value.name in self.trainable:
            return shared(np.array(data), name=value.name, shape=data.shape)
        return constant(data, name=value.name)

    def _convert(self, graph: ir.Graph) -> list[Any]:
        for value in graph.initializers.values():
            if value not in self.values:
                self.values[value] = self._initializer(value)
        for ir_node in graph:
            self._convert_node(ir_node)
        return [self.values.get(value) for value in graph.outputs]

    @contextmanager
    def _only_if(self, condition: Variable | None) -> Iterator[None]:
        """Let what is converted count only if a condition holds, if one is given."""
        before = self.condition
        if before is None or condition is None:
            self.condition = before if condition is None else condition
        else:
            self.condition = pt.and_(before, condition)
        try:
            yield
        finally:
            self.condition = before

    def convert_body(
        self, graph: ir.Graph, *inputs: Variable, condition: Variable | None = None
    ) -> list[Variable]:
        """Convert the body of an If, Loop or Scan, for one set of inputs."""
        # Before version 4 of the format, initializers follow the inputs proper
        wanted = [v for v in graph.inputs if v.name not in graph.initializers]
        if len(wanted) != len(inputs):
            raise Refused(f"its body has {len(wanted)} inputs, and is given {len(inputs)}")
        self.values.update(zip(wanted, inputs, strict=True))
        with self._only_if(condition):
            outputs = self._convert(graph)
        if any(out is None for out in outputs):
            raise Refused("its body can't be imported")
        return outputs

    def outside(self, graph: ir.Graph) -> list[Variable]:
        """Return the variables known so far that a body, or one in it, reads."""
        values = {v for node in graph.all_nodes() for v in node.inputs if v in self.values}
        values.update(v for each in (graph, *graph.subgraphs()) for v in each.outputs)
        found = [self.values[v] for v in values if v in self.values]
        found = [x for v in found for x in (v if isinstance(v, list) else [v])]
        return [x for x in found if isinstance(x, Variable)]

    def _convert_node(self, ir_node: Any) -> None:
        opset = ir_node.version or self.opsets.get(ir_node.domain, 1)
        node = NodeReader(ir_node, opset, self)
        given = [None if v is None else self.values.get(v) for v in ir_node.inputs]
        if any(v is not None and x is None for v, x in zip(ir_node.inputs, given, strict=True)):
            # What comes of a node that failed; it may be as unknown itself
            if operator_funcify.dispatch(node.op_type, node.domain, opset) is None:
                self.failures.append((node, NO_CONVERTER))
            return
        try:
            results = self._results(node, given)
            for value, result in zip(ir_node.outputs, results, strict=False):
                self._check_type(value, result)
                self.values[value] = result
        except Refused as error:
            self.failures.append((node, str(error)))
        except ERRORS as error:
            self.failures.append((node, f"{type(error).__name__}: {error}"))

    def _results(self, node: NodeReader, given: list[Any]) -> list[Any]:
        """Return the outputs of a node; where its inputs have two sides, the outputs of both."""
        read = {} if node.op_type == "If" else self._read_by_bodies(node)
        either = next((v for v in (*given, *read.values()) if isinstance(v, Either)), None)
        if either is None:
            return self._converted(node, given)
        before = len(self.updates), len(self.failures), dict(self.wrong_shapes)
        results: list[Any] = []
        for number in (0, 1):
            values = {v: taken(x, either.condition, number) for v, x in read.items()}
            self.values.update(values)
            side = [taken(x, either.condition, number) for x in given]
            holds = pt.invert(either.condition) if number else either.condition
            try:
                with self._only_if(holds):
                    results.append(self._results(node, side))
            except (Refused, *ERRORS) as error:
                results.append(error)
                self.wrong_shapes = dict(before[2])
            self.values.update(read)
        if len(self.updates) != before[0]:
            raise Refused(f"it trains on a value whose number of axes {why(either)}")
        failed = [isinstance(side, Exception) for side in results]
        if all(failed):
            raise results[0]
        del self.failures[before[1] :]
        if any(failed):
            number = failed.index(False)
            return [checked(either, number, value) for value in results[number]]
        return [joined(either, *pair) for pair in zip(*results, strict=True)]

    def _read_by_bodies(self, node: NodeReader) -> dict[Any, Any]:
        """Return what a node's bodies read from outside and may have one of two numbers of axes."""
        attributes = node.ir_node.attributes.values()
        bodies = [a.value for a in attributes if a.type == ir.AttributeType.GRAPH]
        values = {v for body in bodies for each in body.all_nodes() for v in each.inputs if v}
        return {v: x for v in values if isinstance(x := self.values.get(v), Either)}

    def _converted(self, node: NodeReader, given: list[Any]) -> list[Any]:
        converter = operator_funcify.dispatch(node.op_type, node.domain, node.opset)
        if converter is None:
            raise Refused(NO_CONVERTER)
        name = node.domain, node.op_type
        if name not in REFUSED:
            check_inputs(node, given)
        moves = name in MOVING and any(isinstance(v, Text) for v in given)
        given = _without_text(name, given)
        results = converter(node, *given)
        results = results if isinstance(results, tuple) else (results,)
        _check_attributes(node, converter)
        _check_outputs(node, len(results))
        results = [v if isinstance(v, KEPT) else as_tensor_variable(v) for v in results]
        if all(v is None or isinstance(v, Constant) for v in given) and not any(
            _is_blown_up(v, given) for v in results
        ):
            results = folded(results)
        return [Text(v) for v in results] if moves else results

    def _check_type(self, value: Any, result: Any) -> None:
        """Refuse a value of another dtype than the file declares, and warn of another shape."""
        if isinstance(result, KEPT) or not isinstance(value.type, ir.TensorType):
            return
        declared = dtype_name(value.dtype)
        if result.type.dtype != declared:
            raise Refused(
                f"the model says that {value.name!r} is of dtype {declared}, and its inputs make "
                f"it {result.type.dtype}"
            )
        if value.shape is None:
            return
        lengths, found = _static(value.shape), result.type.shape
        if shapes_differ(lengths, found):
            self.wrong_shapes[value.name] = lengths, found

    def _warn_of_shapes(self) -> None:
        """Warn of all values that have other shapes than the file declares."""
        if self.wrong_shapes:
            pairs = list(self.wrong_shapes.items())
            listed = "; ".join(f"{n!r}: {a} declared, {b} found" for n, (a, b) in pairs[:20])
            more = f"; and {len(pairs) - 20} more" if len(pairs) > 20 else ""
            warnings.warn(
                f"from_onnx: the model declares other shapes than its nodes make, which are "
                f"imported: {listed}{more}",
                ImportedShapeWarning,
                stacklevel=4,
            )


@cache
def _schema(op_type: str, opset: int, domain: str) -> Any:
    """Return an operator's schema, or None for what the standard lacks."""
    if not onnx.defs.has(op_type, opset, domain):
        return None
    return onnx.defs.get_schema(op_type, opset, domain)


def check_inputs(node: NodeReader, given: list[Any]) -> None:
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
    for i, (value, variable) in enumerate(zip(node.ir_node.inputs, given, strict=True)):
        # A weight whose dtype PyTensor lacks is float32 here
        is_narrow = value is not None and value.dtype in NARROW
        if is_narrow or not isinstance(variable, Variable):
            continue
        parameter, dtype = schema.inputs[min(i, last)], variable.type.dtype
        name = f"tensor({_STANDARD.get(dtype, dtype)})"
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


def _without_text(name: tuple[str, str], given: list[Any]) -> list[Any]:
    """Return a node's inputs, with numbers for text unless its converter takes that."""
    if name in (READING | REFUSED.keys()) or not any(isinstance(v, Text) for v in given):
        return given
    if name not in MOVING | OF_NUMBERS:
        raise Refused("it computes with text, and PyTensor has only numbers")
    codes = [codes_of(v) for v in given]
    if name == ("", "Equal") and all(known(v) is None for v in codes):
        raise Refused("it compares two texts, and texts that aren't in the model have no number")
    return codes


def _check_attributes(node: NodeReader, converter: Any) -> None:
    """Refuse a node with attributes that aren't parameters of its converter."""
    known_ones = converter.attributes.keys() | ALWAYS_WITHOUT_EFFECT
    if unknown := node.ir_node.attributes.keys() - known_ones:
        of = f"{node.domain or 'ai.onnx'} {node.opset}"
        raise Refused(f"the operator has no attribute {_listed(unknown)} in {of}")


def _check_outputs(node: NodeReader, made: int) -> None:
    """Refuse a node if something reads an output that its converter doesn't make."""
    for position in range(made, len(node.ir_node.outputs)):
        if node.uses_output(position):
            name = node.ir_node.outputs[position].name
            raise Refused(f"its output {name!r}, number {position + 1}, can't be imported")


def _is_blown_up(result: Any, given: Any) -> bool:
    """Return whether a result is large, and larger than what it is made of: it stays a formula."""
    if isinstance(result, KEPT) or None in result.type.shape:
        return False
    return prod(result.type.shape) > max(2**16, sum(v.data.size for v in given if v is not None))


def _of_declared_rank(value: Any, result: Any) -> Any:
    """Return an output of the model, whose number of axes the file decides if nothing else does."""
    try:
        return of_rank(result, None if value.shape is None else len(value.shape))
    except Refused as error:
        raise ImportedModelError(f"from_onnx: the output {value.name!r}: {error}") from error
