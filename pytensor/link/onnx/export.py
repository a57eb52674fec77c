"""`export_onnx`, the entry point."""

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

import onnx
import pytensor
from pytensor.compile.executor import Function
from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.link.onnx.dispatch.random.counter import draw_by_counter
from pytensor.link.onnx.errors import MixedRowsWarning, VerificationError
from pytensor.link.onnx.front.builder import GraphBuilder
from pytensor.link.onnx.front.convert import convert_fgraph, keep_checks
from pytensor.link.onnx.front.interface import input_dims, interface_names, name_output_dims
from pytensor.link.onnx.front.rewriting import checks_in, rewrite_for_onnx
from pytensor.link.onnx.front.source import Source, generators_of, source_of, warn_of_generators
from pytensor.link.onnx.linker import require_onnxruntime
from pytensor.link.onnx.passes import NECESSARY, PASSES, run_passes
from pytensor.link.onnx.passes.half import KEPT_IN_FLOAT32, convert_to_half
from pytensor.link.onnx.rows import find_mixed_rows
from pytensor.link.onnx.settings import OPSETS
from pytensor.link.onnx.support.dims import Dims
from pytensor.link.onnx.support.ir import Graph
from pytensor.link.onnx.support.serialize import infer_types, needs_external_data, save, to_model
from pytensor.link.onnx.verify import first_difference, verify_model


