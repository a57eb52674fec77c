"""How long YOLO11n's training step takes to its first result, in PyTensor and in plain JAX.

    python -m benchmarks.step.compile_time [--image-size 320] [--batch-size 8] [--rounds 5]
        [--second-start] [--record]

Each run is a separate process; the sides take turns; medians.  "building" makes the model and
its graph in PyTensor, and puts the weights on the device in plain JAX, which has no graph to
build.  "rewrites" is `pytensor.function`: its rewrites and the conversion to a JAX function.
Tracing, lowering and XLA's compilation are JAX's own stages on both sides.  With --second-start
each run is followed by another that finds the compiled program on disk, as in the demo. There "XLA"
is the reading of the program; its writing belongs to the "first step" of the first run.
"""

import argparse
import json
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

import benchmarks.common.float32  # noqa: F401, before pytensor
from benchmarks.common import results
from benchmarks.common.child import answer_of, device_facts
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.step_sides import CLASSES, DemoStep, PureStep, draw_sample, use_demo
from benchmarks.common.timing import quartiles

STAGES = [
    "imports", "building", "gradient", "rewrites", "tracing", "lowering", "XLA", "first step"
]  # fmt: skip
COMPILED = "/jax/core/compile/backend_compile_duration"


class Stopwatch:
    """Seconds by stage; time in a stage within a stage counts only for the inner one."""

    def __init__(self):
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._open = []

    @contextmanager
    def stage(self, name):
        start = time.perf_counter()
        self._open.append(0.0)
        try:
            yield
        finally:
            total = time.perf_counter() - start
            self.seconds[name] += total - self._open.pop()
            if self._open:
                self._open[-1] += total

    def timed(self, name, function):
        """Return `function`, whose calls are the stage `name`."""

        def call(*args, **kwargs):
            with self.stage(name):
                return function(*args, **kwargs)

        return call


def make_demo(watch, size, weights):
    """Make PyTensor's side; its model draws weights of its own."""
    with watch.stage("imports"):
        use_demo()
        import training.train_step  # noqa: F401

        import pytensor
        import pytensor.link.jax.dispatch
    gradient = watch.timed("gradient", pytensor.grad)
    function = watch.timed("rewrites", pytensor.function)
    with (
        watch.stage("building"),
        mock.patch.object(pytensor, "grad", gradient),
        mock.patch.object(pytensor, "function", function),
    ):
        return DemoStep(*size)


def make_pure(watch, size, weights):
    """Make plain JAX's side."""
    with watch.stage("imports"):
        from benchmarks.common import pure_jax_yolo11n  # noqa: F401
    with watch.stage("building"), np.load(weights) as arrays:
        return PureStep(*size, dict(arrays))


SIDES = {DemoStep.name: make_demo, PureStep.name: make_pure}


def time_side(name, size, weights):
    """Return the seconds by stage of one side, in a fresh process."""
    watch = Stopwatch()
    side = SIDES[name](watch, size, weights)
    import jax

    image_size, batch_size = size
    sample = jax.device_put(draw_sample(0, batch_size, image_size))

    def first_step():
        with watch.stage("first step"):
            side.run(sample, 0)
            side.wait()

    if side.has_program():
        with kept_stages(watch):
            first_step()
        return watch.seconds
    with side.first_call():
        compile_step(watch, side)
    late = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: late.append(seconds) if event == COMPILED else None
    )
    first_step()
    if late:
        raise RuntimeError(
            f"the first step of {name} compiled for {sum(late):.2f} s again: the arguments' shapes "
            "that `program` gives aren't the step's"
        )
    return watch.seconds


def compile_step(watch, side):
    """Run the stages of JAX one by one; the first step finds the program in JAX's memory."""
    function, arguments = side.program()
    with watch.stage("tracing"):
        traced = function.trace(*arguments)
    with watch.stage("lowering"):
        lowered = traced.lower()
    with watch.stage("XLA"):
        lowered.compile()


@contextmanager
def kept_stages(watch):
    """Time the stages of a first call that makes its program, or finds it on disk."""
    import jax

    from pytensor.link.jax.mode.store import disk, program_store

    stages = [
        (program_store.StoredFunction, "resolve", "tracing"),
        (jax.stages.Traced, "lower", "lowering"),
        (jax.stages.Lowered, "compile", "XLA"),
        (disk, "load", "XLA"),
        (disk, "save", "first step"),
    ]
    with ExitStack() as patches:
        for owner, name, stage in stages:
            timed = watch.timed(stage, getattr(owner, name))
            patches.enter_context(mock.patch.object(owner, name, timed))
        yield


