"""Latency of an exported model in onnxruntime, beside a reference model's.

    python benchmarks/onnx_inference.py MODEL.onnx [--reference FILE.onnx] [--json OUT]

Both sides run in turn, in the same process, and the medians are compared: on a shared machine
only the ratio means something.
"""

import argparse
import json
import platform
import statistics
import time

import numpy as np
import onnx
import onnxruntime


def open_session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def sample(session):
    """Random images of the model's input shape; one where the batch is open."""
    (spec,) = session.get_inputs()
    shape = [n if isinstance(n, int) else 1 for n in spec.shape]
    return {spec.name: np.random.default_rng(0).random(shape, dtype=np.float32)}


def alternate(runs, rounds, warmup=5):
    """Median seconds of each callable, called in turn."""
    times = {name: [] for name in runs}
    for k in range(warmup + rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if k >= warmup:
                times[name].append(time.perf_counter() - start)
    return {
        name: {"median_ms": 1e3 * statistics.median(t), "min_ms": 1e3 * min(t)}
        for name, t in times.items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--reference", help="another model with the same input")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", help="file to write the result to")
    options = parser.parse_args()
    paths = {"model": options.model}
    if options.reference:
        paths["reference"] = options.reference
    result = {"machine": platform.processor() or platform.machine(), "threads": {}}
    for name, path in paths.items():
        proto = onnx.load(path)
        result[name] = {"nodes": len(proto.graph.node), "bytes": proto.ByteSize()}
        print(f"{name}: {result[name]['nodes']} nodes, {result[name]['bytes']:,} bytes")
    for threads in (1, 2):
        runs = {}
        for name, path in paths.items():
            session = open_session(path, threads)
            feed = sample(session)
            runs[name] = lambda session=session, feed=feed: session.run(None, feed)
        times = alternate(runs, options.rounds)
        line = ", ".join(
            f"{name} {t['median_ms']:.2f} ms (min {t['min_ms']:.2f})" for name, t in times.items()
        )
        if "reference" in times:
            times["ratio"] = times["model"]["median_ms"] / times["reference"]["median_ms"]
            line += f", ratio {times['ratio']:.3f}"
        result["threads"][threads] = times
        print(f"{threads} thread(s): {line}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)


if __name__ == "__main__":
    main()
