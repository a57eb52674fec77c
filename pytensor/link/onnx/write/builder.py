"""What converters write with."""

import re
from collections import Counter
from contextlib import contextmanager

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.generator_keys import state_key
from pytensor.link.onnx.ir import Graph, Node, Value
from pytensor.link.onnx.kernels import work_dtype
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type import TensorType

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = frozenset(["bool", *INTEGERS, "float16", "float32", "float64"])


class GraphBuilder:
    """Builds an ONNX graph; the second argument of every converter's calls.

    Values are handed around as strings.  A converter calls `add` for each ONNX node and returns
    the name, or the tuple of names, of the values that stand for its PyTensor node's outputs.

    Parameters
    ----------
    names : sequence of str
        Those that are taken, for inputs and outputs.
    parameters_are_inputs : bool
        See `Graph`.
    annotate : callable, optional
        Returns the metadata of what is written for a node.

    Attributes
    ----------
    opset, exact, swish, checks
        See `export_onnx`.  Beside those choices, ``checks="raise"`` keeps conditions for a caller
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
        annotate=None,
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
        self._annotate = annotate or (lambda node: {})
        self._names = {}
        self._reserved = {}
        self._constants = {}
        self._numbers = Counter()
        self._emitted = []
        self._depth = 0

    def add(self, op_type, *inputs, n_outputs=1, domain="", **attributes):
        """Append an ONNX node.

        Parameters
        ----------
        op_type : str
        inputs : str
            Names of values; an empty string leaves out an optional input.
        n_outputs : int
        domain : str
            Operator set; the default is ONNX's own.
        attributes : int, float, str, bytes, dtype, ndarray, Graph, or sequence of int, float or str
            A None leaves the attribute out.

        Returns
        -------
        str, or tuple of str where ``n_outputs > 1``
        """
        outputs = [self.graph.fresh_name(f"{op_type.lower()}_value") for _ in range(n_outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        node = Node(op_type, list(inputs), outputs, attributes, domain)
        self.graph.nodes.append(node)
        self._emitted.append(node)
        return outputs[0] if n_outputs == 1 else tuple(outputs)

    def add_as(self, dtype, op_type, *inputs, to=None, rest=(), n_outputs=1, **attributes):
        """Add an operator of `dtype` by `add`, with casts where onnxruntime has no kernel for it.

        Parameters
        ----------
        dtype : str
            Of `inputs`, the values of the operator's main type.
        to : str, optional
            Dtype of the (first) output where the operator decides it, such as "bool" for a
            comparison; by default it is cast back to `dtype`.
        rest : sequence of str
            Further inputs, of other types: axes, shapes and the like.

        Raises
        ------
        ConversionError
            If no kernel holds every value of `dtype`.
        """
        work = work_dtype(op_type, dtype)
        inputs = [self.cast(name, dtype, work) if name else name for name in inputs]
        result = self.add(op_type, *inputs, *rest, n_outputs=n_outputs, **attributes)
        if to is not None:
            return result
        if n_outputs == 1:
            return self.cast(result, work, dtype)
        return (self.cast(result[0], work, dtype), *result[1:])

    @contextmanager
    def subgraph(self):
        """Add to the body of an If, a Loop or a Scan while the context lasts.

        The body sees all values of the graphs around it.  Give it inputs with `Graph.add_input` and
        outputs with `output`, and hand it to `add` as an attribute::

            with builder.subgraph() as body:
                step = body.add_input("step", "int64", ())
                ...
                builder.output(result, "float32", (3,))
            builder.add("Loop", trip_count, "", *state, body=body)
        """
        outer, self.graph = self.graph, self.graph.child()
        try:
            yield self.graph
        finally:
            self.graph = outer

    def output(self, name, dtype, shape):
        """Make a value the next output of the current `subgraph`; a None shape has any rank."""
        graph = self.graph
        if name in graph.outputs or not any(name in node.outputs for node in graph.nodes):
            # A body may return nothing but what it computed itself, and that once.
            name = self.add("Identity", name)
        graph.outputs.append(name)
        graph.values[name] = Value(dtype, None if shape is None else tuple(shape))

    def constant(self, value, dtype=None, name=None):
        """Name of an initializer with this value; equal unnamed ones are shared."""
        array = np.array(value, dtype=dtype, order="C")
        if array.dtype.name not in DTYPES:
            raise ConversionError(f"ONNX tensors of dtype {array.dtype} are not supported")
        key = (name, array.dtype.str, array.shape, array.tobytes() if array.size < 1024 else None)
        if key[-1] is None:
            return self.graph.add_initializer(name or "constant", array)
        if key not in self._constants:
            self._constants[key] = self.graph.add_initializer(name or "constant", array)
        return self._constants[key]

    def int64s(self, values):
        """Name of a constant int64 vector, ONNX's type for shapes, axes and the like."""
        return self.constant(list(values), dtype="int64")

    def constant_value(self, name):
        """Return the value of `name` as an ndarray where it is a constant, else None."""
        return self.graph.constant(name)

    def cast(self, name, dtype, to):
        """Cast a value of dtype `dtype` to `to`; nothing is added where they are equal."""
        if dtype == to:
            return name
        for t in (dtype, to):
            if t not in DTYPES:
                raise ConversionError(f"ONNX tensors of dtype {t} are not supported")
        value = self.graph.constant(name)
        if value is not None and name not in self.graph.parameters:
            return self.constant(value.astype(to))
        return self.add("Cast", name, to=np.dtype(to))

    def name_of(self, variable):
        """Return the name of the value that stands for a PyTensor variable."""
        if variable not in self._names:
            if not isinstance(variable, Constant):
                raise ConversionError(f"{variable} has not been computed")
            data = getattr(variable, "data", None)
            if not isinstance(data, np.ndarray | np.generic | int | float | bool):
                raise ConversionError(f"the constant {variable} of {variable.type} is no tensor")
            self._names[variable] = self.constant(
                data, dtype=variable.type.dtype, name=variable.name
            )
        return self._names[variable]

    def key_of(self, variable):
        """Return the key of a generator's state; nothing for anything else that is no tensor."""
        if isinstance(variable.type, RandomType) and not self._names.get(variable):
            if isinstance(variable, Constant):
                self.bind_key(variable, variable.data)
            else:
                self._names[variable] = self.graph.fresh_name("generator")
        return self._names.get(variable, "")

    def bind_key(self, variable, generator):
        """Let the draws of a random generator be seeded by the state that it has now."""
        self.bind_state(variable, state_key(generator))

    def bind_state(self, variable, key):
        """Let `key` stand for the state of a random generator."""
        self._names[variable] = key

    def bind(self, variable, name):
        """Let `name` stand for a PyTensor variable and record the variable's type."""
        self._names[variable] = name
        if not isinstance(variable.type, TensorType) and self._depth:
            # Inside of an elementwise Op, scalars stand for tensors of any shape.
            return
        shape = getattr(variable.type, "shape", ())
        shape = tuple(self.dims.name(variable, axis) for axis in range(len(shape)))
        known = self.graph.shape(name)
        if known is not None:
            # The value is another variable's too; fixed sizes come first, then names.
            shape = tuple(
                old if isinstance(old, int) or new is None else new
                for old, new in zip(known, shape, strict=True)
            )
        self.graph.values[name] = Value(variable.type.dtype, shape)

    def reserve(self, variable, name):
        """Let `variable` be called `name`, which must have been reserved in the graph."""
        self._reserved.setdefault(variable, name)

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
            inputs = [self.name_of(i) if _is_tensor(i) else self.key_of(i) for i in node.inputs]
            outputs = onnx_funcify(node.op, node, self, *inputs)
            if outputs is None:
                raise TypeError(
                    f"the converter of {type(node.op).__name__} returned None; it must return the "
                    "names of the values that stand for the node's outputs"
                )
            outputs = (outputs,) if isinstance(outputs, str) else tuple(outputs)
            if len(outputs) != len(node.outputs):
                raise ValueError(
                    f"the converter of {node.op} returned {len(outputs)} values for "
                    f"{len(node.outputs)} outputs"
                )
        except ConversionError as error:
            self.failures.append((node, str(error)))
            outputs = [self.graph.fresh_name("unsupported") for _ in node.outputs]
        finally:
            self._depth -= 1
        if outermost:
            outputs = self._name_emitted(node, outputs)
        for variable, name in zip(node.outputs, outputs, strict=True):
            if _is_tensor(variable):
                self.bind(variable, name)
            else:
                self._names[variable] = name

    def inline(self, fgraph, inputs):
        """Convert the nodes of an Op's inner graph; returns the names of its outputs."""
        outer, self._names = self._names, dict(zip(fgraph.inputs, inputs, strict=True))
        try:
            failures = len(self.failures)
            self._depth += 1
            for node in toposort(fgraph.outputs, fgraph.inputs):
                self.convert(node)
            if len(self.failures) > failures:
                inner = sorted({f"{n.op} ({reason})" for n, reason in self.failures[failures:]})
                del self.failures[failures:]
                raise ConversionError("its inner graph has unsupported Ops: " + "; ".join(inner))
            return tuple(self.name_of(output) for output in fgraph.outputs)
        finally:
            self._depth -= 1
            self._names = outer

    def _name_emitted(self, node, outputs):
        """Give the nodes just added, and their values, readable names."""
        if not self._emitted:
            return outputs
        label = op_label(node.op)
        scope = f"{label}_{self._numbers[label]}"
        self._numbers[label] += 1
        self.origins[scope] = node
        metadata = self._annotate(node)
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
        for variable, output in zip(node.outputs, outputs, strict=True):
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
        return [renamed.get(name, name) for name in outputs]


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


def as_tuple(names):
    """Return names of outputs as a tuple; `GraphBuilder.add` returns a single one by itself."""
    return (names,) if isinstance(names, str) else names
