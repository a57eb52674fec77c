"""`export_onnx`, the entry point."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import onnx
from pytensor.compile.executor import Function
from pytensor.compile.maker import function
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors, graph_inputs
from pytensor.link.onnx.builder import DTYPES, GraphBuilder
from pytensor.link.onnx.convert import convert_fgraph, keep_checks
from pytensor.link.onnx.dims import Dims
from pytensor.link.onnx.errors import DroppedRandomStateWarning, VerificationError
from pytensor.link.onnx.half import KEPT_IN_FLOAT32, convert_to_half
from pytensor.link.onnx.ir import Graph
from pytensor.link.onnx.linker import OPSETS
from pytensor.link.onnx.passes import NECESSARY, PASSES, run_passes
from pytensor.link.onnx.rewriting import (
    checks_in,
    make_portable,
    rebuild_with,
    rewrite_for_onnx,
)
from pytensor.link.onnx.serialize import infer_types, needs_external_data, save, to_model
from pytensor.link.onnx.verify import first_difference, verify_model
from pytensor.tensor.random.op import AbstractRNGConstructor
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.type import TensorType


def export_onnx(
    inputs,
    outputs=None,
    path=None,
    *,
    opset_version=20,
    input_names=None,
    output_names=None,
    dynamic_axes=None,
    model_name=None,
    doc_string=None,
    metadata=None,
    initializers="constants",
    external_data="auto",
    optimize=True,
    half=False,
    exact=False,
    swish=False,
    checks="drop",
    verify=None,
    check=True,
    trace=False,
):
    """Export a PyTensor graph, or a compiled function, to ONNX.

    Parameters
    ----------
    inputs : Variable, sequence of Variable, or Function
        The graph's inputs.  Shared variables are not listed: they become initializers.  Of a
        function the inputs and outputs are its own, and its updates are left out; it was
        rewritten for the mode it was compiled in, so variables give the cleaner model.
    outputs : Variable or sequence of Variable, or the path
        Not given for a function.
    path : str or Path, optional
        Where to write the model.
    opset_version : int
        Version of ONNX's operator set, 18 to 24.  It decides what is written, and the file's IR
        version, which is the lowest that it allows.
    input_names, output_names : sequence of str, optional
        Names in the model; default the variables' own, else ``input_0`` and so on.
    dynamic_axes : dict of str to (dict of int to str, or sequence of int), optional
        Names for sizes that aren't fixed by the types: ``{"images": {0: "N"}}``.  Without it they
        are called after their input and axis.  Inputs and outputs may be given.
    model_name : str, optional
        Name of the graph; default the function's name, or "pytensor".
    doc_string : str, optional
    metadata : dict of str to str, optional
        Entries for the model's ``metadata_props``.
    initializers : {"constants", "inputs"}
        "inputs" makes the shared variables inputs with default values, which whoever runs the
        model may replace.  Nothing is computed from their values then: no folding.
    external_data : {"auto", True, False}
        Whether to write the weights into ``<path>.data``; "auto" does from 2 GiB on.
    optimize : bool
        Whether to simplify the PyTensor graph and the ONNX graph.
    half : bool or collection of str
        Whether to hold float32 weights in float16 and to compute in it.  The inputs and outputs
        stay float32, and so do the ONNX operators in ``pytensor.link.onnx.half.KEPT_IN_FLOAT32``,
        or those in the collection.
    checks : {"drop", "outputs", "error"}
        What becomes of checks that raise errors at run time, which ONNX doesn't have.  Each is
        dropped with a `DroppedCheckWarning`, or is one more output ``check_0`` and so on, true
        where the check holds, with the message among the model's metadata, or is refused.
    exact : bool
        Whether rare inputs are treated as in PyTensor where that takes more nodes: NaN in a window
        of max pooling, over which onnxruntime passes, and tensors of no elements in reshapes that
        infer a size, which it refuses.  Mode "ONNX" always does.
    swish : bool
        Whether SiLU becomes one Swish, from operator set 24 on, instead of Sigmoid and Mul, which
        more runtimes know and onnxruntime computes faster.
    verify : sequence or dict (by name) of array_like, optional
        Values for the inputs, with which onnxruntime and PyTensor are compared.
    check : bool
        Whether to run ONNX's own checker, shape inference included.
    trace : bool
        Whether each node's metadata say where in the user's code it was made.

    Returns
    -------
    onnx.ModelProto
        With external data, without the weights that are in the file.

    Raises
    ------
    UnsupportedOpError
        Listing every node that cannot be exported, and the reason.
    VerificationError
        If `verify` shows a difference, naming the first node or the pass that makes it.
    ValueError, TypeError
        If an argument isn't one of those above.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx import export_onnx
    >>> x = pt.matrix("x", dtype="float32")
    >>> model = export_onnx([x], [pt.exp(x)], dynamic_axes={"x": {0: "N"}})
    >>> [node.op_type for node in model.graph.node]
    ['Exp']
    """
    if isinstance(outputs, str | os.PathLike):
        if path is not None:
            raise TypeError("export_onnx got two paths")
        outputs, path = None, outputs
    _check_choice("opset_version", opset_version, list(OPSETS))
    _check_choice("initializers", initializers, ["constants", "inputs"])
    _check_choice("external_data", external_data, ["auto", True, False])
    _check_choice("checks", checks, ["drop", "outputs", "error"])
    if external_data is True and path is None:
        raise ValueError("external_data=True needs a path to write to")

    source = _source(inputs, outputs)
    fgraph, arguments = source.fgraph, source.arguments
    input_names = _names("input_names", input_names, arguments, "input")
    output_names = _names("output_names", output_names, fgraph.outputs, "output")
    # An input returned as it is needs another name as an output.
    output_names = [f"{name}_out" if name in input_names else name for name in output_names]
    dynamic_axes = dynamic_axes or {}
    input_dims = _input_dims(arguments, input_names, dynamic_axes, output_names)

    known_checks = checks_in(fgraph)
    rewrite_for_onnx(fgraph, optimize=optimize)
    graph = Graph(parameters_are_inputs=initializers == "inputs")
    builder = GraphBuilder(
        opset_version,
        graph=graph,
        dims=Dims(fgraph.shape_feature, input_dims),
        annotate=_annotation(trace),
        checks=checks,
        known_checks=known_checks,
        exact=exact,
        swish=swish,
    )
    generators = sorted({*source.generators, *_generators(fgraph.outputs)})
    if generators and verify is not None:
        raise ValueError("a model that draws random numbers can't be verified with a sample")
    for name in (*input_names, *output_names):
        graph.fresh_name(name)
    named_arguments = list(zip(arguments, input_names, strict=True))
    convert_fgraph(
        builder,
        fgraph,
        named_arguments,
        source.parameters,
        list(zip(fgraph.outputs, output_names, strict=True)),
    )
    _warn_of_generators(generators)
    kept = keep_checks(builder)
    messages = {name: f"{op.exc_type.__name__}({op.msg!r})" for name, op in kept.items()}
    metadata = {**(metadata or {}), **messages}
    _name_output_dims(graph, dynamic_axes)
    run_passes(graph, PASSES if optimize else NECESSARY)
    infer_types(graph, opset_version)

    to_proto = partial(
        to_model,
        graph,
        opset=opset_version,
        model_name=model_name or source.name or "pytensor",
        doc_string=doc_string,
        metadata=metadata,
    )
    verification = None
    if verify is not None:
        sample = _sample(verify, input_names, arguments)
        verification = Verification(
            source, named_arguments, output_names, sample, opset_version, half=bool(half)
        )
    if half:
        if verification is not None:
            # What differs in single precision too is no matter of precision.
            replace(verification, half=False).check(to_proto().SerializeToString())
        convert_to_half(graph, KEPT_IN_FLOAT32 if half is True else frozenset(half))
        run_passes(graph, PASSES if optimize else NECESSARY)
        infer_types(graph, opset_version)
    size = sum(array.nbytes for array in graph.initializers.values())
    outside = needs_external_data(external_data, size)
    if outside and path is None:
        raise ValueError(f"the weights take {size} bytes: give a path to write them to")
    return _check_and_write(to_proto(), path, outside, check, verification)


def _check_and_write(model, path, outside, check, verification):
    """Check and verify a model, and only then write it, so that nothing wrong is left behind."""
    path = None if path is None else Path(path)
    if not outside:
        if check:
            onnx.checker.check_model(model, full_check=True)
        if verification is not None:
            verification.check(model.SerializeToString())
        if path is not None:
            save(model, path)
        return model
    # The checker and onnxruntime want the file that the weights are in.
    with TemporaryDirectory(dir=path.parent) as folder:
        written = Path(folder, path.name)
        save(model, written, external_data=True)
        if check:
            onnx.checker.check_model(str(written), full_check=True)
        if verification is not None:
            verification.check(str(written))
        for file in Path(folder).iterdir():
            os.replace(file, path.with_name(file.name))
    return model


@dataclass
class Verification:
    """What a model is compared with: PyTensor's results for a sample."""

    source: "Source"
    arguments: list
    output_names: list
    sample: dict
    opset: int
    half: bool = False

    def check(self, file):
        expected = self.source.run(*self.sample.values())
        expected = list(expected) if isinstance(expected, list | tuple) else [expected]
        try:
            verify_model(file, self.output_names, self.sample, expected, half=self.half)
        except VerificationError as error:
            if self.half:
                raise VerificationError(f"in half precision, {error}") from None
            where = first_difference(
                self.source.fgraph,
                self.arguments,
                self.source.parameters,
                self.sample,
                opset=self.opset,
            )
            raise VerificationError(f"{error}\nThe difference begins at {where}") from None


