"""The graph that converters write."""

import os
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby

import numpy as np

import pytensor
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.errors import ConversionError, UnsupportedOpError
from pytensor.link.onnx.generator_keys import state_key
from pytensor.link.onnx.ir import Graph, Node, Value
from pytensor.link.onnx.write.term import DTYPES, RESULTS, Generator, Term, concat
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type import TensorType


class GraphBuilder:
    """Builds an ONNX graph.

    A converter gets terms for the inputs of its PyTensor node, and returns those for its outputs;
    `Term.builder` is the builder.

    Parameters
    ----------
    names : sequence of str
        Those that are taken, for inputs and outputs.
    parameters_are_inputs : bool
        See `Graph`.
    trace : bool
        See `export_onnx`.

    Attributes
    ----------
    opset, exact, swish, checks
        See `export_onnx`.  Besides those choices, ``checks="raise"`` keeps conditions for a caller
        that raises their errors, who is warned of those in loops.
    graph : Graph
    dims : Dims
        What is known of symbolic sizes.
    known_checks : set of CheckAndRaise or None
        Those that matter; None for all.
    kept_checks : list of (str, CheckAndRaise)
        Conditions that are to become outputs, and the Ops that check them.
    origins : dict of str to Apply
        The PyTensor node for each start of ONNX nodes' names.
    draws : callable, optional
        In place of the `Draws` of the runtime.
    """

    def __init__(
        self,
        opset,
        *,
        names=(),
        parameters_are_inputs=False,
        dims=None,
        trace=False,
        checks="drop",
        known_checks=None,
        exact=True,
        swish=False,
    ):
        self.opset = opset
        self.graph = Graph(parameters_are_inputs=parameters_are_inputs)
        for name in names:
            self.graph.fresh_name(name)
        self.dims = Dims() if dims is None else dims
        self.checks = checks
        self.known_checks = known_checks
        self.kept_checks = []
        self.origins = {}
        self.draws = None
        self.exact = exact
        self.swish = swish
        self.failures = []
        self._trace = trace
        self._values = {}
        self._reserved = {}
        self._constants = {}
        self._numbers = Counter()
        self._emitted = []
        self._depth = 0

    def node(self, op_type, *inputs, result=None, n_outputs=1, domain="", **attributes):
        """Append an ONNX node as it is.

        `Term.node` does so with casts where onnxruntime has no kernel.

        Parameters
        ----------
        op_type : str
        inputs : Term or None
            None leaves out an optional input.
        result : str, optional
            Dtype of the (first) output; by default as `RESULTS` says, or that of the first input.
            The outputs of an If and a Loop have their bodies' dimensions.
        n_outputs : int
        domain : str
            Operator set; the default is ONNX's own.
        attributes : int, float, str, bytes, dtype, ndarray, Graph, or sequence of int, float or str
            A None leaves the attribute out.

        Returns
        -------
        Term, or tuple of Term where ``n_outputs > 1`` or where there are bodies

        Raises
        ------
        TypeError
            If nothing says the dtype of an output.
        """
        attributes = {key: value for key, value in attributes.items() if value is not None}
        names = ["" if value is None else value.name for value in inputs]
        bodies = [value for value in attributes.values() if isinstance(value, Graph)]
        if bodies:
            types = _outputs_of_body(op_type, attributes, bodies[0])
        else:
            decided = RESULTS.get(op_type, ()) if result is None else (result,)
            decided += (None,) * (n_outputs - len(decided))
            if None in decided and not inputs:
                raise TypeError(
                    f"{op_type} has no inputs: say the dtype of its output, as in "
                    f'node("{op_type}", result="float32")'
                )
            types = [Value(each or inputs[0].dtype) for each in decided[:n_outputs]]
        outputs = [self.graph.fresh_name(f"{op_type.lower()}_value") for _ in types]
        node = Node(op_type, names, outputs, attributes, domain)
        self.graph.nodes.append(node)
        self._emitted.append(node)
        results = tuple(
            Term(self, name, value.dtype, value.shape)
            for name, value in zip(outputs, types, strict=True)
        )
        return results if bodies or n_outputs > 1 else results[0]

    @contextmanager
    def subgraph(self):
        """Add to the body of an If, a Loop or a Scan while the context lasts.

        The body sees all values of the graphs around it.  Give it inputs with `input` and outputs
        with `output`, and hand it to `node` as an attribute::

            with builder.subgraph() as body:
                step = builder.input("step", "int64", ())
                ...
                builder.output(result, (3,))
            builder.node("Loop", trip_count, None, *state, body=body)
        """
        outer, self.graph = self.graph, self.graph.child()
        try:
            yield self.graph
        finally:
            self.graph = outer

    def input(self, base, dtype, shape):
        """Declare the next input of the current `subgraph`; a None shape has any rank."""
        return Term(self, self.graph.add_input(base, dtype, shape), dtype, shape)

    def output(self, term, shape):
        """Make a term the next output of the current `subgraph`; a None shape has any rank."""
        graph, name = self.graph, term.name
        if name in graph.outputs or not any(name in node.outputs for node in graph.nodes):
            # A body may return nothing but what it computed itself, and that once.
            name = self.node("Identity", term).name
        graph.outputs.append(name)
        graph.values[name] = Value(term.dtype, None if shape is None else tuple(shape))

    def loop(self, step, state=(), *, count=None, condition=None, may_end=False, shapes=None):
        """Write a Loop.

        Parameters
        ----------
        step : callable
            ``step(k, *state)`` returns the next state, and then what each step adds to results.
            With a `condition` or `may_end`, it first returns whether there is to be another step.
        state : sequence of Term
            At the start.
        count : Term, optional
            The number of steps, an int64 scalar.
        condition : Term, optional
            Whether there is a first step.
        shapes : sequence of (tuple or None), optional
            Of the state and of what is added; by default as terms have them.

        Returns
        -------
        tuple of Term
            The last state, and what the steps added, stacked along a new first axis.
        """
        given = [term.shape for term in state] if shapes is None else shapes
        with self.subgraph() as body:
            k = self.input("step", "int64", ())
            goes_on = self.input("condition", "bool", ())
            pairs = zip(state, given, strict=False)
            inner = [self.input("state", term.dtype, shape) for term, shape in pairs]
            results = as_tuple(step(k, *inner))
            if may_end and condition is None:
                condition = self.constant(True)  # without one, that of the body is ignored
            if condition is not None:
                goes_on, *results = results
            self.output(goes_on, ())
            for number, term in enumerate(results):
                self.output(term, given[number] if number < len(given) else term.shape)
        return self.node("Loop", count, condition, *state, body=body)

    def constant(self, value, dtype=None):
        """Return a constant, which becomes an initializer where a node reads it."""
        array = np.array(value, dtype=dtype, order="C")
        if array.dtype.name not in DTYPES:
            raise ConversionError(f"ONNX tensors of dtype {array.dtype} are not supported")
        return Term(self, None, array.dtype.name, array.shape, array)

    def vector(self, parts, dtype="int64"):
        """Return a vector of numbers and of vectors; neighbouring numbers make one part."""
        joined = []
        for is_term, group in groupby(parts, lambda part: isinstance(part, Term)):
            entries = list(group)
            joined.extend(entries if is_term else [self.constant(entries, dtype)])
        return concat(joined) if joined else self.constant([], dtype)

    def arange(self, n):
        """Return the int64 numbers from 0 to `n`, an int or a scalar term, exclusive."""
        if isinstance(n, int):
            return self.constant(np.arange(n, dtype="int64"))
        return self.constant(0, "int64").node("Range", n, self.constant(1, "int64"))

    def initializer(self, array, name=None):
        """Return the name of an initializer; equal small ones without a name are shared."""
        key = (name, array.dtype.str, array.shape, array.tobytes() if array.size < 1024 else None)
        if key[-1] is None:
            return self.graph.add_initializer(name or "constant", array)
        if key not in self._constants:
            self._constants[key] = self.graph.add_initializer(name or "constant", array)
        return self._constants[key]

    def value_of(self, variable):
        """Return what stands for a PyTensor variable.

        Returns
        -------
        Term, Generator or None
            None for what is neither a tensor nor a random generator.
        """
        if variable not in self._values:
            if _is_tensor(variable):
                self._values[variable] = self._constant_of(variable)
            elif not isinstance(variable.type, RandomType):
                return None
            elif isinstance(variable, Constant):
                self.bind_generator(variable, state_key(variable.data))
            else:
                self.bind_generator(variable, self.graph.fresh_name("generator"))
        return self._values[variable]

    def _constant_of(self, variable):
        if not isinstance(variable, Constant):
            raise ConversionError(f"{variable} has not been computed")
        data = getattr(variable, "data", None)
        if not isinstance(data, np.ndarray | np.generic | int | float | bool):
            raise ConversionError(f"the constant {variable} of {variable.type} is no tensor")
        array = self.constant(data, variable.type.dtype).array
        return Term(self, self.initializer(array, variable.name), array.dtype.name, array.shape)

    def write(self, arguments, parameters, outputs):
        """Write the nodes of a graph, its inputs and its outputs.

        Parameters
        ----------
        arguments, outputs : list of (Variable, str)
            With their names, which are reserved in `graph`.
        parameters : dict of Variable to value
            Tensors become initializers; random generators seed their draws.

        Raises
        ------
        UnsupportedOpError
            Listing every node that has no converter.
        """
        graph = self.graph
        for variable, name in arguments:
            self.bind(variable, name)
            graph.inputs.append(name)
        for number, (variable, value) in enumerate(parameters.items()):
            if isinstance(variable.type, TensorType):
                name = graph.add_initializer(variable.name or f"parameter_{number}", value)
                graph.parameters.add(name)
                self.bind(variable, name)
            elif isinstance(variable.type, RandomType):
                self.bind_generator(variable, state_key(value))
        for variable, name in outputs:
            self._reserved.setdefault(variable, name)
        for node in toposort([variable for variable, _ in outputs]):
            self.convert(node)
        if self.failures:
            raise UnsupportedOpError(self.failures)
        for variable, name in outputs:
            computed = self.value_of(variable).name
            if computed != name:
                # An input, a constant, or a value that is an output already.
                graph.nodes.append(Node("Identity", [computed], [name], name=f"{name}_identity"))
                graph.values[name] = replace(graph.values[computed])
            graph.outputs.append(name)

    def write_checks(self):
        """Make the conditions of `kept_checks` outputs; return the Ops by the outputs' names."""
        graph, checks = self.graph, {}
        for number, (condition, op) in enumerate(self.kept_checks):
            name = graph.fresh_name(f"check_{number}")
            graph.nodes.append(Node("Identity", [condition], [name], name=f"{name}_identity"))
            graph.values[name] = Value("bool", ())
            graph.outputs.append(name)
            checks[name] = op
        return checks

    def bind_generator(self, variable, key):
        """Let a key stand for the state of a random generator."""
        self._values[variable] = Generator(self, key)

    def bind(self, variable, name):
        """Let the value `name` stand for a tensor variable and record the variable's type."""
        dtype, shape = variable.type.dtype, getattr(variable.type, "shape", ())
        shape = tuple(self.dims.name(variable, axis) for axis in range(len(shape)))
        known = self.graph.shape(name)
        if known is not None:
            # The value is another variable's too; fixed sizes come first, then names.
            shape = tuple(
                old if isinstance(old, int) or new is None else new
                for old, new in zip(known, shape, strict=True)
            )
        self.graph.values[name] = Value(dtype, shape)
        static = tuple(size if isinstance(size, int) else None for size in shape)
        self._values[variable] = Term(self, name, dtype, static)

    def convert(self, node):
        """Add the ONNX nodes of one PyTensor node and bind its outputs.

        A `ConversionError` is kept in `failures`, and the outputs are bound nevertheless, so that
        one run finds every offending node.
        """
        outermost = not self._depth
        if outermost:
            self._emitted = []
        self._depth += 1
        try:
            inputs = [self.value_of(v) for v in node.inputs]
            if all(value is None for value in inputs):
                inputs = [self]
            outputs = onnx_funcify(node.op, node, *inputs)
            outputs = self._checked(node, outputs)
        except ConversionError as error:
            self.failures.append((node, str(error)))
            outputs = [
                Term(self, self.graph.fresh_name("unsupported"), v.type.dtype)
                if _is_tensor(v)
                else Generator(self, self.graph.fresh_name("generator"))
                for v in node.outputs
            ]
        finally:
            self._depth -= 1
        if outermost:
            outputs = self._name_emitted(node, outputs)
        for variable, value in zip(node.outputs, outputs, strict=True):
            if isinstance(value, Term) and (isinstance(variable.type, TensorType) or outermost):
                self.bind(variable, value.name)
            else:
                # A generator's state, or of an elementwise Op, where scalars stand for tensors.
                self._values[variable] = value

    def _checked(self, node, outputs):
        """Return what a converter returned as a tuple.

        Raises
        ------
        TypeError, ValueError
            If these aren't terms of the dtypes of the node's outputs.
        """
        what = f"the converter of {node.op}"
        if outputs is None:
            raise TypeError(
                f"{what} returned None; it must return the terms of the node's outputs"
            )
        outputs = as_tuple(outputs)
        if len(outputs) != len(node.outputs):
            raise ValueError(
                f"{what} returned {len(outputs)} values for {len(node.outputs)} outputs"
            )
        for value, variable in zip(outputs, node.outputs, strict=True):
            if not _is_tensor(variable):
                continue
            if not isinstance(value, Term):
                raise TypeError(f"{what} returned {value!r}; return a term, as x.node(...) does")
            if value.dtype != variable.type.dtype:
                raise TypeError(
                    f"{what} returned a term of dtype {value.dtype} for an output of dtype "
                    f"{variable.type.dtype}: cast it, or say its dtype with node(..., result=...)"
                )
        return outputs

    def inline(self, fgraph, inputs):
        """Convert the nodes of an Op's inner graph; returns the terms of its outputs."""
        values = {}
        for variable, value in zip(fgraph.inputs, inputs, strict=True):
            if isinstance(variable.type, TensorType) and value.array is None:
                value = Term(self, value.name, value.dtype, variable.type.shape)
            values[variable] = value
        outer, self._values = self._values, values
        try:
            failures = len(self.failures)
            self._depth += 1
            for node in toposort(fgraph.outputs, fgraph.inputs):
                self.convert(node)
            if len(self.failures) > failures:
                inner = sorted({f"{n.op} ({reason})" for n, reason in self.failures[failures:]})
                del self.failures[failures:]
                raise ConversionError("its inner graph has unsupported Ops: " + "; ".join(inner))
            return tuple(self.value_of(variable) for variable in fgraph.outputs)
        finally:
            self._depth -= 1
            self._values = outer

    def _name_emitted(self, node, outputs):
        """Give the nodes just added, and their values, readable names."""
        if not self._emitted:
            return outputs
        label = op_label(node.op)
        scope = f"{label}_{self._numbers[label]}"
        self._numbers[label] += 1
        self.origins[scope] = node
        metadata = _metadata(node, self._trace)
        renamed = {}
        parts = Counter()
        for emitted in self._emitted:
            alone = len(self._emitted) == 1
            emitted.name = scope
            if not alone:
                part = f"{scope}/{emitted.op_type.lower()}"
                parts[part] += 1
                emitted.name = part if parts[part] == 1 else f"{part}_{parts[part] - 1}"
            emitted.metadata = metadata
            for i, output in enumerate(emitted.outputs):
                suffix = f"_{i}" if len(emitted.outputs) > 1 else ""
                renamed[output] = self.graph.fresh_name(emitted.name + suffix)
        names = [value.name if isinstance(value, Term) else value for value in outputs]
        for variable, output in zip(node.outputs, names, strict=True):
            if output not in renamed:
                continue
            if variable in self._reserved:
                renamed[output] = self._reserved[variable]
            elif variable.name:
                renamed[output] = self.graph.fresh_name(variable.name)
        for emitted in self._emitted:
            emitted.rename(renamed)
        self.kept_checks = [(renamed.get(name, name), op) for name, op in self.kept_checks]
        for old, new in renamed.items():
            if old in self.graph.values:
                self.graph.values[new] = self.graph.values.pop(old)
        return [
            Term(self, renamed.get(name, name), value.dtype) if isinstance(value, Term) else value
            for name, value in zip(names, outputs, strict=True)
        ]


