"""From a rewritten PyTensor graph to the export's graph."""

from dataclasses import replace
from functools import partial

import numpy as np

from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import MergeOptimizer
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.errors import ConversionError, UnsupportedOpError, run_error
from pytensor.link.onnx.front.builder import GraphBuilder
from pytensor.link.onnx.front.rewriting import make_portable, rewrite_for_onnx
from pytensor.link.onnx.passes import NECESSARY, PASSES, run_passes
from pytensor.link.onnx.support.dims import Dims
from pytensor.link.onnx.support.ir import Node, Value
from pytensor.link.onnx.support.loops import lower_scans
from pytensor.link.onnx.support.serialize import to_model
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.type import TensorType


def convert_fgraph(builder, fgraph, arguments, parameters, outputs):
    """Write the nodes of a graph, its inputs and its outputs.

    Arguments and outputs are given with their names, which are reserved in ``builder.graph``.
    Parameters become initializers; random generators among them seed their draws.

    Raises
    ------
    UnsupportedOpError
        Listing every node that has no converter.
    """
    graph = builder.graph
    for variable, name in arguments:
        builder.bind(variable, name)
        graph.inputs.append(name)
    for number, (variable, value) in enumerate(parameters.items()):
        if isinstance(variable.type, TensorType):
            name = graph.add_initializer(variable.name or f"parameter_{number}", value)
            graph.parameters.add(name)
            builder.bind(variable, name)
        elif isinstance(variable.type, RandomType):
            builder.bind_key(variable, value)
    for variable, name in outputs:
        builder.reserve(variable, name)
    for node in toposort([variable for variable, _ in outputs], fgraph.inputs):
        builder.convert(node)
    if builder.failures:
        raise UnsupportedOpError(builder.failures)
    for variable, name in outputs:
        computed = builder.name_of(variable)
        if computed != name:
            # An input, a constant, or a value that is an output already.
            graph.nodes.append(Node("Identity", [computed], [name], name=f"{name}_identity"))
            graph.values[name] = replace(graph.values[computed])
        graph.outputs.append(name)


def keep_checks(builder):
    """Make the conditions of checks outputs; returns the Ops of the checks by their names."""
    graph, checks = builder.graph, {}
    for number, (condition, op) in enumerate(builder.kept_checks):
        name = graph.fresh_name(f"check_{number}")
        graph.nodes.append(Node("Identity", [condition], [name], name=f"{name}_identity"))
        graph.values[name] = Value("bool", ())
        graph.outputs.append(name)
        checks[name] = op
    return checks


def runner(inputs, outputs, checks, origins, session):
    """Return a function of a graph's inputs that runs a session of its model.

    Parameters
    ----------
    inputs : list of (int, str)
        Which of the graph's inputs the model has, and their names.
    outputs : list of (str or int)
        For each of the graph's outputs its name in the model; for a random generator, which no
        model has, the number of the input that is returned instead.
    checks : dict of str to CheckAndRaise
        Further outputs of the model that must be true.
    origins : dict of str to Apply
        The PyTensor node for each start of the model's nodes' names.
    session : onnxruntime.InferenceSession
    """
    names = [*checks, *(output for output in outputs if isinstance(output, str))]

    def run(*values):
        feed = {name: np.asarray(values[position]) for position, name in inputs}
        try:
            results = iter(session.run(names, feed))
        except Exception as error:
            raised = run_error(error, origins)
            if raised is None:
                raise
            raise raised from error
        for op in checks.values():
            if not next(results):
                raise op.exc_type(op.msg)
        return [next(results) if isinstance(o, str) else values[o] for o in outputs]

    return run


def compile_fgraph(fgraph, *, opset, optimize=True, generators=None):
    """Convert a graph whose inputs, shared variables among them, are all inputs of the model.

    The graph is rewritten for this backend, and left as it is.  The states that `generators` have
    seed their draws.  Returns the model, and what makes a `runner` of a session.
    """
    copied = FunctionGraph(fgraph.inputs, fgraph.outputs, clone=True)
    make_portable(copied)
    MergeOptimizer().rewrite(copied)
    copied.attach_feature(ShapeFeature())
    lower_scans(copied, rewrite_for_onnx)
    builder = GraphBuilder(opset, dims=Dims(copied.shape_feature), checks="raise")
    graph = builder.graph
    for old, variable in zip(fgraph.inputs, copied.inputs, strict=True):
        if generators and old in generators:
            builder.bind_key(variable, generators[old])
    inputs, arguments = [], []
    for position, variable in enumerate(copied.inputs):
        if hasattr(variable.type, "dtype"):
            name = graph.fresh_name(variable.name or f"input_{position}")
            inputs.append((position, name))
            arguments.append((variable, name))
    outputs, results = [], []
    for position, variable in enumerate(copied.outputs):
        if hasattr(variable.type, "dtype"):
            name = graph.fresh_name(f"output_{position}")
            outputs.append(name)
            results.append((variable, name))
        else:
            outputs.append(copied.inputs.index(_generator(variable)))
    convert_fgraph(builder, copied, arguments, {}, results)
    checks = keep_checks(builder)
    run_passes(graph, PASSES if optimize else NECESSARY)
    model = to_model(graph, opset=opset, model_name="pytensor")
    return model, partial(runner, inputs, outputs, checks, builder.origins)


def _generator(variable):
    """Return the random generator that `variable` is a later state of."""
    while variable.owner is not None:
        if not isinstance(variable.owner.op, RandomVariable):
            raise ConversionError(f"{variable} of {variable.type} is no tensor")
        variable = variable.owner.inputs[0]
    return variable
