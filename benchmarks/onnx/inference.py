"""Latency of an exported detector in onnxruntime, compared with a reference and smaller variants.

    python -m benchmarks.onnx.inference MODEL [--reference FILE.onnx] [--data SET]
        [--variants float16-weights float16 int8] [--record]

MODEL is an ONNX file, or weights that are exported first.  All models are timed in the same
process, in blocks that take turns; the figure that counts is the ratio of two models in the same
round.  How long an inference takes depends on the values too: where a softmax leaves subnormal
numbers, arithmetic is many times slower.  So the input is a smooth picture, or one of SET, and a
reference whose weights have the names and shapes of the model's is timed with the model's weights
as well.  SET is a data set in COCO's or YOLO's layout: its training part calibrates int8, and on
its validation part all variants are scored by the demo's own evaluation (pycocotools).
"""

import argparse
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

from benchmarks.common import results
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.step_sides import use_demo
from benchmarks.common.timing import quartiles

MODEL, REFERENCE, SAME_WEIGHTS = "model", "reference", "reference, model's weights"
VARIANTS = "float16-weights", "float16", "int8"
WEIGHTED = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
# What onnxruntime has made of a model: name of a column, and the operators that it counts.
COUNTED = {
    "NCHWc conv": ["com.microsoft.nchwc:Conv"],
    "int8 conv": ["QLinearConv", "com.microsoft:QLinearConv"],
    "other conv": ["Conv", "com.microsoft:FusedConv", "com.microsoft:NhwcFusedConv"],
    "QuickGelu": ["com.microsoft:QuickGelu"],
    "int8 SiLU": ["com.microsoft:QLinearSigmoid"],
    "reorders": ["com.microsoft.nchwc:ReorderInput", "com.microsoft.nchwc:ReorderOutput"],
    "casts": ["Cast"],
}
FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


# ------------------------------------------------------------------------------ models


def open_session(path, threads, optimized=None):
    """Open a session on the CPU; `optimized` is a file to write the graph to that it runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Otherwise its threads go on waiting at full speed while the next model is measured.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if optimized is not None:
        options.optimized_model_filepath = str(optimized)
        options.log_severity_level = 3  # it warns that such a file is for this machine only
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def describe(path):
    """Return size and nodes of a model, and the operators that onnxruntime runs for it.

    Returns
    -------
    dict
        ``bytes``, ``nodes``, ``optimized nodes``, and the columns of COUNTED.
    """
    with TemporaryDirectory() as folder:
        optimized = Path(folder, "optimized.onnx")
        open_session(path, 1, optimized)
        operators = Counter(
            f"{node.domain}:{node.op_type}" if node.domain else node.op_type
            for node in onnx.load(optimized).graph.node
        )
    return {
        "bytes": Path(path).stat().st_size,
        "nodes": len(onnx.load(path).graph.node),
        "optimized nodes": operators.total(),
    } | {name: sum(operators[key] for key in keys) for name, keys in COUNTED.items()}


def with_weights_of(reference, model):
    """Return a copy of a reference that has the weights of another model.

    Parameters
    ----------
    reference, model : onnx.ModelProto

    Returns
    -------
    onnx.ModelProto or None
        None if a convolution or matrix product of the reference has a weight for which the model
        has none of the same name and shape, or if no such weight is an initializer.  The numbers
        of the distribution's bins, 0 to 15, are no weights: they are the same everywhere.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(reference)
    own = {(array.name, *array.dims): array for array in model.graph.initializer}
    replaced = set()
    for array in copy.graph.initializer:
        other = own.get((array.name, *array.dims))
        if other is not None and other.data_type == array.data_type:
            array.CopyFrom(other)
            replaced.add(array.name)
        elif np.array_equal(numpy_helper.to_array(array).ravel(), np.arange(np.prod(array.dims))):
            replaced.add(array.name)
    arrays = {array.name for array in copy.graph.initializer}
    inputs = {n for node in copy.graph.node if node.op_type in WEIGHTED for n in node.input[1:]}
    weights = inputs & arrays
    return copy if weights and weights <= replaced else None


def export(weights, path, image_size, half=False):
    """Write the ONNX file of a weight file."""
    from export import export_detector, load_model

    model, info = load_model(weights)
    size = image_size or info.get("image_size", 640)
    export_detector(model, path, info["classes"], size, half=half)
    return path


def make_variant(name, options, model, path):
    """Write a variant of the model; return its path."""
    if name == "float16":
        return export(options.model, path, options.image_size, half=True)
    if name == "int8":
        from tools.quantize import calibration, quantize_detector

        quantize_detector(model, path, calibration(model, [options.data]))
    else:
        from pytensor.link.onnx import half_weights

        onnx.save(half_weights(onnx.load(model)), path)
    return path


