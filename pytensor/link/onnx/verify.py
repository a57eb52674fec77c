"""Comparison of an exported model with the PyTensor graph it came from."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import toposort
from pytensor.link.onnx.errors import VerificationError
from pytensor.link.onnx.lowering.lowering import Lowering
from pytensor.link.onnx.passes import PASSES, remove_unused, run_pass
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.link.onnx.write.serialize import to_model

# (relative, absolute) by dtype; everything else must be equal.
TOLERANCES = {"float16": (1e-2, 1e-2), "float32": (1e-3, 1e-4), "float64": (1e-6, 1e-8)}
# Relative to the largest number, for models that compute in half precision.
HALF = 2e-2


def verify_model(
    model: bytes | str, output_names: Sequence[str], sample: Mapping[str, Any],
    expected: Sequence[Any], *, half: bool = False,
) -> None:  # fmt: skip
    """Run a serialized model, or a file, in onnxruntime and compare its outputs with `expected`.

    What differs by more than a fixed tolerance is compared with what rounding may do to this
    model's outputs with these inputs, which takes longer (`rounding_error`).  If it
    computes in float16, float32 outputs may differ by 2 % of the largest number in them.

    Raises
    ------
    VerificationError
        For the first output that differs, with its absolute and relative error.
    """
    results = run(model, output_names, sample)
    allowed = None
    for name, result, wanted in zip(output_names, results, expected, strict=True):
        difference = describe_difference(result, np.asarray(wanted), half=half)
        if difference is None:
            continue
        if allowed is None and not half:
            # Here, because few models need it
            from pytensor.link.onnx.compare.expected import rounding_error
            from pytensor.link.onnx.compare.graph import ComparisonError

            with suppress(ComparisonError):  # a node that only some runtimes know
                allowed = rounding_error(model, sample)
        if not allowed or not _is_within(result, np.asarray(wanted), allowed[name]):
            raise VerificationError(f"output {name!r} {difference}")


def _is_within(result: np.ndarray, wanted: np.ndarray, allowed: np.ndarray) -> bool:
    if (result.dtype, result.shape) != (wanted.dtype, wanted.shape) or wanted.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore"):
        # Written so that NaN is none, and what may be anything isn't either
        close = np.abs(result.astype("float64") - wanted) <= allowed
        return bool((close & np.isfinite(allowed)).all())


def describe_difference(
    result: np.ndarray, wanted: np.ndarray, *, half: bool = False
) -> str | None:
    """Say how an array of onnxruntime's differs from PyTensor's; None if it doesn't."""
    if (result.dtype, result.shape) != (wanted.dtype, wanted.shape):
        return (
            f"is {result.dtype}{list(result.shape)} in onnxruntime, "
            f"{wanted.dtype}{list(wanted.shape)} in PyTensor"
        )
    rtol, atol = TOLERANCES.get(wanted.dtype.name, (0, 0))
    floats = wanted.dtype.kind == "f"
    if half and floats:
        finite = np.abs(wanted[np.isfinite(wanted)])
        rtol, atol = HALF, HALF * finite.max(initial=0)
    if floats:
        equal = np.allclose(result, wanted, rtol=rtol, atol=atol, equal_nan=True)
    else:  # not by allclose, which makes doubles of integers
        equal = np.array_equal(result, wanted)
    if equal:
        return None
    if not floats:
        return f"differs in {np.count_nonzero(result != wanted)} of {wanted.size} elements"
    if (np.isnan(result) != np.isnan(wanted)).any():
        counts = np.isnan(result).sum(), np.isnan(wanted).sum()
        return f"has {counts[0]} NaN in onnxruntime, {counts[1]} in PyTensor"
    with np.errstate(invalid="ignore"):
        absolute = np.abs(result.astype("float64") - wanted.astype("float64"))
    relative = absolute / np.maximum(np.abs(wanted.astype("float64")), 1e-30)
    return (
        f"differs: absolute error {np.nanmax(absolute):.3g} "
        f"(allowed {atol:g}), relative error {np.nanmax(relative):.3g} (allowed {rtol:g})"
    )


def first_difference(lowering: Lowering, sample: Mapping[str, Any]) -> str:
    """Find where onnxruntime first computes something else than PyTensor.

    Every intermediate result is compared, in topological order, in a model that no pass has
    touched; if none differs, the passes are run one by one.  Returns a description: of the node
    with its inputs and the error, or of the pass, or that neither was found.
    """
    source, opset = lowering.source, lowering.options.opset
    fgraph, arguments, parameters = source.fgraph, lowering.arguments, source.parameters
    values = [sample[name] for _, name in arguments] + list(parameters.values())
    inputs = [variable for variable, _ in arguments] + list(parameters)
    nodes = toposort(fgraph.outputs, fgraph.inputs)
    variables = [v for node in nodes for v in node.outputs if hasattr(v.type, "dtype")]
    mode = Mode("py", optimizer=None)  # type: ignore[arg-type]
    wanted = function(inputs, variables, mode=mode, on_unused_input="ignore")(*values)
    builder = lowering.builder(lowering.input_names)
    names = [builder.graph.fresh_name(f"result_{i}") for i in range(len(variables))]
    outputs = list(zip(variables, names, strict=True))
    builder.write(arguments, parameters, outputs)
    results = run(_serialize(builder.graph, opset), names, sample)
    for variable, result, reference in zip(variables, results, wanted, strict=True):
        difference = describe_difference(result, np.asarray(reference))
        if difference is not None:
            return f"the node whose output {difference}\n{_describe(builder, variable)}"
    reference = dict(zip(names, wanted, strict=True))
    return _first_pass(builder.graph, fgraph, dict(outputs), reference, sample, opset)


def _describe(builder: GraphBuilder, variable: Any) -> str:
    node = variable.owner
    inputs = [f"{v}" if isinstance(v, Constant) else f"{v}: {v.type}" for v in node.inputs]
    name = builder.value_of(variable).name
    written = [emitted.name for emitted in builder.graph.nodes if name in emitted.outputs]
    return f"  PyTensor: {node.op}({', '.join(inputs)})\n  ONNX: {', '.join(written) or name}"


def _first_pass(
    graph: Any, fgraph: Any, names: Mapping[Variable, str], reference: Mapping[str, Any],
    sample: Mapping[str, Any], opset: int,
) -> str:  # fmt: skip
    graph.outputs = [names[v] for v in dict.fromkeys(fgraph.outputs) if v in names]
    remove_unused(graph)
    changed = True
    while changed:
        changed = False
        for apply in PASSES:
            before = [node.name for node in graph.nodes]
            if not run_pass(apply, graph):
                continue
            changed = True
            results = run(_serialize(graph, opset), graph.outputs, sample)
            for name, result in zip(graph.outputs, results, strict=True):
                difference = describe_difference(result, np.asarray(reference[name]))
                if difference is not None:
                    kept = {node.name for node in graph.nodes}
                    removed = [node for node in before if node not in kept]
                    return (
                        f"the pass {apply.__name__}, after which {name!r} {difference}\n"
                        f"  it removed {', '.join(removed[:10]) or 'no node'}"
                    )
    return "neither one node nor one pass"


def _serialize(graph: Any, opset: int) -> bytes:
    model = to_model(graph, opset=opset, model_name="pytensor")
    return model.SerializeToString()


def run(model: bytes | str, names: Sequence[str] | None, sample: Mapping[str, Any]) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Or x86 without VNNI cuts sums of products of uint8 and int8 off at 16 bits.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(names, sample)
