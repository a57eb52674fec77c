"""Memory that a training step of YOLO11n takes, in PyTensor and in plain JAX.

    python -m benchmarks.step.memory [--image-size 320] [--batch-size 8] [--steps 5]
        [--sides jax donated pure] [--record]

Sides:
    jax       the demo's step in mode JAX
    donated   the same in the mode in which the demo trains: donated state, our kernels on a CPU
    pure      plain JAX, with a donated state

Each side runs in a separate process, on the same weights and batches.  Figures, in bytes:
    program       what XLA plans for a call: arguments, results and temporary values, without the
                  results that take an argument's place
    device peak   the device's own account, the first step and its compilation included; GPUs only
    device held   the same account after the last step
    host growth   by how much the process grows in the steps after the first two, above what it
                  had before them; free memory is given back to the system first; Linux only

A ratio below 1 says that PyTensor's side takes less.
"""

import argparse
import ctypes
import gc
import json
import tempfile
from pathlib import Path

import numpy as np

import benchmarks.common.float32  # noqa: F401, before pytensor
from benchmarks.common import results, step_sides
from benchmarks.common.child import answer_of
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.step_sides import DemoStep, PureStep, draw_sample

SIDES = ["jax", "donated", "pure"]
FIGURES = ["program", "device peak", "device held", "host growth"]
WARMUP = 2
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def make_side(name, size, weights):
    """Make the side of a name in `SIDES`."""
    if name == "pure":
        return PureStep(*size, weights)
    from pytensor.link.jax import jax_mode

    mode = "JAX" if name == "jax" else jax_mode(donate=True, cpu_kernels=True)
    return DemoStep(*size, weights, mode=mode)


def run_steps(side, samples, first, count):
    """Run `count` steps, each on the next sample; return when all have ended."""
    for number in range(first, first + count):
        side.run(samples[number % len(samples)], number)
    side.wait()


def program_memory(side):
    """Return the sizes that XLA plans for a side's program, in bytes."""
    function, arguments = side.program()
    memory = function.lower(*arguments).compile().memory_analysis()
    parts = {
        "arguments": memory.argument_size_in_bytes,
        "results": memory.output_size_in_bytes,
        "temporary": memory.temp_size_in_bytes,
        "results in arguments": memory.alias_size_in_bytes,
    }
    total = parts["arguments"] + parts["results"] + parts["temporary"]
    return parts | {"total": total - parts["results in arguments"]}


def device_memory():
    """Return the device's account, in bytes: peak, and now; None where it keeps none."""
    import jax

    stats = jax.devices()[0].memory_stats() or {}
    return stats.get("peak_bytes_in_use"), stats.get("bytes_in_use")


def host_growth(run):
    """Return by how many bytes the process grows at most in `run`; None where that isn't known."""
    if not (STATUS.exists() and CLEAR.exists()):
        return None
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return None
    trim(0)
    CLEAR.write_text("5")  # forget the peak up to now
    before = resident()["VmRSS"]
    run()
    return resident()["VmHWM"] - before


def resident():
    """Return the bytes of this process in memory: now (VmRSS), and at most (VmHWM)."""
    lines = (line.split() for line in STATUS.read_text().splitlines())
    return {words[0][:-1]: 1024 * int(words[1]) for words in lines if words[0].startswith("Vm")}


def measure_here(name, weights, options):
    """Measure a side in this process."""
    size = options.image_size, options.batch_size
    side = make_side(name, size, weights)
    samples = [
        side.place(draw_sample(seed, options.batch_size, options.image_size)) for seed in range(2)
    ]
    run_steps(side, samples, 0, WARMUP)
    growth = host_growth(lambda: run_steps(side, samples, WARMUP, options.steps))
    peak, held = device_memory()
    program = program_memory(side)
    figures = [program["total"], peak, held, growth]
    return {
        **dict(zip(FIGURES, figures, strict=True)),
        "parts of the program": program,
        "machine": machine(),
    }


def measure_apart(name, weights_path, options):
    """Measure a side in a separate process."""
    return answer_of(
        __spec__.name, "--only", name, "--weights", weights_path, "--steps", options.steps,
        "--image-size", options.image_size, "--batch-size", options.batch_size,
    )  # fmt: skip


def ratios(sides):
    """Return each figure of each PyTensor side over that of plain JAX."""
    base = sides.get("pure")
    if base is None:
        return {}
    return {
        f"{name} / pure": {f: side[f] / base[f] for f in FIGURES if side[f] and base[f]}
        for name, side in sides.items()
        if name != "pure"
    }


def report(result):
    for name, side in result["sides"].items():
        figures = ", ".join(
            f"{f} {side[f] / 1e6:.1f} MB" if side[f] is not None else f"{f} not known"
            for f in FIGURES
        )
        parts = side["parts of the program"]
        split = ", ".join(f"{key} {parts[key] / 1e6:.1f}" for key in parts if key != "total")
        print(f"{name:8} {figures} (of the program: {split})")
    for pair, figures in result["ratios"].items():
        print(f"ratio {pair:16} " + ", ".join(f"{f} {r:.3f}" for f, r in figures.items()))


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--image-size", type=int, default=320)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=5, help="that are measured (%(default)s)")
    parser.add_argument("--sides", choices=SIDES, nargs="+", default=SIDES)
    results.add_options(parser)
    parser.add_argument("--only", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--weights", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = parse()
    if options.only:
        with np.load(options.weights) as weights:
            print(json.dumps(measure_here(options.only, dict(weights), options)))
        return
    result = {k: getattr(options, k) for k in ("image_size", "batch_size", "steps")}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "weights.npz")
        np.savez(path, **step_sides.initial_weights())
        sides = {name: measure_apart(name, path, options) for name in options.sides}
    machines = [side.pop("machine") for side in sides.values()]
    result |= {"machine": machines[0], "sides": sides, "ratios": ratios(sides)}
    print(machine_line(result["machine"]))
    report(result)
    figures = {name: {f"{f}, bytes": side[f] for f in FIGURES} for name, side in sides.items()}
    results.save(options, result, figures | {"ratio": result["ratios"]}, result["machine"])


if __name__ == "__main__":
    main()