def collect(options, folder):
    """Return the paths of all models to measure, by name; writes those made here to `folder`."""
    paths = {MODEL: options.model}
    if options.model.suffix == ".safetensors":
        paths[MODEL] = export(options.model, folder / "model.onnx", options.image_size)
    if options.reference:
        paths[REFERENCE] = options.reference
        same = with_weights_of(onnx.load(options.reference), onnx.load(paths[MODEL]))
        if same is None:
            print("the reference's weights have other names or shapes: it is timed with its own")
        else:
            paths[SAME_WEIGHTS] = folder / "reference.onnx"
            onnx.save(same, paths[SAME_WEIGHTS])
    for name in options.variants:
        paths[name] = make_variant(name, options, paths[MODEL], folder / f"{name}.onnx")
    return paths


# ------------------------------------------------------------------------------ input


def sample(session, picture=None):
    """Return a model's input: the picture if it has the model's size, else smooth colours.

    It is a batch of one image where the model leaves the length of the batch open.

    Parameters
    ----------
    session : InferenceSession
        With one input (batch, channels, height, width).
    picture : uint8 (height, width, 3), optional
    """
    (spec,) = session.get_inputs()
    batch, *shape = (n if isinstance(n, int) else None for n in spec.shape)
    if None in shape or spec.type not in FLOATS:
        raise SystemExit(f"the input {spec.name} is {spec.type} {spec.shape}: fix its image size")
    if picture is not None and picture.shape == (*shape[1:], shape[0]):
        image = picture.transpose(2, 0, 1) / 255
    else:
        image = smooth(shape)
    return {spec.name: np.repeat(image[None], batch or 1, axis=0).astype(FLOATS[spec.type])}


def smooth(shape):
    """Return waves along both axes, from 0 to 1, shifted from channel to channel."""
    channel, row, column = np.ogrid[tuple(slice(n) for n in shape)]
    waves = np.sin(row / 23 + channel) + np.cos(column / 31 - channel)
    return (waves + 2) / 4


# ------------------------------------------------------------------------------ timing


def time_blocks(runs, rounds, calls):
    """Time blocks of calls that take turns, there and back; return milliseconds per call.

    Returns
    -------
    wall, processor : dict (by name) of list of float
        For each round; of the time on the clock, and of the time that processors worked.
    """
    wall, worked = ({name: [] for name in runs} for _ in range(2))
    for number in range(rounds + 1):
        for name in list(runs)[:: -1 if number % 2 else 1]:
            runs[name]()  # brings its own data back into the caches
            start, busy = time.perf_counter(), time.process_time()
            for _ in range(calls):
                runs[name]()
            seconds = time.perf_counter() - start, time.process_time() - busy
            if number:  # the first round warms up
                wall[name].append(1e3 * seconds[0] / calls)
                worked[name].append(1e3 * seconds[1] / calls)
    return wall, worked


def measure(paths, threads, options, picture=None):
    """Return the latency of all models with some threads, by name.

    Returns
    -------
    dict of dict
        ``ms`` and ``processor ms``, and ``to model`` and ``processor, to model``: the same divided
        by the model's in the same round.  Each as lower quartile, median, upper quartile.
    """
    runs = {}
    for name, path in paths.items():
        session = open_session(path, threads)
        feed = sample(session, picture)
        runs[name] = lambda session=session, feed=feed: session.run(None, feed)
    result = {name: {} for name in paths}
    times = time_blocks(runs, options.rounds, options.calls)
    for (key, to_model), values in zip(
        [("ms", "to model"), ("processor ms", "processor, to model")], times, strict=True
    ):
        for name, own in values.items():
            ratios = [a / b for a, b in zip(own, values[MODEL], strict=True)]
            result[name] |= {key: quartiles(own), to_model: quartiles(ratios)}
    return result


def largest_difference(first, second, picture=None):
    """Return the largest difference of the first outputs of two models."""
    sessions = [open_session(path, 1) for path in (first, second)]
    a, b = (session.run(None, sample(session, picture))[0] for session in sessions)
    if a.shape != b.shape:
        raise SystemExit(f"outputs of shapes {a.shape} and {b.shape}: no such reference")
    return float(np.abs(a.astype(np.float64) - b).max())


# ------------------------------------------------------------------------------ precision


def class_names(path):
    """Return the names of a model's classes, in order."""
    from evaluation.detectors import OnnxDetector

    return OnnxDetector(path, batch_size=1).classes


def score(path, data, classes):
    """Return pycocotools' scores of a model on the validation part of a data set.

    The classes are named because a reference may have other names for them.
    """
    from dataset import load_split
    from evaluation.detectors import OnnxDetector, detect
    from evaluation.metrics import coco_scores

    detector = OnnxDetector(path, batch_size=1)
    dataset = load_split(data, "val", classes, detector.image_size)
    scores = coco_scores(dataset, detect(detector, dataset, 1, progress=True))
    return {key: float(scores[key]) for key in ("map50_95", "map50")}


