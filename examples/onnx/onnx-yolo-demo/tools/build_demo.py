"""Build the browser page of a detector: the runtime, a model and sample pictures inside of it.

    python -m tools.build_demo yolo11n.onnx
    python -m tools.build_demo yolo11n.onnx --weights-fp16      # half the size

Writes ``demo_assets/*.js``, which ``yolo_detection_demo.html`` loads, and
``dist/yolo_detection_demo.html``, the whole page in one file.  Both work opened from the disk,
without a server or a network.  The same model gives the same files, byte for byte.

It needs onnxruntime-web in ``node_modules``: ``bash setup.sh`` puts it there, or ``npm ci`` in
this folder.
"""

import argparse
import ast
import base64
import gzip
import hashlib
import io
import json
import shlex
import sys
from pathlib import Path

import numpy as np
from data.synthetic.scenes import PERSON, PHONE, sample_scene
from PIL import Image
from tools.single_file import PageError, inline_page
from training.checkpoint import write_atomically

DEMO = Path(__file__).resolve().parents[1]
PAGE = "yolo_detection_demo.html"
RUNTIME = "onnxruntime-web"
RUNTIME_FILES = {
    "runtime": "ort.webgpu.min.js",
    "runtime-module": "ort-wasm-simd-threaded.asyncify.mjs",
    "wasm": "ort-wasm-simd-threaded.asyncify.wasm",
}
MAX_SINGLE_FILE = 23_000_000  # bytes
# Of it, what is no model: the runtime, the page and the samples.
MAX_WITHOUT_MODEL = 10_000_000

# Width, height and number of the scenes shown: the first ones of their size in which everything is
# whole and near, in every other one both a person and a phone. What a model finds has no say.
SAMPLES = [
    (640, 480, 119), (480, 640, 1), (640, 640, 98), (640, 480, 9), (480, 640, 8), (640, 640, 7),
]  # fmt: skip
SAMPLE_SEED = 11
# Training draws its pictures from [seed, 0, index] and [seed, 1, index]: none of these.
SAMPLE_SPLIT = 2
SAMPLE_QUALITY = 90

INSTALL = "run 'bash setup.sh', or 'npm ci --omit=dev' in"
# onnxruntime-web carries no file of its licence; these are the words that its project gives.
LICENCE = """MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE."""


class BuildError(Exception):
    """The page can't be built; the message says why and what helps."""


# ------------------------------------------------------------------------------ assets


def pack(data):
    """Bytes as base64 of gzip, without a date, a name or the system's in it."""
    packed = bytearray(gzip.compress(data, 9, mtime=0))
    packed[9] = 255  # system: unknown; versions of Python differ in it
    return base64.b64encode(packed).decode()


def asset_script(assets, banner=""):
    """The script that puts assets into the page.

    Parameters
    ----------
    assets : dict of str to bytes
    banner : str
        A notice that stands in it as a comment.

    Returns
    -------
    bytes
    """
    head = f"/*!\n{banner}\n*/\n" if banner else ""
    calls = [f'demoAssets.add({json.dumps(name)}, "{pack(data)}");\n' for name, data in
             assets.items()]  # fmt: skip
    return (head + "".join(calls)).encode()


def to_json(value):
    """Compact JSON as bytes, keys in a fixed order."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


# ------------------------------------------------------------------------------ runtime


def wanted_version(page_dir=DEMO):
    """The version of onnxruntime-web that package.json pins."""
    package = json.loads((Path(page_dir) / "package.json").read_text(encoding="utf-8"))
    return package["dependencies"][RUNTIME]


def runtime_problem(node_modules=DEMO / "node_modules"):
    """Why a page can't be built from the installed onnxruntime-web, or None."""
    folder = Path(node_modules) / RUNTIME
    fix = f"{INSTALL} {DEMO}"
    package = folder / "package.json"
    if not package.is_file():
        return f"{RUNTIME} is missing from {node_modules}: {fix}"
    try:
        version = json.loads(package.read_text(encoding="utf-8"))["version"]
    except (ValueError, KeyError, OSError):
        return f"{package} can't be read: {fix}"
    if version != wanted_version():
        return f"{folder} is version {version}, and {wanted_version()} is needed: {fix}"
    for file in RUNTIME_FILES.values():
        if not (folder / "dist" / file).is_file():
            return f"{folder / 'dist' / file} is missing: {fix}"
    return None


