"""`export_onnx`, the entry point."""

import os
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

import onnx
from pytensor.compile.executor import Function
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.link.onnx.errors import DroppedRandomStateWarning, VerificationError
from pytensor.link.onnx.lowering.lowering import Lowering, Options
from pytensor.link.onnx.lowering.source import source_of
from pytensor.link.onnx.passes.half import KEPT_IN_FLOAT32
from pytensor.link.onnx.settings import OPSETS, require_onnxruntime
from pytensor.link.onnx.verify import first_difference, verify_model
from pytensor.link.onnx.write.serialize import needs_external_data, save


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
        ``pytensor.link.onnx.passes.half.KEPT_IN_FLOAT32``, or those in the collection, which may
        be empty.
    checks : {"drop", "outputs", "error"}
        What becomes of checks that raise errors at run time, which ONNX doesn't have.  Each is
        dropped with a `DroppedCheckWarning`, or is one more output ``check_0`` and so on, true
        where the check holds, with the message among the model's metadata, or is refused.
    random : {"runtime", "counter"}
        Whether the runtime draws random numbers, other ones in each run, or the model does, by
        Philox4x32-10 from one more input, the int64 scalar ``seed``: the same in every runtime.
    exact : bool
        Whether rare inputs are treated as in PyTensor where that takes more nodes: NaN in a window
        of max pooling, over which onnxruntime passes, tensors of no elements in reshapes that infer
        a size, and reflections that are longer than an axis of open length, which it refuses both.
        Mode "ONNX" always does.
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
        If `verify` shows a difference, naming the first node or the pass that makes it, or the
        parameters whose values have other dtypes than their types.  The file is written.
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
    halved = half is not False  # by an empty collection, too, which keeps nothing in float32
    if verify is not None:
        require_onnxruntime("verify=")
    options = Options(
        opset=opset_version,
        rewrite="all" if optimize else "none",
        simplify=optimize,
        exact=exact,
        swish=swish,
        checks=checks,
        random=random,
        parameters_are_inputs=initializers == "inputs",
        trace=trace,
    )
    # Variables that are made from here on stem from no line of the user's code.
    with config.change_flags(traceback__limit=0):
        source = source_of(inputs, outputs, optimize=optimize)
        lowering = Lowering(
            source,
            options,
            input_names=input_names,
            output_names=output_names,
            dynamic_axes=dynamic_axes,
        )
    draws = lowering.generators or random == "counter"
    if draws and verify is not None:
        raise ValueError("a model that draws random numbers can't be verified with a sample")
    if lowering.generators:
        _warn_of_generators(lowering.generators, random)
    described = model_name or source.name or "pytensor", doc_string, metadata
    verification = None
    if verify is not None:
        sample = _sample(verify, lowering.input_names, source.arguments)
        verification = Verification(lowering, sample, half=halved)
    if halved:
        if verification is not None:
            # A difference in single precision too doesn't come from half precision.
            replace(verification, half=False).check(lowering.model().SerializeToString())
        lowering.to_half(keep_in_float32)
    model = lowering.model(*described)
    outside = needs_external_data(lowering.graph, external_data, path)
    return _check_and_write(model, path, outside, check, verification)


def _warn_of_generators(names: Iterable[str], random: str) -> None:
    # With a counter, `names` are the generators whose states the graph would return, no others.
    role = "don't seed them" if random == "counter" else "can only seed them"
    warnings.warn(
        f"the model draws random numbers of its own, not NumPy's: {', '.join(names)} {role}; "
        "no state is returned or updated",
        DroppedRandomStateWarning,
        stacklevel=3,
    )


def _check_and_write(
    model: onnx.ModelProto, path: Any, outside: bool, check: bool,
    verification: "Verification | None",
) -> onnx.ModelProto:  # fmt: skip
    """Check, verify and write a model; one that differs is written too, for training made it."""
    path = None if path is None else Path(path)
    if path is not None and path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file")
    if not outside:
        if check:
            onnx.checker.check_model(model, full_check=True)
        difference = None
        if verification is not None:
            difference = verification.difference(model.SerializeToString())
        if path is not None:
            save(model, path)
    else:
        # The checker and onnxruntime want the file that the weights are in.
        with TemporaryDirectory(dir=path.parent) as folder:
            written = Path(folder, path.name)
            save(model, written, external_data=True)
            if check:
                onnx.checker.check_model(str(written), full_check=True)
            difference = None if verification is None else verification.difference(str(written))
            # The weights first: there is never a model without them.
            for file in sorted(Path(folder).iterdir(), key=lambda file: file.name == path.name):
                os.replace(file, path.with_name(file.name))
    if difference is None:
        return model
    if path is not None:
        difference.add_note(f"{path} was written nevertheless")
    raise difference


@dataclass
class Verification:
    """What a model is compared with: PyTensor's results for a sample."""

    lowering: Lowering
    sample: dict[str, Any]
    half: bool = False

    def difference(self, file: bytes | str) -> VerificationError | None:
        """Compare a model with PyTensor, and return an error that says where they differ."""
        try:
            self.check(file)
        except VerificationError as error:
            return error
        return None

    def check(self, file: bytes | str) -> None:
        """Compare a model with PyTensor; a difference says where it begins."""
        lowering, sample = self.lowering, self.sample
        expected = lowering.source.run(*sample.values())  # type: ignore[misc]
        expected = list(expected) if isinstance(expected, list | tuple) else [expected]
        try:
            verify_model(file, lowering.output_names, sample, expected, half=self.half)
        except VerificationError as error:
            if other := _parameters_of_other_dtypes(lowering.source.originals.values()):
                raise VerificationError(f"{error}\n{other}") from None
            if self.half:
                raise VerificationError(f"in half precision, {error}") from None
            where = first_difference(lowering, sample)
            raise VerificationError(f"{error}\nThe difference begins at {where}") from None


def _parameters_of_other_dtypes(given: Iterable[Variable]) -> str:
    """Name the shared variables whose values have other dtypes than their types; or nothing."""
    found = []
    for variable in given:
        value = variable.get_value(borrow=True) if isinstance(variable, SharedVariable) else None
        dtype = getattr(value, "dtype", None)
        if dtype is not None and dtype != variable.type.dtype:
            found.append(f"{variable} holds {dtype}, and its type says {variable.type.dtype}")
    return f"Parameters have other dtypes: {'; '.join(found)}" if found else ""


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


def _sample(verify: Any, names: Sequence[str], variables: Sequence[Any]) -> dict[str, Any]:
    if isinstance(verify, Mapping):
        if set(verify) != set(names):
            raise ValueError(f"verify must have values for {names}, got {sorted(verify)}")
        values = [verify[name] for name in names]
    elif isinstance(verify, bool):
        raise TypeError(f"verify must be arrays to call the model with, got {verify}")
    else:
        values = [verify] if isinstance(verify, np.ndarray) else list(verify)
    if len(values) != len(names):
        raise ValueError(f"verify must have {len(names)} values, got {len(values)}")
    sample = {}
    for name, value, variable in zip(names, values, variables, strict=True):
        sample[name] = array = np.asarray(value, dtype=variable.type.dtype)
        expected = variable.type.shape
        if not _fits(array, expected):
            last = array.ndim > 2 and _fits(np.moveaxis(array, -1, 1), expected)
            raise ValueError(
                f"verify: input {name!r} has shape {array.shape}; expected {expected}"
                + (". Try numpy.moveaxis(x, -1, 1)" if last else "")
            )
    return sample


def _fits(array: np.ndarray, shape: Sequence[int | None]) -> bool:
    return array.ndim == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, array.shape, strict=True)
    )