def run_side(name, options, weights, cache=None):
    """Start a process for one side and return its seconds by stage.

    Parameters
    ----------
    name : str
    options : namespace
    weights : Path
        File with a state dict.
    cache : Path, optional
        Folder of compiled programs; without one, none is kept nor found.
    """
    settings = {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    if cache is not None:
        settings = {"JAX_ENABLE_COMPILATION_CACHE": "true", "JAX_COMPILATION_CACHE_DIR": str(cache)}
    return answer_of(
        __spec__.name, "--image-size", options.image_size, "--batch-size", options.batch_size,
        "--side", name, "--weights", weights, environment=settings,
    )  # fmt: skip


def measure(options):
    """Return the seconds by stage of first and of second starts: by side, a dict for each round."""
    use_demo()
    from model import YOLO11n

    runs, second = ({name: [] for name in SIDES} for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder) / "weights.npz"
        np.savez(weights, **YOLO11n(CLASSES).state_dict())
        for k in range(options.rounds):
            for name in list(SIDES)[:: -1 if k % 2 else 1]:
                cache = Path(folder) / f"{name}-{k}" if options.second_start else None
                runs[name].append(run_side(name, options, weights, cache))
                if options.second_start:
                    second[name].append(run_side(name, options, weights, cache))
    return runs, second


def second_starts(runs, second):
    """Return the seconds by stage of second starts, and the ratios of sums to the first starts'."""
    result = {"seconds": summary(second)["seconds"], "ratio to the first": {}}
    for name, rows in runs.items():
        pairs = zip(second[name], rows, strict=True)
        result["ratio to the first"][name] = quartiles(
            [sum(again.values()) / sum(first.values()) for again, first in pairs]
        )
    return result


def summary(runs):
    """Return quartiles of each stage, of the stages' sums, and of the ratio of both sides' sums."""
    stages = {
        name: {stage: quartiles([r[stage] for r in rows]) for stage in STAGES}
        for name, rows in runs.items()
    }
    ratios = {}
    for key, left_out in (("total", []), ("total without XLA", ["XLA"])):
        sums = {
            name: [sum(v for k, v in r.items() if k not in left_out) for r in rows]
            for name, rows in runs.items()
        }
        for name, values in sums.items():
            stages[name][key] = quartiles(values)
        ours, theirs = sums.values()
        ratios[key] = quartiles([a / b for a, b in zip(ours, theirs, strict=True)])
    return {"seconds": stages, "ratio": ratios}


def report(result):
    print(machine_line(result["machine"]))
    report_stages(result, "seconds, medians")
    if "second start" in result:
        report_stages(result["second start"], "second start")
        for name, ratio in result["second start"]["ratio to the first"].items():
            low, middle, high = ratio
            print(f"{name}: {middle:.2f} of the first start ({low:.2f} to {high:.2f})")


def report_stages(result, title):
    print(f"{title:18}" + "".join(f"{name:>12}" for name in result["seconds"]))
    for stage in next(iter(result["seconds"].values())):
        cells = (f"{rows[stage][1]:12.2f}" for rows in result["seconds"].values())
        ratio = result.get("ratio", {}).get(stage)
        ending = "   ratio {1:.2f} ({0:.2f} to {2:.2f})".format(*ratio) if ratio else ""
        print(f"{stage:18}" + "".join(cells) + ending)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image-size", type=int, default=320)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--second-start", action="store_true", help="with programs on disk, and then again"
    )
    results.add_options(parser)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--weights", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        size = options.image_size, options.batch_size
        print(json.dumps(time_side(options.side, size, options.weights)))
        return
    settings = {key: getattr(options, key) for key in ("image_size", "batch_size", "rounds")}
    runs, second = measure(options)
    figures = summary(runs)
    if options.second_start:
        figures["second start"] = second_starts(runs, second)
    facts = machine(device_facts())
    result = {"machine": facts, **settings, **figures}
    report(result)
    results.save(options, result, figures, facts)


if __name__ == "__main__":
    main()