def _outputs_of_body(op_type, attributes, body):
    """Return the types of the outputs of a node that has a body."""
    values = [body.values[name] for name in body.outputs]
    if op_type == "If":
        return values
    if op_type == "Loop":
        # Its body also has the number of the step and a condition.
        values, n_states = values[1:], len(body.inputs) - 2
    else:
        n_states = len(body.inputs) - attributes["num_scan_inputs"]
    stacked = [
        Value(value.dtype, None if value.shape is None else (None, *value.shape))
        for value in values[n_states:]
    ]
    return values[:n_states] + stacked


def _metadata(node, trace):
    """Return the metadata of the ONNX nodes that a PyTensor node becomes."""
    text = str(node)
    metadata = {"pytensor.node": text if len(text) <= 200 else text[:197] + "..."}
    if trace and (frames := _frames(node)):
        metadata["pytensor.trace"] = frames
    return metadata


def _frames(node):
    """Return where in the user's code the outputs of a node were made."""
    lines, folders = [], tuple(folder + os.sep for folder in pytensor.__path__)
    for variable in node.outputs:
        for stack in getattr(variable.tag, "trace", None) or []:
            for filename, line, function_name, _text in stack:
                if not filename.startswith(folders):
                    lines.append(f"{os.path.relpath(filename)}:{line} in {function_name}")
    return "\n".join(dict.fromkeys(lines))


def op_label(op):
    """Return an Op's short name for the names of its nodes: ``conv2d``, ``add``, ``max``."""
    inner = getattr(op, "core_op", None) or getattr(op, "scalar_op", None) or op
    # A reduction is called after itself (max), not after its scalar Op (maximum).
    if getattr(op, "nfunc_spec", None) is not None and inner is not op and hasattr(op, "axis"):
        inner = op
    label = getattr(inner, "name", None) or type(inner).__name__
    if "{" in label:
        label = type(inner).__name__
    label = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label).lower()
    dimensions = getattr(inner, "n_spatial", None)
    return f"{label}{dimensions}d" if dimensions is not None else label


def _is_tensor(variable):
    return hasattr(variable.type, "dtype")


def as_tuple(values):
    """Return what a converter or a step of a loop returned as a tuple."""
    return (values,) if isinstance(values, Generator | Term) else tuple(values)
