"""The detection page in Chromium: milliseconds per frame, files, and time to the first result.

    python -m benchmarks.page.browser MODEL.onnx [--reference FILE.onnx] [--record]

The page is built from MODEL into a temporary folder.  Frames are measured by the page's own code
(letterbox, onnxruntime-web, non-maximum suppression in its worker), with one thread as opened from
disk and with two as served by `serve_demo.py`.  Both models run in the same page in alternating
blocks: on a shared machine only their ratio means something.  Times are the median and the 90th
percentile of all frames; the ratio is that of each round's medians, in the middle of all rounds,
with the lowest and the highest.

``--webgpu`` adds WebGPU, and refuses an adapter in software: its times say nothing.
"""

import argparse
import base64
import statistics
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.common import results
from benchmarks.common.machine import machine
from benchmarks.common.step_sides import DEMO
from benchmarks.common.timing import summarize

sys.path.insert(0, str(DEMO))

from tools.build_demo import BuildError, build
from tools.compare_runtimes import BrowserError, open_page, wait_for, wait_ready
from tools.serve_demo import Server

STAGES = {  # of the page's times, in ms
    "pre": "letterbox",
    "inference": "inference",
    "post": "suppression",
    "loop": "whole frame",
}
THREADS = 2  # of the served page, however many cores there are