def _check_choice(name, value, allowed):
    # Types too: True is equal to 1.
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")


@dataclass
class Source:
    """What is exported.

    Attributes
    ----------
    fgraph : FunctionGraph
        A copy; its inputs are the arguments and then the parameters.
    parameters : dict of Variable to array_like
        Inputs that hold shared variables, and their values.
    run : callable
        Computes the outputs in PyTensor.
    name : str or None
    generators : list of str
        The random generators among the outputs, which are left out.
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


def _source(inputs, outputs):
    if isinstance(inputs, Function):
        if outputs is not None:
            raise TypeError("outputs can't be chosen for a compiled function: they are its own")
        return _source_of_function(inputs)
    inputs = _as_variables("inputs", inputs)
    if outputs is None:
        raise TypeError("outputs are needed unless a compiled function is exported")
    outputs = _as_variables("outputs", outputs)
    if len(set(inputs)) != len(inputs):
        raise ValueError("an input is given twice")
    roots = [v for v in dict.fromkeys(graph_inputs(outputs, inputs)) if v not in inputs]
    shared = [v for v in roots if isinstance(v, SharedVariable)]
    missing = [str(v) for v in roots if not isinstance(v, SharedVariable | Constant)]
    if missing:
        raise ValueError(f"the outputs depend on variables that are no inputs: {missing}")

    def run(*values):
        # Compiling to C takes longer than one call in Python.
        with config.change_flags(cxx=""):
            compiled = function(inputs, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
            return compiled(*values)

    parameters = {variable: variable.get_value(borrow=True) for variable in shared}
    return _make_source(inputs, parameters, outputs, run)


def _source_of_function(compiled):
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
    return _make_source(arguments, values, outputs, compiled, compiled.name)


def _make_source(arguments, parameters, outputs, run, name=None):
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
    return Source(fgraph, values, run, name, _generators(left_out))


def _generators(variables):
    """Descriptions of the random generators that variables depend on."""
    roots = [
        variable.name or f"an unnamed {variable.type}"
        for variable in ancestors(variables)
        if isinstance(variable.type, RandomType)
        and (variable.owner is None or isinstance(variable.owner.op, AbstractRNGConstructor))
    ]
    return sorted(set(roots))


def _warn_of_generators(names):
    if names:
        warnings.warn(
            f"the model draws random numbers of its own, not NumPy's: {', '.join(names)} can only "
            "seed them; no state is returned or updated",
            DroppedRandomStateWarning,
            stacklevel=3,
        )


def _as_variables(name, variables):
    variables = [variables] if isinstance(variables, Variable) else list(variables)
    for variable in variables:
        if not isinstance(variable, Variable):
            raise TypeError(f"{name} must be PyTensor variables, got {variable!r}")
    return variables


def _names(argument, names, variables, prefix):
    """Unique names: those given, else the variables' own, else numbered ones."""
    if names is None:
        taken, names = set(), []
        for number, variable in enumerate(variables):
            name = variable.name or f"{prefix}_{number}"
            if name in taken:
                name = f"{name}_{number}"
            taken.add(name)
            names.append(name)
        return names
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != len(variables):
        raise ValueError(f"{argument} must have {len(variables)} names, got {len(names)}")
    if len(set(names)) != len(names) or not all(isinstance(n, str) and n for n in names):
        raise ValueError(f"{argument} must be different strings, got {names}")
    return names