def first_picture(path, data):
    """Return the first validation picture as a model gets it, uint8 (size, size, 3)."""
    from dataset import load_split
    from evaluation.detectors import OnnxDetector

    detector = OnnxDetector(path, batch_size=1)
    return load_split(data, "val", detector.classes, detector.image_size, limit=1)[0].image


# ------------------------------------------------------------------------------ results


def cells(name, row):
    """Return a row of the table as a dict of text by column."""
    line = {"": name, "MB": f"{row['bytes'] / 1e6:.2f}", "nodes": f"{row['nodes']}"}
    line["optimized"] = str(row["optimized nodes"])
    line |= {column: str(row[column]) for column in COUNTED}
    for threads, latency in row["threads"].items():
        low, middle, high = latency["ms"]
        line[f"ms, {threads} thr."] = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        line[f"to model, {threads} thr."] = f"{latency['to model'][1]:.3f}"
    if "map50_95" in row:
        line |= {"mAP@0.5:0.95": f"{row['map50_95']:.4f}", "mAP@0.5": f"{row['map50']:.4f}"}
    return line


def format_table(rows):
    """Return all models as a table for people; a dash where a model wasn't scored."""
    lines = [cells(name, row) for name, row in rows.items()]
    columns = max(lines, key=len)
    table = [list(columns), *([line.get(column, "-") for column in columns] for line in lines)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in table
    )


def inverse(quarters):
    """Return the median and the quartiles of the inverse ratio, as text."""
    low, middle, high = (1 / value for value in reversed(quarters))
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def ratio_lines(rows):
    """Yield the model's ratios to each reference: below 1 where the model is faster."""
    for name in (REFERENCE, SAME_WEIGHTS):
        if name not in rows:
            continue
        for threads, latency in rows[name]["threads"].items():
            yield (
                f"ratio model to {name}, {threads} thread(s): {inverse(latency['to model'])}; "
                f"of the processors' time {inverse(latency['processor, to model'])}"
            )


def report(result):
    print(machine_line(result["machine"]))
    print(format_table(result["models"]))
    for line in ratio_lines(result["models"]):
        print(line)
    for name, difference in result["largest_difference"].items():
        print(f"largest difference of the outputs from {name}: {difference:.2g}")
    print("in brackets: the quartiles over the rounds")


def parse(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("model", type=Path, help="an ONNX file, or weights (.safetensors) that are exported first")
    add("--reference", type=Path, help="ONNX file with the same input")
    add("--variants", nargs="+", choices=VARIANTS, default=[], help="smaller models to make of it")
    add("--data", type=Path, metavar="SET", help="data set for int8 and for the mAP")
    add("--image-size", type=int, help="pixels, where weights are exported; default: theirs")
    add("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    add("--rounds", type=int, default=15, help="blocks of each model (%(default)s)")
    add("--calls", type=int, default=10, help="in a block (%(default)s)")
    results.add_options(parser)
    options = parser.parse_args(arguments)
    for name in ("rounds", "calls"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    if min(options.threads) < 1:
        parser.error("--threads must be at least 1")
    if "int8" in options.variants and options.data is None:
        parser.error("int8 is calibrated on pictures: give --data")
    from_weights = options.model.suffix == ".safetensors"
    if "float16" in options.variants and not from_weights:
        parser.error("float16 is exported from weights: give a .safetensors file as the model")
    if options.image_size is not None and not from_weights:
        parser.error("--image-size is for weights; an ONNX file has its own")
    return options


def main(arguments=None):
    """Measure as the command line says; return the results, as ``--json`` has them."""
    options = parse(arguments)
    use_demo()
    with TemporaryDirectory() as folder:
        paths = collect(options, Path(folder))
        picture = None if options.data is None else first_picture(paths[MODEL], options.data)
        rows = {name: describe(path) | {"threads": {}} for name, path in paths.items()}
        for threads in options.threads:
            for name, latency in measure(paths, threads, options, picture).items():
                rows[name]["threads"][threads] = latency
        for name, path in paths.items():
            if options.data is not None and name != REFERENCE:
                rows[name] |= score(path, options.data, class_names(paths[MODEL]))
        result = {
            "machine": machine(),
            "rounds": options.rounds,
            "calls": options.calls,
            "models": rows,
            "largest_difference": {
                name: largest_difference(paths[MODEL], paths[name], picture)
                for name in paths
                if name not in (MODEL, REFERENCE)
            },
        }
    report(result)
    figures = {"largest difference": result["largest_difference"], **rows}
    results.save(options, result, figures, result["machine"])
    return result


if __name__ == "__main__":
    main()
