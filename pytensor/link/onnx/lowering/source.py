"""What is lowered: variables, a compiled function, or the graph that a mode has rewritten."""

from collections import Counter
from collections.abc import Callable, Iterable
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
from pytensor.link.onnx.lowering.rewriting import QUERY, make_portable, rebuild_with
from pytensor.link.vm import VMLinker
from pytensor.tensor.random.op import AbstractRNGConstructor
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type import TensorType


@dataclass
class Source:
    """A graph to be lowered, which is a copy.

    Attributes
    ----------
    fgraph : FunctionGraph
        Its inputs are the arguments and then the parameters; its outputs are tensors.
    arguments : list of Variable
        Inputs of the model; a random generator isn't one.
    parameters : dict of Variable to value
        Inputs that are part of the model, and random generators whose state is known.
    originals : dict of Variable to Variable
        For each input the given variable that it stands for.
    states : dict of int to Variable
        The given outputs that are random generators, by their position: a model has no such ones.
    run : callable
        Computes the outputs in PyTensor.
    name : str, optional
        That of the compiled function.
    """

    fgraph: FunctionGraph
    arguments: list
    parameters: dict
    originals: dict
    states: dict = field(default_factory=dict)
    run: Callable | None = None
    name: str | None = None


_FORM = "write export_onnx(x, net(x), path), or export_onnx(function, path)"


def source_of(inputs, outputs, *, optimize=True):
    """Return the `Source` of the inputs and outputs that `export_onnx` is given.

    `optimize` says whether its `run` rewrites the graph first.

    Raises
    ------
    TypeError
        If these are no variables, or outputs are missing, or given with a compiled function.
    ValueError
        If there is no output, an input is given twice, or outputs depend on others.
    """
    if isinstance(inputs, Function):
        if outputs is not None:
            raise TypeError("outputs can't be chosen for a compiled function: they are its own")
        return _of_function(inputs)
    inputs = _as_variables("inputs", inputs)
    if outputs is None:
        raise TypeError(f"outputs are missing; {_FORM}")
    outputs = _as_variables("outputs", outputs)
    if not outputs:
        raise ValueError("a model needs outputs")
    if twice := [str(v) for v, count in Counter(inputs).items() if count > 1]:
        raise ValueError(f"inputs are given twice: {', '.join(twice)}")
    roots = [v for v in dict.fromkeys(graph_inputs(outputs, inputs)) if v not in inputs]
    shared = [v for v in roots if isinstance(v, SharedVariable)]
    missing = [str(v) for v in roots if not isinstance(v, SharedVariable | Constant)]
    if missing:
        raise ValueError(
            f"the outputs depend on variables that are no inputs: {missing}; add them to inputs"
        )

    def run(*values):
        # Rewritten as the model's graph is, which keeps log(sigmoid(x)) and the like finite; and in
        # Python, because compiling to C takes longer than one call.
        mode = Mode(VMLinker(use_cloop=False, c_thunks=False), QUERY if optimize else OPT_NONE)
        with config.change_flags(cxx=""):
            return function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)

    parameters = {variable: variable.get_value(borrow=True) for variable in shared}
    return copy_graph(inputs, outputs, parameters, run=run)


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

    return copy_graph(arguments, outputs, values, run=run, name=compiled.name)


def copy_graph(arguments, outputs, parameters, **others):
    """Return a `Source` with new inputs; parameters' inputs have the values' shapes."""
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
    states = {i: out for i, out in enumerate(rebuilt) if isinstance(out.type, RandomType)}
    fgraph = FunctionGraph(list(replacements.values()), kept, clone=False)
    originals = dict(zip(replacements.values(), roots, strict=True))
    given = [v for v in fgraph.inputs if v not in values and not isinstance(v.type, RandomType)]
    return Source(fgraph, given, values, originals, states, **others)


def generators_of(variables):
    """Describe the random generators that variables depend on."""
    roots = [
        variable.name or f"an unnamed {variable.type}"
        for variable in ancestors(variables)
        if isinstance(variable.type, RandomType)
        and (variable.owner is None or isinstance(variable.owner.op, AbstractRNGConstructor))
    ]
    return sorted(set(roots))


def _as_variables(name, variables):
    if isinstance(variables, Variable):
        return [variables]
    if not isinstance(variables, Iterable):
        raise TypeError(f"{name} must be PyTensor variables, got {variables!r}; {_FORM}")
    variables = list(variables)
    for variable in variables:
        if not isinstance(variable, Variable):
            raise TypeError(f"{name} must be PyTensor variables, got {variable!r}")
    return variables