def runtime_scripts(node_modules):
    """The scripts runtime.js and wasm.js."""
    if problem := runtime_problem(node_modules):
        raise BuildError(problem)
    dist = Path(node_modules) / RUNTIME / "dist"
    files = {name: (dist / file).read_bytes() for name, file in RUNTIME_FILES.items()}
    version = wanted_version()
    banner = f"{RUNTIME} {version}, gzip-compressed\n\n{LICENCE}"
    wasm = files.pop("wasm")
    files["versions"] = to_json({RUNTIME: version})
    return {
        "runtime.js": asset_script(files, banner),
        "wasm.js": asset_script({"wasm": wasm}, banner),
    }


# ------------------------------------------------------------------------------ model


def load_detector(path):
    """Read an ONNX file, and see that it is a detector that the page can use.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    BuildError
    """
    import onnx

    path = Path(path)
    if not path.is_file():
        raise BuildError(f"{path}: there is no such file; name the ONNX model of a training")
    try:
        model = onnx.load(path, load_external_data=False)
        if not model.graph.node:
            raise ValueError("it has no graph")
        if any(weight.external_data for weight in model.graph.initializer):
            raise BuildError(f"{path} keeps weights in another file; export it as one file")
        onnx.checker.check_model(model)
    except (ValueError, onnx.checker.ValidationError, _decode_error()) as error:
        raise BuildError(f"{path} is not an ONNX model: {_first_line(error)}") from error
    check_detector(path, model)
    return model


def _decode_error():
    from google.protobuf.message import DecodeError

    return DecodeError


def _first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def check_detector(path, model):
    """Run the model once on a grey picture, and check shapes, types and metadata.

    Raises
    ------
    BuildError
        If it isn't ``(1 or N, 3, S, S)`` to ``output0 (1, 4 + classes, anchors)`` in float32.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what goes wrong is in the exception
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own classes have no common base but this
        raise BuildError(f"{path}: onnxruntime can't load it: {_first_line(error)}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    side = _input_side(path, inputs)
    found = "; ".join(_describe(value) for value in outputs)
    if [value.name for value in outputs] != ["output0"] or outputs[0].type != "tensor(float)":
        raise BuildError(
            f"{path}: its outputs are {found}; the page needs one, output0 float32 "
            "(1, 4 + classes, anchors)"
        )
    grey = np.full((1, 3, side, side), 0.5, dtype=np.float32)
    try:
        (output,) = session.run(None, {inputs[0].name: grey})
    except Exception as error:
        raise BuildError(f"{path}: onnxruntime can't run it: {_first_line(error)}") from error
    if output.ndim != 3 or output.shape[0] != 1 or output.shape[1] < 5 or not output.shape[2]:
        raise BuildError(
            f"{path}: its output has the shape {output.shape}; the page needs "
            "(1, 4 + classes, anchors)"
        )
    if not np.isfinite(output).all():
        raise BuildError(f"{path}: it gives numbers that aren't finite for a grey picture")
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    check_metadata(path, metadata, output.shape[1] - 4)


def _describe(value):
    return f"{value.name} {value.type} {value.shape}"


def _input_side(path, inputs):
    """Pixels of the model's square input."""
    shape = inputs[0].shape if len(inputs) == 1 else []
    square = len(shape) == 4 and isinstance(shape[2], int) and shape[2] == shape[3]
    batch = shape[0] if shape else None
    if (
        not square
        or shape[1] != 3
        or (isinstance(batch, int) and batch != 1)
        or inputs[0].type != "tensor(float)"
    ):
        found = "; ".join(map(_describe, inputs)) or "none"
        raise BuildError(
            f"{path}: its inputs are {found}; the page needs one, float32 (1 or open, 3, S, S)"
        )
    return shape[2]


