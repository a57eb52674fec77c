"""What `export_onnx` is given: variables, or a compiled function."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pytensor.compile.executor import Function
from pytensor.compile.maker import function
from pytensor.compile.mode import OPT_NONE, Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors, graph_inputs
from pytensor.link.onnx.errors import DroppedRandomStateWarning
from pytensor.link.onnx.front.rewriting import QUERY, make_portable, rebuild_with
from pytensor.link.vm import VMLinker
from pytensor.tensor.random.op import AbstractRNGConstructor
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type import TensorType


@dataclass
class Source:
    """What is exported.

    The graph is a copy; its inputs are the arguments and then the parameters, which hold shared
    variables and are given with their values.  `run` computes the outputs in PyTensor.
    `generators` are the random ones among the outputs, which are left out.
    """

    fgraph: FunctionGraph
    parameters: dict
    run: Callable
    name: str | None = None
    generators: list = field(default_factory=list)

    @property
    def arguments(self):
        return [
            v
            for v in self.fgraph.inputs
            if v not in self.parameters and not isinstance(v.type, RandomType)
        ]


def source_of(inputs, outputs, *, optimize=True):
    """Return what `export_onnx` is given, as a `Source`."""
    if isinstance(inputs, Function):
        if outputs is not None:
            raise TypeError("outputs can't be chosen for a compiled function: they are its own")
        return _of_function(inputs)
    inputs = _as_variables("inputs", inputs)
    if outputs is None:
        raise TypeError("outputs are needed unless a compiled function is exported")
    outputs = _as_variables("outputs", outputs)
    if not outputs:
        raise ValueError("a model needs outputs")
    if len(set(inputs)) != len(inputs):
        raise ValueError("an input is given twice")
    roots = [v for v in dict.fromkeys(graph_inputs(outputs, inputs)) if v not in inputs]
    shared = [v for v in roots if isinstance(v, SharedVariable)]
    missing = [str(v) for v in roots if not isinstance(v, SharedVariable | Constant)]
    if missing:
        raise ValueError(f"the outputs depend on variables that are no inputs: {missing}")

    def run(*values):
        # As the model's graph is rewritten, which keeps log(sigmoid(x)) and the like finite; in
        # Python, because compiling to C takes longer than one call.
        mode = Mode(VMLinker(use_cloop=False, c_thunks=False), QUERY if optimize else OPT_NONE)
        with config.change_flags(cxx=""):
            return function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)

    parameters = {variable: variable.get_value(borrow=True) for variable in shared}
    return _of_graph(inputs, parameters, outputs, run)


def _of_function(compiled):
    outputs = compiled.maker.fgraph.outputs[: compiled._n_returned_outputs]
    needed = set(graph_inputs(outputs))
    arguments, values = [], {}
    for variable, spec, container in zip(
        compiled.maker.fgraph.inputs, compiled.maker.inputs, compiled.input_storage, strict=True
    ):
        if not spec.implicit:
            arguments.append(variable)
        elif variable in needed:
            values[variable] = container.data

    def run(*values):
        # Comparing a training step must not train.
        return compiled.copy(delete_updates=True)(*values)

    return _of_graph(arguments, values, outputs, run, compiled.name)


def _of_graph(arguments, parameters, outputs, run, name=None):
    """Copy the graph onto inputs of our own; the parameters' have their values' shapes."""
    roots = [*arguments, *parameters]
    copied = FunctionGraph(roots, outputs, clone=True)
    make_portable(copied)
    replacements, values = {}, {}
    for root, variable in zip(roots, copied.inputs, strict=True):
        new = variable.type()
        if root in parameters:
            value = parameters[root]
            if isinstance(variable.type, TensorType):
                value = np.array(value, dtype=variable.type.dtype, order="C")
                new = variable.type.clone(shape=value.shape)()
            values[new] = value
        new.name = root.name
        replacements[variable] = new
    rebuilt = rebuild_with(replacements, copied.outputs)
    kept = [output for output in rebuilt if not isinstance(output.type, RandomType)]
    left_out = [output for output in rebuilt if isinstance(output.type, RandomType)]
    fgraph = FunctionGraph(list(replacements.values()), kept, clone=False)
    return Source(fgraph, values, run, name, generators_of(left_out))


def generators_of(variables):
    """Describe the random generators that variables depend on."""
    roots = [
        variable.name or f"an unnamed {variable.type}"
        for variable in ancestors(variables)
        if isinstance(variable.type, RandomType)
        and (variable.owner is None or isinstance(variable.owner.op, AbstractRNGConstructor))
    ]
    return sorted(set(roots))


def warn_of_generators(names, seed_is_input):
    if names:
        role = "don't seed them" if seed_is_input else "can only seed them"
        warnings.warn(
            f"the model draws random numbers of its own, not NumPy's: {', '.join(names)} {role}; "
            "no state is returned or updated",
            DroppedRandomStateWarning,
            stacklevel=3,
        )


def _as_variables(name, variables):
    variables = [variables] if isinstance(variables, Variable) else list(variables)
    for variable in variables:
        if not isinstance(variable, Variable):
            raise TypeError(f"{name} must be PyTensor variables, got {variable!r}")
    return variables
