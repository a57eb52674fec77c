"""Build the browser page of a detector: the runtime, a model and sample pictures inside of it.

    python -m tools.build_demo MODEL.onnx
    python -m tools.build_demo MODEL.onnx --int8 MODEL_int8.onnx     # smaller and faster
    python -m tools.build_demo MODEL.onnx --far MODEL_448.onnx       # two sizes of input to choose

Writes a folder ``page`` next to the model: ``yolo_detection_demo.html``, which loads the scripts in
``demo_assets``, and ``yolo_detection_single_file.html``, the whole page in one file.  Both work
opened from the disk, without a server or a network.  The same model gives the same files, byte for
byte.  ``--int8`` takes what ``tools.quantize`` has made of it, for WebAssembly; WebGPU computes no
such integers, so it gets the floats, in a script of their own.  The page in the repository is
written by ``.ci/page.py`` alone.

It needs onnxruntime-web and esbuild in ``node_modules``: ``bash setup.sh`` puts them there, or
``npm ci`` in this folder.
"""

import base64
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

from commandline import Parser, existing, output_folder


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=existing, help="ONNX file of a detector")
    parser.add_argument(
        "--output", type=output_folder, metavar="DIR",
        help="another folder than 'page' next to the model")  # fmt: skip
    parser.add_argument(
        "--int8", type=existing, metavar="ONNX", help="the model in integers, by tools.quantize"
    )
    parser.add_argument(
        "--webgpu", action="store_true", help="put WebGPU's files into the single file (13 MB more)"
    )
    parser.add_argument(
        "--card", type=existing, metavar="JSON", help="the model's training data and scores"
    )
    parser.add_argument(
        "--far", type=existing, metavar="ONNX", help="the same weights at a larger size"
    )
    add = parser.add_mutually_exclusive_group().add_argument
    add("--samples", type=existing, metavar="PATH",
        help="data set, as for training; the page gets some of its validation pictures; "
        "default: drawn persons and phones, for a model that knows them")  # fmt: skip
    add("--no-samples", action="store_true", help="begin with an empty stage")
    return parser.parse_args(arguments)


if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    parse_arguments()

import numpy as np
import onnx
import zstandard
from dataset import load_split
from evaluation.detectors import CONFIDENCE, ModelError, OnnxDetector
from tools.reference import box_assets, reference_assets
from tools.samples import chosen_assets, data_assets
from tools.sizes import SizeError, size_patch, with_size
from tools.teaching import teaching_assets
from training.checkpoint import write_atomically

from pytensor.link.onnx import half_weights, optimized_graph

DEMO = Path(__file__).resolve().parents[1]
PAGE = "yolo_detection_demo.html"
SINGLE_FILE = "yolo_detection_single_file.html"
STYLE = "page/page.css"
NODE_MODULES = DEMO / "node_modules"
RUNTIME = "onnxruntime-web"
OF_RUNTIME = DEMO / "page/LICENSE.onnxruntime-web"
# Of each script its files, and how hard they are compressed. Those for WebGPU are of the
# kind that needs no JSPI, which not every browser has.
RUNTIMES = {
    "runtime": ("ort-wasm-simd-threaded", 19),
    "webgpu": ("ort-wasm-simd-threaded.asyncify", 12),
}
# Loaded if need be.
TEACH, WEBGPU = "demo_assets/teach.js", "demo_assets/webgpu.js"
FLOATS = "demo_assets/webgpu_model.js"
WEBGPU_MODEL = "model-webgpu"  # its asset, where WebAssembly runs another form
LATER = r'<script id="[\w-]+" type="text/plain" src="(?P<file>.*?)"></script>'


class BuildError(Exception):
    """The page can't be built; the message says why and what helps."""


# ------------------------------------------------------------------------------ scripts


def asset_script(assets, level=19):
    """Write the script that puts assets (bytes by name) in the page; see ``src/page/assets.js``."""
    compress = zstandard.ZstdCompressor(level).compress  # base64 of Zstandard
    texts = {name: base64.b64encode(compress(data)).decode() for name, data in assets.items()}
    return "".join(f'demoAssets.add("{name}", "{text}");\n' for name, text in texts.items())