def check_metadata(path, metadata, num_classes):
    """See that the metadata, where there are any, fit a detector of so many classes."""
    if metadata.get("task", "detect") != "detect":
        raise BuildError(f"{path}: its metadata say that its task is {metadata['task']!r}")
    if "names" not in metadata:
        return
    try:
        names = ast.literal_eval(metadata["names"])
        count = len(names)
    except (ValueError, SyntaxError, TypeError):
        raise BuildError(
            f"{path}: the class names in its metadata can't be read: {metadata['names'][:80]}"
        ) from None
    if count != num_classes:
        raise BuildError(
            f"{path}: its metadata name {count} classes, and its output has {num_classes}"
        )


def model_bytes(path, weights_fp16):
    """The model's file as the page gets it."""
    model = load_detector(path)
    if not weights_fp16:
        return Path(path).read_bytes()
    from pytensor.link.onnx import half_weights

    half = half_weights(model)
    check_detector(path, half)
    return half.SerializeToString(deterministic=True)


def model_script(path, weights_fp16=False):
    """The script model.js."""
    data = model_bytes(path, weights_fp16)
    info = {
        "file": Path(path).name,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": "float16" if weights_fp16 else "float32",
    }
    return asset_script({"model": data, "model-info": to_json(info)})


# ------------------------------------------------------------------------------ samples


def sample_scene_of(index):
    """Draw the scene of a sample: (uint8 image (height, width, 3), its `SceneObject`s)."""
    width, height, number = SAMPLES[index]
    rng = np.random.default_rng([SAMPLE_SEED, SAMPLE_SPLIT, index, number])
    return sample_scene(rng, (width, height))


def draw_sample(index):
    """Draw a sample picture.

    Returns
    -------
    image : uint8 array, (height, width, 3)
    title : str
        What is to be seen.
    """
    image, objects = sample_scene_of(index)
    kinds = [thing.category_id for thing in objects]
    return image, _title(kinds.count(PERSON), kinds.count(PHONE))


def _title(persons, phones):
    counts = [(persons, "person"), (phones, "cell phone")]
    return ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for n, name in counts if n)


def samples_script():
    """The script samples.js."""
    assets, listed = {}, []
    for index in range(len(SAMPLES)):
        image, title = draw_sample(index)
        stream = io.BytesIO()
        # Colours at full resolution: the thin outlines of the drawings stay as they are.
        Image.fromarray(image).save(stream, "JPEG", quality=SAMPLE_QUALITY, subsampling=0)
        name = f"sample-{index + 1}"
        assets[name] = stream.getvalue()
        height, width = image.shape[:2]
        listed.append(
            {"asset": name, "title": title, "width": width, "height": height, "type": "image/jpeg"}
        )
    return asset_script({"samples": to_json(listed), **assets})


# ------------------------------------------------------------------------------ page


def single_file_html(page_dir, scripts):
    """The whole page in one file.

    Parameters
    ----------
    page_dir : path-like
        Folder of the page.
    scripts : dict of str to bytes
        The generated scripts, by their names in ``demo_assets``.

    Returns
    -------
    bytes

    Raises
    ------
    BuildError
        If the page can't be joined.
    """
    page_dir = Path(page_dir).resolve()

    def read(name):
        folder, _, file = name.partition("/")
        if folder == "demo_assets" and file in scripts:
            return scripts[file].decode()
        path = (page_dir / name).resolve()
        if not path.is_relative_to(page_dir):
            raise PageError(f"the page loads {name}, which is not in its folder")
        return path.read_text(encoding="utf-8")

    page = page_dir / PAGE
    try:
        return inline_page(page.read_text(encoding="utf-8"), read).encode()
    except PageError as error:
        raise BuildError(f"{page}: {error}") from error
    except FileNotFoundError as error:
        raise BuildError(f"{page}: the file {error.filename} of the page is missing") from error


