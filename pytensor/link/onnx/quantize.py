"""Smaller models: weights in 16 or 8 bits, activations too; and graphs optimized ahead of time."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from pytensor.link.onnx.errors import VerificationError
from pytensor.link.onnx.importing.model import graphs
from pytensor.link.onnx.settings import require_onnxruntime
from pytensor.link.onnx.verify import run

MIN_VALUES = 256  # smaller arrays would save less than the node that casts them costs
MIN_BYTES = 128  # what says where an array is takes about as many
PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
MASK = 1e4  # the least that masks of a softmax subtract
MASKING = ("Add", "Expand", "Mul", "Reshape", "Slice", "Sub", "Transpose", "Unsqueeze", "Where")


def half_weights(model: onnx.ModelProto, *, exclude: Sequence[str] = ()) -> onnx.ModelProto:
    """Store a model's weights as float16, about half the file; the computation stays float32.

    A Cast node turns each of them back into float32 under its old name; runtimes do that once, when
    they load the model.  For float16 arithmetic, see ``half=True`` of `export_onnx`.

    Parameters
    ----------
    model : onnx.ModelProto
        With its weights in it.  It stays as it is.
    exclude : sequence of str
        Names of arrays that stay float32.

    Returns
    -------
    onnx.ModelProto
        With the same inputs, outputs and metadata.  Arrays of less than 256 values stay float32,
        and so do those beyond float16's range (65504), those whose largest value is below its
        normal ones (6e-5), and the default values of inputs.
    """
    halved = onnx.ModelProto()
    halved.CopyFrom(model)
    graph = halved.graph
    kept = {*exclude, *(value.name for value in graph.input)}
    casts = []
    for weight in graph.initializer:
        values = _as_half(weight)
        if values is None or weight.name in kept:
            continue
        name = f"{weight.name}_float16"
        casts.append(
            helper.make_node("Cast", [name], [weight.name], name=name, to=TensorProto.FLOAT)
        )
        weight.CopyFrom(numpy_helper.from_array(values, name))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(halved)
    return halved


def _as_half(weight: TensorProto) -> np.ndarray | None:
    """Return the values as float16, or None if they are to stay as they are."""
    if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < MIN_VALUES:
        return None
    values = numpy_helper.to_array(weight)
    largest, limits = float(np.abs(values).max()), np.finfo(np.float16)
    # Written so that NaN fails too; smaller numbers than `tiny` lose digits, and then are zeros.
    in_range = largest == 0 or float(limits.tiny) <= largest <= float(limits.max)
    return values.astype(np.float16) if in_range else None


def optimized_graph(path: str | os.PathLike[str], location: str) -> onnx.ModelProto:
    """Return a model's graph as onnxruntime optimizes it; weights stay in the model's own file.

    With its optimizations off, onnxruntime opens the two sooner than it optimizes the model: a
    detector in 8-bit integers in a third of the time.

    Parameters
    ----------
    path : str or Path
        A model in one file.
    location : str
        What the result calls that file; of onnxruntime-web, the ``path`` in ``externalData``.

    Returns
    -------
    onnx.ModelProto
        With onnxruntime's own operators, those that suit every processor.
    """
    require_onnxruntime("optimized_graph")
    import onnxruntime as ort

    data, options = Path(path).read_bytes(), ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    with TemporaryDirectory() as folder:
        options.optimized_model_filepath = os.fspath(Path(folder, "optimized.onnx"))
        ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        model = onnx.load(options.optimized_model_filepath)
    for weight in model.graph.initializer:
        offset, length = data.find(weight.raw_data), len(weight.raw_data)
        if length >= MIN_BYTES and offset >= 0:
            set_external_data(weight, location, offset, length)
            weight.ClearField("raw_data")
    return model


def quantize_int8(
    model: onnx.ModelProto | str | os.PathLike[str], path: str | os.PathLike[str] | None = None, *,
    calibration: Mapping[str, np.ndarray] | Sequence[Mapping[str, np.ndarray]] | None = None,
    exclude: Sequence[str] = (),
    sample: Mapping[str, np.ndarray] | Sequence[Mapping[str, np.ndarray]] | None = None,
    tolerance: float = 0.1,
) -> onnx.ModelProto:
    """Quantize a float32 model to int8.

    Products that onnxruntime's tools quantize wrongly stay float32: of weights on the left, of
    stacks of matrices, of a vector, and a Gemm that scales its bias.

    On x86 processors without VNNI (AMD's Zen 3, say), onnxruntime cuts sums of 8-bit products off
    at 16 bits, unless a session's option ``session.x64quantprecision`` is "1", as it is here.

    Parameters
    ----------
    model : onnx.ModelProto, str or Path
    path : str or Path, optional
        Where to write the result.
    calibration : dict (by input name) of ndarray, or sequence of such dicts, optional
        Typical inputs, a few dozen, all finite.  With them the ranges of all activations are
        measured, and convolutions and matrix products compute in integers, of uint8 activations
        (nodes QuantizeLinear and DequantizeLinear around them).  Without, only the weights are
        stored in int8, and activations are quantized by the range that they have at run time.
    exclude : sequence of str
        Names of nodes that stay in float32; a detector's last layers, say.
    sample : dict (by input name) of ndarray, or sequence of such dicts, optional
        Inputs with which both models are compared.  Give several of the same shapes if one doesn't
        show what every channel is for, as a picture without the objects of a class.
    tolerance : float
        How far the results for `sample` may differ: the root mean square of the difference, as a
        fraction of that of the float32 model's output.  Channels (axis 1 and the last axis) are
        compared one by one, too, and may differ by twice as much.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    VerificationError
        If an output or a channel differs by more than `tolerance` says; nothing is written then.
    ValueError
        If `calibration` has no inputs, or some that aren't the model's or aren't finite; if an
        activation isn't finite for them; if `exclude` names a node that the model lacks; if the
        file is no ONNX model; or if nothing of the model can be quantized.

    Examples
    --------
    >>> import numpy as np
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx import export_onnx, quantize_int8
    >>> w = pytensor.shared(np.eye(16, dtype="float32"), name="w")
    >>> x = pt.matrix("x", dtype="float32")
    >>> model = export_onnx(x, x @ w)
    >>> small = quantize_int8(model, sample={"x": np.ones((1, 16), "float32")})
    >>> [i.data_type == 3 for i in small.graph.initializer if i.name == "w_quantized"]
    [True]
    """
    require_onnxruntime("quantize_int8")
    if isinstance(model, onnx.ModelProto) and any(i.external_data for i in model.graph.initializer):
        raise ValueError("the model's weights are in a file of their own: give the model's path")
    try:
        single = model if isinstance(model, onnx.ModelProto) else onnx.load(model)
    except DecodeError as error:
        raise ValueError(f"{model}: no ONNX model, or a file that was cut off") from error
    _check_names(single, exclude)
    if isinstance(calibration, Mapping):
        calibration = [calibration]
    quantized = _quantized(single, None if calibration is None else [*calibration], exclude)
    _check_scales(quantized)
    if not any(i.data_type == TensorProto.INT8 for i in quantized.graph.initializer):
        raise ValueError(
            "the model has no weights that onnxruntime quantizes: initializers of Conv and Gemm, "
            "and matrices on the right of MatMul, outside of branches and loops"
        )
    if sample is not None:
        samples = [sample] if isinstance(sample, Mapping) else [*sample]
        _compare(single, quantized, samples, tolerance)
    if path is not None:
        onnx.save(quantized, os.fspath(path))
    return quantized


def _check_names(model: onnx.ModelProto, exclude: Sequence[str]) -> None:
    """Raise ValueError for what names no node; onnxruntime would quantize all without a word."""
    if isinstance(exclude, str):
        raise ValueError(f"exclude is a list of nodes' names, not {exclude!r}")
    if unknown := sorted(set(exclude) - {node.name for node in model.graph.node}):
        raise ValueError(f"exclude: the model has no node called {', '.join(unknown)}")


def _check_scales(model: onnx.ModelProto) -> None:
    """Raise ValueError if a scale of an activation isn't finite: its range wasn't."""
    constants = {i.name: i for i in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type != "QuantizeLinear" or node.input[1] not in constants:
            continue
        if not np.isfinite(numpy_helper.to_array(constants[node.input[1]])).all():
            raise ValueError(
                f"the activation {node.input[0]!r} isn't finite for a calibration input; exclude= "
                "the nodes that read and make it, or calibrate with other inputs"
            )


def _quantized(
    single: onnx.ModelProto, calibration: Sequence[Mapping[str, np.ndarray]] | None,
    exclude: Sequence[str],
) -> onnx.ModelProto:  # fmt: skip
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static

    opset = max(v.version for v in single.opset_import if v.domain in ("", "ai.onnx"))
    if calibration is not None and opset < 13:
        raise ValueError(
            f"the model is of opset {opset}, and weights with a scale for each channel need 13: "
            "use onnx.version_converter.convert_version(model, 13)"
        )
    prepared = _prepared(single)
    weights = {weight.name: weight for weight in prepared.graph.initializer}
    stay = [node.name for node in prepared.graph.node if _stays(node, weights)]
    stay += _masking(prepared.graph)
    common: dict[str, Any] = {
        "weight_type": QuantType.QInt8,
        "per_channel": True,
        # Without calibration, a Gemm becomes a MatMul of this name first
        "nodes_to_exclude": [*exclude, *stay, *(f"{name}_MatMul" for name in exclude)],
    }
    # Activations that are never finite, which `_check_scales` says better than NumPy's warnings.
    with TemporaryDirectory() as folder, _without_advice(), np.errstate(invalid="ignore"):
        source, target = Path(folder, "float32.onnx"), Path(folder, "int8.onnx")
        onnx.save(prepared, source)
        if calibration is None:
            quantize_dynamic(source, target, **common)
        else:
            quantize_static(
                source,
                target,
                _reader(single, calibration),
                quant_format=QuantFormat.QDQ,
                # Without a sign: x86 has instructions for their products with int8 weights, and
                # onnxruntime leaves most convolutions in float32 there if both have one.
                activation_type=QuantType.QUInt8,
                **common,
            )
        return onnx.load(target)


def _prepared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model that onnxruntime's tools quantize without a fault.

    Products have weights that nothing else reads: onnxruntime doesn't open files with
    session.x64quantprecision in which they do.  Relu and Clip bound no output of the model and
    nothing that a body reads, which would be bounded too.  Constants are initializers.  Every node
    has a name, by which it can be left out.
    """
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    graph = copied.graph
    _, *bodies = graphs(graph)
    kept = {value.name for value in graph.output}
    kept.update(name for body in bodies for node in body.node for name in node.input)
    others = [node for node in graph.node if node.op_type not in PRODUCTS]
    read = kept.union(*(node.input for node in others))
    constants = [node for node in graph.node if node.op_type == "Constant"]
    for node in [node for node in constants if node.attribute[0].name == "value"]:
        graph.initializer.add().CopyFrom(node.attribute[0].t)
        graph.initializer[-1].name = node.output[0]
        graph.node.remove(node)
    weights = {weight.name: weight for weight in graph.initializer}
    nodes = []
    for node in graph.node:
        node.name = node.name or f"node_of_{node.output[0]}"
        if node.op_type in ("Clip", "Relu") and node.input[0] in kept:
            name = f"{node.input[0]}_of_{node.name}"
            nodes.append(helper.make_node("Identity", [node.input[0]], [name], name=name))
            node.input[0] = name
        nodes.append(node)
        if node.op_type not in PRODUCTS:
            continue
        for position, name in enumerate(node.input):
            if name in read and name in weights:
                node.input[position] = f"{name}_{len(graph.initializer)}"
                graph.initializer.add().CopyFrom(weights[name])
                graph.initializer[-1].name = node.input[position]
            elif name in weights:
                read.add(name)
    del copied.graph.node[:]
    copied.graph.node.extend(nodes)
    return copied


def _stays(node: onnx.NodeProto, weights: Mapping[str, TensorProto]) -> bool:
    """Return whether onnxruntime's tools quantize a node wrongly, or to one that doesn't run."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    shapes = [tuple(weights[name].dims) if name in weights else None for name in node.input]
    if node.op_type == "MatMul":
        return shapes[0] is not None or (shapes[1] is not None and len(shapes[1]) != 2)
    if node.op_type == "Gemm":
        columns = shapes[1] and shapes[1][0 if attributes.get("transB") else 1]
        has_bias = len(shapes) > 2 and bool(node.input[2])
        return has_bias and (attributes.get("beta", 1) != 1 or shapes[2] not in ((columns,), None))
    return node.op_type == "ConvTranspose" and attributes.get("group", 1) != 1


def _masking(graph: onnx.GraphProto) -> list[str]:
    """List the nodes that add a large constant such as -1e9 to what a softmax leaves out.

    8 bits from there to 0 would make all else 0.
    """
    large = {weight.name for weight in graph.initializer if _largest(weight) >= MASK}
    names = []
    for node in graph.node:
        if node.op_type not in PRODUCTS and not large.isdisjoint(node.input):
            names.append(node.name)
            if node.op_type in MASKING:
                large.update(node.output)
    return names


def _largest(weight: TensorProto) -> float:
    if weight.data_type != TensorProto.FLOAT:
        return 0.0
    return float(np.abs(numpy_helper.to_array(weight)).max(initial=0))


@contextmanager
def _without_advice() -> Iterator[None]:
    """Keep back onnxruntime's advice to pre-process the model; its other warnings are logged.

    Pre-processing infers shapes, which our exports state, and folds constants and normalizations,
    which they have done.
    """

    def is_news(record: logging.LogRecord) -> bool:
        return "pre-processing before quantization" not in record.getMessage()

    logger = logging.getLogger()  # onnxruntime's quantization has none of its own
    logger.addFilter(is_news)
    try:
        yield
    finally:
        logger.removeFilter(is_news)


def _reader(model: onnx.ModelProto, calibration: Sequence[Mapping[str, np.ndarray]]) -> Any:
    from onnxruntime.quantization import CalibrationDataReader

    defaults = {i.name for i in model.graph.initializer}
    names = {i.name for i in model.graph.input} - defaults
    if not calibration:
        raise ValueError("calibration is empty: give a few dozen typical inputs")
    for number, feed in enumerate(calibration):
        if set(feed) - defaults != names:
            raise ValueError(
                f"calibration[{number}] has values for {sorted(feed)}, the model's inputs are "
                f"{sorted(names)}"
            )
        for name, value in feed.items():
            # onnxruntime passes over NaN, and makes an infinite scale of an infinity.
            if np.asarray(value).dtype.kind in "fc" and not np.isfinite(value).all():
                raise ValueError(f"calibration[{number}] has values of {name!r} that aren't finite")

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.feeds = iter(calibration)

        def get_next(self) -> Mapping[str, np.ndarray] | None:
            return next(self.feeds, None)

    return Reader()


def _compare(
    single: onnx.ModelProto, quantized: onnx.ModelProto, samples: Sequence[Mapping[str, Any]],
    tolerance: float,
) -> None:  # fmt: skip
    """Raise VerificationError if outputs differ by more than `tolerance` says, over all samples."""
    wanted, results = (
        [*map(np.stack, zip(*(run(file, None, sample) for sample in samples), strict=True))]
        for file in (single.SerializeToString(), quantized.SerializeToString())
    )
    for info, reference, result in zip(single.graph.output, wanted, results, strict=True):
        if reference.dtype.kind != "f":
            continue
        errors = np.square(np.subtract(reference, result, dtype="float64"))
        squares = np.square(reference, dtype="float64")
        # The samples' axis comes first
        errors, squares = (each.mean(axis=0) for each in (errors, squares))
        scale, error = np.sqrt(squares.mean()), np.sqrt(errors.mean())
        if not error <= tolerance * scale:
            raise VerificationError(
                f"output {info.name!r} of the int8 model differs by {error / scale:.3g} of its "
                f"root mean square, more than {tolerance:g}; exclude= the nodes that matter most"
            )
        for axis in {1, squares.ndim - 1} if squares.ndim > 1 else ():
            others = tuple(a for a in range(squares.ndim) if a != axis)
            scales, parts = np.sqrt(squares.mean(others)), np.sqrt(errors.mean(others))
            # What is 0 has no scale of its own
            parts = parts / np.where(scales, scales, scale or 1)
            if not parts.max(initial=0) <= 2 * tolerance:
                raise VerificationError(
                    f"channel {parts.argmax()} of the output {info.name!r} (axis {axis}) of the "
                    f"int8 model differs by {parts.max():.3g} of its root mean square, more than "
                    f"{2 * tolerance:g}: other channels are so much larger that 8 bits lose it; "
                    "exclude= the nodes that make it"
                )