def _input_dims(variables, names, dynamic_axes, output_names):
    """Sizes of the inputs: integers, and names where they are symbolic."""
    unknown = sorted(set(dynamic_axes) - {*names, *output_names})
    if unknown:
        raise ValueError(
            f"dynamic_axes names {unknown}, but the model has {[*names, *output_names]}"
        )
    dims = {}
    for variable, name in zip(variables, names, strict=True):
        shape = getattr(variable.type, "shape", None)
        if shape is None or variable.type.dtype not in DTYPES:
            raise TypeError(f"input {name!r} has type {variable.type}, which ONNX does not have")
        sizes = [f"{name}_dim_{axis}" if size is None else size for axis, size in enumerate(shape)]
        for axis, size_name in _axis_names(name, dynamic_axes.get(name, {}), len(shape)).items():
            if shape[axis] is not None:
                raise ValueError(
                    f"dynamic_axes: axis {axis} of {name!r} has the fixed size {shape[axis]}; "
                    "build the graph with None there"
                )
            sizes[axis] = size_name
        dims[variable] = tuple(sizes)
    return dims


def _axis_names(name, axes, ndim):
    if not isinstance(axes, Mapping):
        axes = {axis: f"{name}_dim_{axis % ndim}" for axis in axes}
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"dynamic_axes: {name!r} has {ndim} axes, got axis {axis}")
    return {axis % ndim: str(size_name) for axis, size_name in axes.items()}