def check_size(html, scripts, weights_fp16):
    """Refuse a single file that is too large; a warning, or None, if it is the model's doing."""
    if len(html) <= MAX_SINGLE_FILE:
        return None
    limit = f"{MAX_SINGLE_FILE / 1e6:.0f} MB"
    rest = len(html) - len(scripts["model.js"])
    if rest > MAX_WITHOUT_MODEL:
        raise BuildError(
            f"the single file would have {len(html) / 1e6:.1f} MB, more than {limit}, and "
            f"{rest / 1e6:.1f} MB of that without the model: a file of the page or the runtime "
            "has grown"
        )
    advice = "" if weights_fp16 else "; --weights-fp16 halves it"
    return (
        f"the single file has {len(html) / 1e6:.1f} MB, more than {limit}, for the model is large"
        f"{advice}"
    )


def copy_page(page_dir, output):
    """Put the page's own files beside its assets."""
    files = [page_dir / PAGE, *sorted(page_dir.glob("page/src/*.js")), *page_dir.glob("page/*.css")]
    for file in files:
        target = output / file.relative_to(page_dir)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, file.read_bytes())


def build(
    model_path,
    page_dir=DEMO,
    output=DEMO,
    node_modules=DEMO / "node_modules",
    weights_fp16=False,
    single_file=True,
):
    """Build the page of a detector.

    Parameters
    ----------
    model_path : path-like
        An ONNX detector, as `export.export_detector` writes.
    page_dir : path-like
        Folder of ``yolo_detection_demo.html`` and ``page/``.
    output : path-like
        Receives ``demo_assets/`` and ``dist/``, and the page's own files where it is another
        folder than `page_dir`.
    node_modules : path-like
        Where npm has put onnxruntime-web.
    weights_fp16 : bool
        Store the weights as float16.
    single_file : bool
        Write ``dist/yolo_detection_demo.html`` too.

    Returns
    -------
    dict
        ``page`` and ``single_file`` (absolute paths; None without), ``files`` (bytes by path
        relative to `output`), ``warnings`` (list of str).

    Raises
    ------
    BuildError
        Before anything is written.
    OSError
        If a file can't be written; each file is the old one or the new one, whole.
    """
    page_dir, output = Path(page_dir).resolve(), Path(output).resolve()
    scripts = runtime_scripts(node_modules)
    scripts["model.js"] = model_script(model_path, weights_fp16)
    scripts["samples.js"] = samples_script()
    files = {f"demo_assets/{name}": data for name, data in scripts.items()}
    warnings = []
    # Even if it isn't wanted: what it refuses, the page of many files must not have either.
    html = single_file_html(page_dir, scripts)
    if single_file:
        warning = check_size(html, scripts, weights_fp16)
        warnings += [warning] if warning else []
        files[f"dist/{PAGE}"] = html
    for name, data in files.items():
        target = output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)
    if output != page_dir:
        copy_page(page_dir, output)
    return {
        "page": output / PAGE,
        "single_file": output / "dist" / PAGE if single_file else None,
        "files": {name: len(data) for name, data in files.items()},
        "warnings": warnings,
    }


def how_to_open(report):
    """Lines that name what was built and how to open it."""
    lines = [f"page: {report['page']}"]
    if report["single_file"] is not None:
        lines.append(f"in a single file: {report['single_file']}")
    server = DEMO / "tools/serve_demo.py"
    folder = report["page"].parent
    other = [] if folder == DEMO else ["--directory", str(folder)]
    command = shlex.join([sys.executable, str(server), *other])
    lines.append(f"open either in a browser, or serve it (faster on CPUs): {command}")
    return lines


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="ONNX file of a detector")
    parser.add_argument(
        "--output", type=Path, default=DEMO, metavar="DIR", help="another folder for the page"
    )
    parser.add_argument(
        "--weights-fp16", action="store_true", help="store the weights as float16: half the size"
    )
    parser.add_argument(
        "--no-single-file", action="store_true", help="leave dist/ as it is: demo_assets/ alone"
    )
    options = parser.parse_args(arguments)
    try:
        report = build(
            options.model,
            output=options.output,
            weights_fp16=options.weights_fp16,
            single_file=not options.no_single_file,
        )
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, size in report["files"].items():
        print(f"wrote {name}: {size / 1e6:.2f} MB")
    for warning in report["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    print(*how_to_open(report), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