@contextmanager
def served(page):
    """Serve a page with the headers that threads need; yield its address."""
    server = Server(page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ------------------------------------------------------------------------------ frames

# Loads a model, and detects in the first sample again and again; a frame counts from the copy of
# the picture to its drawn boxes. The first frames are for warming up.
BLOCK = """async ([name, base64, frames]) => {
  const answer = await fetch(`data:application/octet-stream;base64,${base64}`);
  await demo.loadModel(new Uint8Array(await answer.arrayBuffer()), name);
  const picture = document.querySelector("#samples img");
  const bitmap = await createImageBitmap(await (await fetch(picture.src)).blob());
  const times = {pre: [], inference: [], post: [], loop: []};
  for (let frame = -5; frame < frames; frame += 1) {
    const begun = performance.now();
    const last = await demo.detectImage(bitmap);
    if (frame < 0) continue;
    times.loop.push(performance.now() - begun);
    for (const part of ["pre", "inference", "post"]) times[part].push(last.times[part]);
  }
  bitmap.close();
  return {info: demo.info, times};
}"""


def measure_frames(page_address, models, options, backend="wasm", threads=1):
    """Time all models in one page, in alternating blocks of frames.

    Parameters
    ----------
    page_address : str or path-like
    models : dict of str to path-like
        Model files by the name that results have.
    options : argparse.Namespace
        ``frames`` of a block, and ``rounds``.
    backend : {"wasm", "webgpu"}
    threads : int
        Of WebAssembly.

    Returns
    -------
    list of dict
        Of each model: ``name``, ``size``, the ``median`` and ``p90`` of each stage in ms, and
        ``inferenceByRound``.

    Raises
    ------
    BrowserError
        If the page runs in another way than asked for.
    """
    files = {
        name: base64.b64encode(Path(path).read_bytes()).decode() for name, path in models.items()
    }
    results = {name: {stage: [] for stage in STAGES} | {"rounds": []} for name in models}
    webgpu = "hardware" if backend == "webgpu" else None
    with open_page(page_address, webgpu=webgpu, backend=backend, threads=threads) as page:
        check_way(wait_ready(page), backend, threads)
        for round_number in range(options.rounds):
            # Every second round goes backwards, so that none is always first.
            for name in sorted(files, reverse=bool(round_number % 2)):
                block = page.evaluate(BLOCK, [name, files[name], options.frames])
                check_way(block["info"], backend, threads)
                results[name]["size"] = block["info"]["size"]
                for stage in STAGES:
                    results[name][stage] += block["times"][stage]
                results[name]["rounds"].append(statistics.median(block["times"]["inference"]))
    return [
        {"name": name, "size": found["size"], "inferenceByRound": found["rounds"]}
        | {stage: spread(found[stage]) for stage in STAGES}
        for name, found in results.items()
    ]


def spread(times):
    """Return the median and the 90th percentile."""
    return {"median": float(np.median(times)), "p90": float(np.quantile(times, 0.9))}


def check_way(info, backend, threads):
    """Raise BrowserError unless a model runs as asked for; `info` is what the page says of it."""
    if info["backend"] != backend:
        raise BrowserError(f"the page runs on {info['backend']}, not {backend}: {info['note']}")
    if backend == "wasm" and info["threads"] != threads:
        raise BrowserError(f"the page runs with {info['threads']} thread(s), not {threads}")
    if "software" in info["note"]:
        raise BrowserError(f"{info['note']}: its times would say nothing; leave --webgpu out")


def all_frames(single_file, models, options):
    """Time all ways to run, by title; see `measure_frames`."""
    results = {}
    if options.webgpu:
        results["WebGPU (file://)"] = measure_frames(single_file, models, options, "webgpu")
    results["wasm, 1 thread (file://)"] = measure_frames(single_file, models, options)
    with served(single_file) as address:
        results[f"wasm, {THREADS} threads (served)"] = measure_frames(
            address, models, options, threads=THREADS
        )
    return results


def ratios(models):
    """Return, by round, the first model's median inference time over the second's."""
    first, second = (model["inferenceByRound"] for model in models)
    return summarize([a / b for a, b in zip(first, second, strict=True)])


# ------------------------------------------------------------------------------ opening


def time_opening(page_file):
    """Time a page from opening to the detections of its first sample picture, in seconds.

    The browser is a new one with an empty profile, so nothing is left from an earlier opening but
    what the system keeps of the files.
    """
    with open_page(page_file) as page:
        wait_ready(page)
        shown = "() => window.demo.firstResultMs"
        return wait_for(page, shown, 60, "the first sample's detections are shown") / 1000


def all_openings(pages, openings):
    """Return summaries of `time_opening` by title; the pages take turns."""
    times = {title: [] for title in pages}
    for _ in range(openings):
        for title, page in pages.items():
            times[title].append(time_opening(page))
    return {title: summarize(values) for title, values in times.items()}


# ------------------------------------------------------------------------------ results


def print_frames(results):
    """Print a table for each way to run: every stage of every model, and inference's ratio."""
    for title, models in results.items():
        print(f"\n{title}: ms per frame, median / 90th percentile")
        print(f"{'':>12}" + "".join(f"{model['name']:>20}" for model in models))
        for stage, words in STAGES.items():
            cells = [f"{m[stage]['median']:.2f} / {m[stage]['p90']:.2f}" for m in models]
            print(f"{words:>12}" + "".join(f"{cell:>20}" for cell in cells))
        if len(models) > 1:
            ratio = ratios(models)
            print(
                f"inference, model / reference: {ratio['median']:.3f} "
                f"({ratio['min']:.3f} to {ratio['max']:.3f} of the rounds)"
            )


def print_sizes(sizes):
    """Print every file's size in millions of bytes."""
    print("\nfiles, MB")
    for path, size in sizes.items():
        print(f"{path:>36}{size / 1e6:>10.2f}")


def print_openings(openings):
    """Print the seconds to the first result."""
    print("\nfrom opening to the first result, s")
    for title, value in openings.items():
        print(f"{title:>36}{value['median']:>10.2f} ({value['min']:.2f} to {value['max']:.2f})")


def figures(result):
    """Return the figures for the table of results."""
    found = {
        f"{title}, ms": {m["name"]: {stage: m[stage] for stage in STAGES} for m in models}
        for title, models in result["frames"].items()
    }
    for title, models in result["frames"].items():
        if len(models) > 1:
            found[f"{title}, model / reference"] = ratios(models)
    opening = {"from opening to the first result, seconds": result["openings"]}
    return found | opening | {"bytes": result["files"]}


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument("--reference", metavar="FILE.onnx", help="another model, of the same size")
    parser.add_argument("--frames", type=int, default=30, help="of a block; default: 30")
    parser.add_argument("--rounds", type=int, default=10, help="blocks of a model; default: 10")
    parser.add_argument("--openings", type=int, default=5, help="of each page; default: 5")
    parser.add_argument("--webgpu", action="store_true", help="on a graphics processor as well")
    results.add_options(parser)
    options = parser.parse_args(arguments)
    for name in ("frames", "rounds", "openings"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1, got {getattr(options, name)}")
    return options


def run(options):
    """Measure everything and print it; all results as a dict."""
    models = {"model": options.model}
    if options.reference:
        models["reference"] = options.reference
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = build(options.model, output=folder, webgpu=options.webgpu)
        result = {"machine": machine(), "arguments": models}
        result["files"] = report["files"]
        print_sizes(result["files"])
        result["frames"] = all_frames(report["single_file"], models, options)
        print_frames(result["frames"])
        pages = {"page with its files": report["page"], "single file": report["single_file"]}
        result["openings"] = all_openings(pages, options.openings)
        print_openings(result["openings"])
    return result


def main(arguments=None):
    """Measure as the command line says; the exit code."""
    options = parse_arguments(arguments)
    try:
        result = run(options)
        results.save(options, result, figures(result), result["machine"])
    except (BrowserError, BuildError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