def _name_output_dims(graph, dynamic_axes):
    for name in graph.outputs:
        if name not in dynamic_axes or name in graph.inputs:
            continue
        shape = list(graph.values[name].shape)
        for axis, size_name in _axis_names(name, dynamic_axes[name], len(shape)).items():
            if isinstance(shape[axis], int):
                raise ValueError(
                    f"dynamic_axes: axis {axis} of {name!r} has the fixed size {shape[axis]}"
                )
            shape[axis] = size_name
        graph.values[name].shape = tuple(shape)


def _annotation(trace):
    """Function from a PyTensor node to the metadata of the ONNX nodes made from it."""

    def annotate(node):
        text = str(node)
        metadata = {"pytensor.node": text if len(text) <= 200 else text[:197] + "..."}
        if trace and (frames := _frames(node)):
            metadata["pytensor.trace"] = frames
        return metadata

    return annotate


def _frames(node):
    lines = []
    for variable in node.outputs:
        for stack in getattr(variable.tag, "trace", None) or []:
            for filename, line, function_name, _text in stack:
                relative = os.path.relpath(filename)
                lines.append(f"{relative}:{line} in {function_name}")
    return "\n".join(dict.fromkeys(lines))


def _sample(verify, names, variables):
    if isinstance(verify, Mapping):
        if set(verify) != set(names):
            raise ValueError(f"verify must have values for {names}, got {sorted(verify)}")
        values = [verify[name] for name in names]
    else:
        values = [verify] if isinstance(verify, np.ndarray) else list(verify)
    if len(values) != len(names):
        raise ValueError(f"verify must have {len(names)} values, got {len(values)}")
    return {
        name: np.asarray(value, dtype=variable.type.dtype)
        for name, value, variable in zip(names, values, variables, strict=True)
    }