def export_onnx(
    inputs: Variable | Sequence[Variable] | Function,
    outputs: Variable | Sequence[Variable] | str | os.PathLike[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    opset_version: int = 20,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None,
    model_name: str | None = None,
    doc_string: str | None = None,
    metadata: Mapping[str, str] | None = None,
    initializers: Literal["constants", "inputs"] = "constants",
    external_data: Literal["auto", True, False] = "auto",
    optimize: bool = True,
    half: bool | Collection[str] = False,
    exact: bool = False,
    swish: bool = False,
    checks: Literal["drop", "outputs", "error"] = "drop",
    random: Literal["runtime", "counter"] = "runtime",
    verify: Sequence[ArrayLike] | Mapping[str, ArrayLike] | None = None,
    check: bool = True,
    trace: bool = False,
) -> onnx.ModelProto:
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
        Default the variables' own, else ``input_0`` and so on.  An input that is an output as it
        is gets a second name, such as ``x_out``.
    dynamic_axes : dict of str to (dict of int to str, or sequence of int), optional
        Names for sizes that aren't fixed by the types: ``{"images": {0: "N"}}``.  Without it they
        are called after their input and axis.  Inputs and outputs may be given.  A first axis
        called "rows" has a result for each row: where a reduction, a cumulation or a sort mixes
        the rows, a `MixedRowsWarning` names it.
    model_name : str, optional
        Name of the graph; default the function's name, or "pytensor".
    doc_string : str, optional
    metadata : dict of str to str, optional
        Entries for the model's ``metadata_props``.
    initializers : {"constants", "inputs"}
        "inputs" makes the shared variables inputs with default values, which whoever runs the
        model may replace.  Nothing is computed from their values then: no folding.
    external_data : {"auto", True, False}
        Whether to write the weights into ``<path>.data``; "auto" does from 2 GiB on.  Arrays of
        less than 1 KiB stay in the model.
    optimize : bool
        Whether to simplify the PyTensor graph and the ONNX graph.
    half : bool or collection of str
        Whether to hold float32 weights in float16 and to compute in it.  The inputs and outputs
        stay float32, and so do the ONNX operators in
        ``pytensor.link.onnx.passes.half.KEPT_IN_FLOAT32``, or those in the collection.
    checks : {"drop", "outputs", "error"}
        What becomes of checks that raise errors at run time, which ONNX doesn't have.  Each is
        dropped with a `DroppedCheckWarning`, or is one more output ``check_0`` and so on, true
        where the check holds, with the message among the model's metadata, or is refused.
    random : {"runtime", "counter"}
        Whether the runtime draws random numbers, other ones in each run, or the model does, by
        Philox4x32-10 from one more input, the int64 scalar ``seed``: the same in every runtime.
    exact : bool
        Whether rare inputs are treated as in PyTensor where that takes more nodes: NaN in a window
        of max pooling, over which onnxruntime passes, and tensors of no elements in reshapes that
        infer a size, which it refuses.  Mode "ONNX" always does.
    swish : bool
        Whether SiLU becomes one Swish, from operator set 24 on, instead of Sigmoid and Mul, which
        more runtimes know and onnxruntime computes faster.
    verify : sequence or dict (by name) of array_like, optional
        Values for the inputs, with which onnxruntime and PyTensor are compared.  PyTensor computes
        in Python with the same rewrites; a compiled function runs itself, without its updates.
    check : bool
        Whether to run ONNX's own checker, shape inference included.
    trace : bool
        Whether each node's metadata say where in the user's code it was made, with paths relative
        to the working folder.

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
    _check_choice("random", random, ["runtime", "counter"])
    if external_data is True and path is None:
        raise ValueError("external_data=True needs a path to write to")

    keep_in_float32 = _kept_in_float32(half)
    if verify is not None:
        require_onnxruntime("verify=")

    # What is made from here on has no place in the user's code of its own.
    with config.change_flags(traceback__limit=0):
        source = source_of(inputs, outputs, optimize=optimize)
        fgraph, arguments = source.fgraph, source.arguments
        input_names, output_names = interface_names(
            arguments, fgraph.outputs, input_names, output_names
        )
        dynamic_axes = dynamic_axes or {}
        sizes = input_dims(arguments, input_names, dynamic_axes, output_names)
        _warn_of_mixed_rows(fgraph.outputs, _named_rows(arguments, input_names, dynamic_axes))
        known_checks = checks_in(fgraph)
        rewrite_for_onnx(fgraph, optimize=optimize)
    generators = sorted({*source.generators, *generators_of(fgraph.outputs)})
    if (generators or random == "counter") and verify is not None:
        raise ValueError("a model that draws random numbers can't be verified with a sample")
    graph = Graph(parameters_are_inputs=initializers == "inputs")
    builder = GraphBuilder(
        opset_version,
        graph=graph,
        dims=Dims(fgraph.shape_feature, sizes),
        annotate=partial(_metadata, trace=trace),
        checks=checks,
        known_checks=known_checks,
        exact=exact,
        swish=swish,
    )
    for name in (*input_names, *output_names):
        graph.fresh_name(name)
    named_arguments = list(zip(arguments, input_names, strict=True))
    if random == "counter":
        named_arguments.append(draw_by_counter(builder, [*input_names, *output_names]))
    named_outputs = list(zip(fgraph.outputs, output_names, strict=True))
    convert_fgraph(builder, fgraph, named_arguments, source.parameters, named_outputs)
    warn_of_generators(source.generators if builder.draws else generators, builder.draws)
    kept = keep_checks(builder)
    messages = {name: f"{op.exc_type.__name__}({op.msg!r})" for name, op in kept.items()}
    name_output_dims(graph, dynamic_axes)
    _simplify(graph, opset_version, optimize)

    to_proto = partial(
        to_model,
        graph,
        opset=opset_version,
        model_name=model_name or source.name or "pytensor",
        doc_string=doc_string,
        metadata={**(metadata or {}), **messages},
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
        convert_to_half(graph, keep_in_float32)
        _simplify(graph, opset_version, optimize)
    size = sum(array.nbytes for array in graph.initializers.values())
    outside = needs_external_data(external_data, size)
    if outside and path is None:
        raise ValueError(f"the weights take {size} bytes: give a path to write them to")
    return _check_and_write(to_proto(), path, outside, check, verification)


def _named_rows(
    variables: Iterable[Variable], names: Iterable[str], dynamic_axes: Mapping[str, Any]
) -> dict[Variable, str]:
    """Return the inputs whose first axis is called "rows", and their names."""
    axes = {name: axes for name, axes in dynamic_axes.items() if isinstance(axes, Mapping)}
    pairs = zip(variables, names, strict=True)
    return {v: name for v, name in pairs if axes.get(name, {}).get(0) == "rows"}


def _warn_of_mixed_rows(outputs: Sequence[Variable], inputs: Mapping[Variable, str]) -> None:
    mixed = find_mixed_rows(outputs, inputs) if inputs else None
    if mixed is not None and mixed.nodes:
        warnings.warn(
            f"a row's result depends on the other rows that the model is given with it: {mixed}",
            MixedRowsWarning,
            stacklevel=3,
        )


def _simplify(graph: Graph, opset: int, optimize: bool) -> None:
    run_passes(graph, PASSES if optimize else NECESSARY)
    infer_types(graph, opset)


def _check_and_write(
    model: onnx.ModelProto, path: Any, outside: bool, check: bool,
    verification: "Verification | None",
) -> onnx.ModelProto:  # fmt: skip
    """Check and verify a model, and only then write it, so that nothing wrong is left behind."""
    path = None if path is None else Path(path)
    if path is not None and path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file")
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
        # The weights first: there is never a model without them.
        for file in sorted(Path(folder).iterdir(), key=lambda file: file.name == path.name):
            os.replace(file, path.with_name(file.name))
    return model


@dataclass
class Verification:
    """What a model is compared with: PyTensor's results for a sample."""

    source: Source
    arguments: list[Any]
    output_names: Sequence[str]
    sample: dict[str, Any]
    opset: int
    half: bool = False

    def check(self, file: bytes | str) -> None:
        source, sample = self.source, self.sample
        expected = source.run(*sample.values())
        expected = list(expected) if isinstance(expected, list | tuple) else [expected]
        try:
            verify_model(file, self.output_names, sample, expected, half=self.half)
        except VerificationError as error:
            if self.half:
                raise VerificationError(f"in half precision, {error}") from None
            where = first_difference(
                source.fgraph, self.arguments, source.parameters, sample, opset=self.opset
            )
            raise VerificationError(f"{error}\nThe difference begins at {where}") from None


def _kept_in_float32(half: Any) -> Collection[str]:
    if isinstance(half, bool):
        return KEPT_IN_FLOAT32
    names = None if isinstance(half, str) or not isinstance(half, Iterable) else frozenset(half)
    if names is None or not all(isinstance(name, str) and onnx.defs.has(name) for name in names):
        raise ValueError(
            "half must be True, False or names of ONNX operators that stay in float32, "
            f"got {half!r}"
        )
    return names


def _check_choice(name: str, value: object, allowed: list[Any]) -> None:
    # Types too: True is equal to 1.
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")


def _metadata(node: Any, trace: bool) -> dict[str, str]:
    """Return the metadata of the ONNX nodes made from a PyTensor node."""
    text = str(node)
    metadata = {"pytensor.node": text if len(text) <= 200 else text[:197] + "..."}
    if trace and (frames := _frames(node)):
        metadata["pytensor.trace"] = frames
    return metadata


def _frames(node: Any) -> str:
    """Return where in the user's code the outputs of a node were made."""
    lines, folders = [], tuple(folder + os.sep for folder in pytensor.__path__)
    for variable in node.outputs:
        for stack in getattr(variable.tag, "trace", None) or []:
            for filename, line, function_name, _text in stack:
                if not filename.startswith(folders):
                    lines.append(f"{os.path.relpath(filename)}:{line} in {function_name}")
    return "\n".join(dict.fromkeys(lines))


def _sample(verify: Any, names: Sequence[str], variables: Sequence[Any]) -> dict[str, Any]:
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