def assets_of(text):
    """Return the assets of a script, bytes by name."""
    calls = re.findall(r'^demoAssets\.add\("(.*?)", "(.*?)"\);$', text, re.MULTILINE)
    return {name: zstandard.decompress(base64.b64decode(data)) for name, data in calls}


def runtime_problem():
    """Return why a page can't be built from what npm has installed, or None."""
    fix = f"run 'bash setup.sh', or 'npm ci --omit=dev' in {DEMO}"
    wanted = json.loads((DEMO / "package.json").read_text(encoding="utf-8"))["dependencies"]
    for name, version in wanted.items():
        package = NODE_MODULES / name / "package.json"
        if not package.is_file():
            return f"{name} is missing from {NODE_MODULES}: {fix}"
        found = json.loads(package.read_text(encoding="utf-8"))["version"]
        if found != version:
            return f"{package.parent} is version {found}, and {version} is needed: {fix}"
    return None if find_esbuild() else f"esbuild is there for another system only: {fix}"


def find_esbuild():
    """Return the bundler's program, which npm installs for the present system; None without."""
    programs = [
        *NODE_MODULES.glob("@esbuild/*/bin/esbuild"),
        *NODE_MODULES.glob("@esbuild/*/*.exe"),
    ]
    return programs[0] if programs else None


def bundle(entry, *options):
    """Return one classic script of a module below ``page/src`` and all that it imports."""
    command = [find_esbuild(), f"page/src/{entry}", "--bundle", *(options or ["--format=iife"])]
    command += ["--target=es2023", "--charset=utf8", "--log-level=warning", "--minify-whitespace"]
    # The runtime's variant whose WebAssembly, and the script around it, are next to it.
    command.append("--conditions=onnxruntime-web-use-extern-wasm")
    result = subprocess.run(command, cwd=DEMO, capture_output=True, text=True, encoding="utf-8")
    if result.returncode:
        raise BuildError(f"esbuild can't bundle page/src/{entry}:\n{result.stderr.strip()}")
    return result.stdout


def page_script():
    """Return the page's program, with the worker's as a text in it, and all parts' licences."""
    notices = resources.files("onnxruntime") / "ThirdPartyNotices.txt"
    licences = DEMO.parents[2] / "LICENSE", NODE_MODULES / "zstddec/LICENSE", OF_RUNTIME, notices
    asset = "\n\n".join(path.read_text(encoding="utf-8") for path in licences).encode()
    worker = json.dumps(bundle("worker/worker.js"))
    program = f"const WORKER_TEXT = {worker};\n{bundle('page/main.js')}"
    project = tomllib.loads((DEMO.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    repository = project["project"]["urls"]["Repository"].encode()
    return program + asset_script({"licences": asset, "repository": repository})


def later_program(entry, head=""):
    """Return the call that gives the page, or its worker, a module of ``page/src/teach``.

    What it imports from elsewhere the running program has; see ``page/src/page/teach_loader.js``.
    """
    others = "../count/*", "../page/*", "../worker/*", f"{RUNTIME}/*"
    text = bundle(entry, "--format=cjs", *(f"--external:{name}" for name in others))
    return f"demoTeach((require, module) => {{\n{head}{text}}});\n"


def teach_script():
    """Return the program for teaching, with the worker's part as a text in it."""
    lesson = json.dumps(later_program("teach/teaching.js"))
    return later_program("teach/panel.js", f"const LESSON_TEXT = {lesson};\n")


@cache
def runtime_script(name):
    """Return the script of onnxruntime-web's WebAssembly for the page; `name` is of `RUNTIMES`."""
    file, level = RUNTIMES[name]
    dist = NODE_MODULES / RUNTIME / "dist"
    assets = {f"{name}-{end}": (dist / f"{file}.{end}").read_bytes() for end in ("mjs", "wasm")}
    licence = OF_RUNTIME.read_text(encoding="utf-8")
    digest = hashlib.sha256(b"".join(assets.values())).hexdigest()
    head = f"/*!\n{RUNTIME}, compressed; sha256 of its files {digest}\n\n{licence}*/\n"
    # Compressing this one takes ten seconds: the one in the repository is as good.
    present = DEMO / "demo_assets/runtime.js"
    if name == "runtime" and present.exists():
        text = present.read_text(encoding="utf-8")
        if text.startswith(head) and assets_of(text) == assets:
            return text
    return head + asset_script(assets, level)


# ------------------------------------------------------------------------------ model


def load_detector(path, card=None):
    """Read an ONNX file that the page can use, and run it once on a grey picture.

    `card` has texts that count more than the file's metadata of the same names; see `read_card`.

    Returns
    -------
    detector : OnnxDetector
    model : onnx.ModelProto
    facts : dict
        As ``Facts`` of ``page/src/worker/onnx_read.js``: ``names``, ``confidence``,
        ``thresholds``, ``iou``, ``size``, ``trainedOn``, ``licence``, ``scores``.

    Raises
    ------
    BuildError
        If it isn't float32 ``(1 or N, 3, S, S)`` to ``(1, 4 + classes, anchors)``, says thresholds
        that aren't from 0 to 1 or of other classes, or the card has scores of other classes.
    """
    try:
        detector = OnnxDetector(path, batch_size=1, form="yolo11")
    except ModelError as error:
        raise BuildError(" ".join(str(error).split())) from error
    model = onnx.load(path, load_external_data=False)
    if any(weight.external_data for weight in model.graph.initializer):
        raise BuildError(f"{path} keeps weights in another file; export it as one file")
    (image,) = (i for i in model.graph.input if i.name == detector.input_name)
    if detector.batch_size != 1 or image.type.tensor_type.elem_type != onnx.TensorProto.FLOAT:
        raise BuildError(f"{path} doesn't take one picture as float32; export it with export.py")
    output = detector(np.full((1, 3, detector.image_size, detector.image_size), 114, np.uint8))
    if not np.isfinite(output).all():
        raise BuildError(f"{path} gives numbers that aren't finite for a grey picture")
    metadata = {entry.key: entry.value for entry in model.metadata_props} | (card or {})
    said = {
        "names": detector.classes,
        "confidence": float(metadata.get("conf", CONFIDENCE)),
        "thresholds": json.loads(metadata.get("thresholds", "{}")),
        "iou": detector.suppression.iou,
        "size": detector.image_size,
        "trainedOn": metadata.get("trained_on", ""),
        "licence": metadata.get("license", ""),
        "scores": scores_of(metadata.get("average_precision", "null")),
    }
    others = {*(said["scores"] or {"perClass": ()})["perClass"]} - {*detector.classes}
    if others:
        raise BuildError(
            f"the average precision that is said of {path} is of another model: it has no "
            f"{', '.join(sorted(others))}"
        )
    return detector, model, said


def scores_of(text):
    """Return the average precision that metadata give as JSON, as the page's facts have it.

    None where there is none, or one of another form than `export.export_detector` writes.
    """
    try:
        scores = json.loads(text)
        rows = [(row["map50"], row["map50_95"]) for row in scores["per_class"].values()]
        fits = all(v is None or 0 <= v <= 1 for row in rows for v in row)
        return {"on": str(scores["on"]), "perClass": scores["per_class"]} if fits else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def read_card(path):
    """Read what is to be said of a model whose file doesn't say it: a JSON file.

    It may have ``trained_on``, ``license`` (texts) and ``average_precision``: ``on``, what that was
    measured on, and ``per_class``, by the classes' names ``map50`` and ``map50_95``.

    Returns
    -------
    dict of str to str
        As metadata of an ONNX file.

    Raises
    ------
    BuildError
        If it has another form.
    """
    try:
        card = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BuildError(f"the card {path} is no JSON: {error}") from error
    if not isinstance(card, dict):
        raise BuildError(f"the card {path} is no JSON of an object")
    wrong = {*card} - {"trained_on", "license", "average_precision"}
    if "average_precision" in card:
        card["average_precision"] = json.dumps(card["average_precision"])
    if "average_precision" in card and scores_of(card["average_precision"]) is None:
        wrong = {"average_precision"}
    if wrong:
        raise BuildError(
            f"the card {path} has a wrong {', '.join(sorted(wrong))}; it takes trained_on, "
            "license and average_precision, with 'on' and 'per_class'"
        )
    return card


def hash_of(path):
    """Return the SHA-256 of a file, as hexadecimal digits."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def model_assets(name, file, weights, data, facts, export):
    """Return a model as the page gets it, and what is known of it; see `load_detector`.

    `export` is the SHA-256 of the file that all forms of the model were made of.
    """
    info = {
        "file": file,
        "export": export,
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "weights": weights,
        "facts": facts,
    }
    return {name: data, f"{name}-info": json.dumps(info, sort_keys=True).encode()}


# ------------------------------------------------------------------------------ page


def source_hash(text):
    """Return how a Content Security Policy names an inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def single_file(html, files, later=()):
    """Return the page with its scripts and styles in it; its policy names them by their hashes.

    Parameters
    ----------
    html : str
        The page, which loads its scripts and styles from files.
    files : dict of str to str
        Their contents, by the names that the page calls them by.
    later : collection of str
        Which of the scripts that the page would load if need be are put into it, too.
    """
    hashes = {"script": [], "style": []}

    def inline(match):
        kind = "script" if match["script"] else "style"
        text = files[match[kind]]
        if re.search(f"</{kind}|<!--", text, re.IGNORECASE):
            raise BuildError(f"{match[kind]} holds what would end its element within the page")
        hashes[kind].append(source_hash(text))
        return f"<{kind}>{text}</{kind}>"

    def decide(match):
        wanted = match["file"] in later
        return f'    <script src="{match["file"]}"></script>\n' if wanted else ""

    loads = r'<script src="(?P<script>.*?)"></script>|<link rel="stylesheet" href="(?P<style>.*?)">'
    html = re.sub(f" *{LATER}\n", decide, html)
    html = re.sub(loads, inline, html)
    for kind, allowed in hashes.items():
        html = html.replace(f"{kind}-src 'self'", f"{kind}-src {' '.join(allowed)}", 1)
    # By it, a page that is open finds out that the server has another one; see `page/sw.js`.
    version = hashlib.sha256(html.encode()).hexdigest()[:16]
    return html.replace('data-version=""', f'data-version="{version}"', 1)


def far_patch(model_path, far, graph=None):
    """Return what makes a model one for far things, by its export at a larger size.

    `graph` is the optimized one, which the page patches.  BuildError if one of them doesn't fit.
    """
    detector, model, _ = load_detector(model_path)
    other, larger, _ = load_detector(far)
    if other.image_size <= detector.image_size:
        raise BuildError(
            f"{far} takes {other.image_size} pixels; for far things, export more than the "
            f"{detector.image_size} of {model_path}"
        )
    try:
        patch = size_patch(model, larger)
        with_size(graph or model, patch)
    except SizeError as error:
        raise BuildError(f"{far} is no larger export of {model_path}: {error}") from error
    return patch


def page_scripts(model_path, int8=None, export=None, card=None, far=None, samples=None):
    """Return the scripts that every page has: its program, the runtime, the model, teaching.

    Parameters
    ----------
    model_path, int8
        As of `build`.
    export : str, optional
        SHA-256 of the exported model that `int8` was made of, by default that of `model_path`.
    card : path-like, optional
        See `read_card`.
    far, samples : optional
        As of `build`.

    Returns
    -------
    dict of str to str
        Contents by name.

    Raises
    ------
    BuildError
    """
    shown = Path(int8 or model_path)
    detector, model, facts = load_detector(shown, card and read_card(card))
    if int8 is not None and export is None:
        _, _, whole = load_detector(model_path)
        if any(facts[key] != whole[key] for key in ("names", "size")):
            raise BuildError(
                f"{int8} is no form of {model_path}: it has other classes or another size"
            )
    weights = "float32" if int8 is None else "int8"
    data = shown.read_bytes()
    assets = model_assets("model", shown.name, weights, data, facts, export or hash_of(model_path))
    graph = optimized_graph(shown, "model")
    samples = (samples or chosen_assets)(detector)
    boxes = box_assets("model", shown, samples)
    assets |= {"model-graph": graph.SerializeToString(deterministic=True)}
    assets |= teaching_assets(model) | boxes
    if far is not None:
        patch = far_patch(model_path, far, graph)
        assets["model-far"] = patch.SerializeToString(deterministic=True)
    if int8 is None:
        assets |= reference_assets("model", data, facts["size"], samples | boxes)
    return {
        "demo_assets/page.js": page_script(),
        "demo_assets/runtime.js": runtime_script("runtime"),
        "demo_assets/model.js": asset_script(assets | samples),
        TEACH: teach_script(),
    }


def floats_script(model_path, samples, far=None):
    """Return the script with a model's weights in 16-bit floats, for WebGPU.

    `samples` are the assets of the page's samples; `far` is as of `build`.
    """
    _, model, facts = load_detector(model_path)
    patched = [] if far is None else [a.name for a in far_patch(model_path, far).initializer]
    half = half_weights(model, exclude=patched).SerializeToString(deterministic=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "half.onnx"
        path.write_bytes(half)
        boxes = box_assets(WEBGPU_MODEL, path, samples)
    name, export = Path(model_path).name, hash_of(model_path)
    assets = model_assets(WEBGPU_MODEL, name, "float16", half, facts, export) | boxes
    return asset_script(
        assets | reference_assets(WEBGPU_MODEL, half, facts["size"], samples | boxes)
    )


def build(
    model_path, output=None, int8=None, webgpu=False, card=None, far=None, samples=None
):  # fmt: skip
    """Build the page of a detector.

    Parameters
    ----------
    model_path : path-like
        An ONNX detector, as `export.export_detector` writes.
    output : path-like, optional
        The folder that receives the page, by default ``page`` next to the model.
    int8 : path-like, optional
        What `tools.quantize` has made of the model; the page runs it on WebAssembly.
    webgpu : bool
        Put what WebGPU needs into the single file, too.
    card : path-like, optional
        What the page says of the model; see `read_card`.
    far : path-like, optional
        An export of the same weights at a larger size, which the page offers for far things.
    samples : callable, optional
        Makes the assets of the page's samples for a detector; by default `samples.chosen_assets`.

    Returns
    -------
    dict
        ``page`` and ``single_file`` (absolute paths), ``files`` (bytes by path relative to
        `output`).

    Raises
    ------
    BuildError
        Before anything is written.
    OSError
        If a file can't be written; each file is the old one or the new one, whole.
    """
    for path in filter(None, (model_path, int8, card, far)):
        if not Path(path).is_file():
            raise BuildError(f"{path} does not exist")
    output = Path(model_path).parent / "page" if output is None else Path(output)
    output = output.resolve()
    if output in (DEMO, DEMO / "page"):
        raise BuildError(f"{output} holds files of the repository: name another folder by --output")
    if problem := runtime_problem():
        raise BuildError(problem)
    later = {WEBGPU: runtime_script("webgpu")}
    files = page_scripts(model_path, int8, card=card, far=far, samples=samples)
    if int8 is not None:
        later[FLOATS] = floats_script(model_path, assets_of(files["demo_assets/model.js"]), far)
    files |= later
    files["demo_assets/page.css"] = (DEMO / STYLE).read_text(encoding="utf-8")
    html = (DEMO / PAGE).read_text(encoding="utf-8").replace(STYLE, "demo_assets/page.css")
    inside = [TEACH, *(later if webgpu else ())]
    files |= {PAGE: html, SINGLE_FILE: single_file(html, files, inside)}
    written = {name: text.encode() for name, text in files.items()}
    for name, data in written.items():
        target = output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(target, data)
    if int8 is None:
        (output / FLOATS).unlink(missing_ok=True)  # another model's
    return {
        "page": output / PAGE,
        "single_file": output / SINGLE_FILE,
        "files": {name: len(data) for name, data in written.items()},
    }


def no_samples(_):
    """Return the assets of a page without samples."""
    return {"samples": b"[]"}


def samples_of(path):
    """Return what makes samples of the validation pictures of a data set; see `build`."""

    def samples(detector):
        try:
            dataset = load_split(path, "val", detector.classes, detector.image_size)
        except (OSError, ValueError) as error:
            raise BuildError(f"--samples {path}: {error}") from error
        return data_assets(detector, dataset)

    return samples


def how_to_open(report):
    """Return lines that name what was built and how to open it."""
    return [
        f"page: {report['page']}",
        f"in a single file: {report['single_file']}",
        "open either in a browser; python -m tools.serve_demo --page FILE serves the single one",
    ]


def main(arguments=None):
    """Build as the command line says; the exit code."""
    o = parse_arguments(arguments)
    samples = no_samples if o.no_samples else samples_of(o.samples) if o.samples else None
    try:
        report = build(o.model, o.output, o.int8, o.webgpu, o.card, o.far, samples)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, size in report["files"].items():
        print(f"wrote {name}: {size / 1e6:.2f} MB")
    print(*how_to_open(report), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
