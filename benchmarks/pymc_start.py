"""How long PyMC's models take to their first results, in a first process and in a second one.

    python benchmarks/pymc_start.py [--what density,numpyro,blackjax,nutpie] [--rounds 3]
        [--json OUT] [MODEL ...]

Each start is a process of its own.  The second finds what the first has kept on disk: for
"density" (`model.compile_logp`, `model.compile_dlogp` and a call of each) programs of
`jax_mode(keep_programs=True)`, for samplers what JAX keeps by itself.  Seconds begin after the
imports, JAX's start and the model, and end with the results, which both starts must have equal to
the bit, or "OTHER RESULTS" is said; "process" is all of it.  Processor time is that of all threads,
and bears other work on the machine.  Samplers tune for 10 steps and draw 10 times, so nearly all of
their time is the start.  Medians of the rounds; with --json, rows are added to those of the file.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pymc_models import MODELS, build

WHAT = ("density", "numpyro", "blackjax", "nutpie")
DRAWS = {"draws": 10, "tune": 10, "random_seed": 1, "progressbar": False}


def density(model):
    """The log-density and its gradient at the initial point."""
    from pytensor.link.jax.tuned import jax_mode

    point = {k: v + 0.1 for k, v in model.initial_point().items()}
    mode = jax_mode(keep_programs=True)
    yield
    yield model.compile_logp(mode=mode)(point)
    yield model.compile_dlogp(mode=mode)(point)


def with_pymc(sampler, **options):
    """Draws by `pymc.sample`."""

    def sample(model):
        import nutpie  # noqa: F401  its import takes longer than all else
        import pymc as pm
        import pymc.sampling.jax

        yield
        with model:
            trace = pm.sample(
                nuts_sampler=sampler, chains=2, compute_convergence_checks=False,
                nuts_sampler_kwargs=options, **DRAWS,
            )  # fmt: skip
        yield from (trace.posterior[name].values for name in sorted(trace.posterior))

    return sample


def blackjax(model):
    """Draws by blackjax's own functions; PyMC 6.3 gives blackjax 1.7 an argument it lacks."""
    import blackjax
    import jax
    from pymc.sampling.jax import get_jaxified_logp

    point = [jax.numpy.asarray(v) for v in model.initial_point().values()]
    yield
    density = get_jaxified_logp(model)

    @jax.jit
    def sample(key, point):
        warmup = blackjax.window_adaptation(blackjax.nuts, density)
        (state, parameters), _ = warmup.run(key, point, DRAWS["tune"])
        step = blackjax.nuts(density, **parameters).step

        def one_step(state, key):
            state, _ = step(key, state)
            return state, state.position

        return jax.lax.scan(one_step, state, jax.random.split(key, DRAWS["draws"]))[1]

    yield from sample(jax.random.key(1), point)


SIDES = {
    "density": density,
    "numpyro": with_pymc("numpyro"),
    "blackjax": blackjax,
    "nutpie": with_pymc("nutpie", backend="jax"),
}


def start(what, name, folder):
    """Seconds to a model's first results in this process, and a digest of them."""
    import jax
    import numpy as np

    import pytensor.link.jax.dispatch  # noqa: F401

    jax.config.update("jax_compilation_cache_dir", folder)
    # Programs of models take less than the second below which JAX keeps none.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    results = SIDES[what](build(name))
    next(results)
    jax.devices()
    begun = time.perf_counter(), time.process_time()
    digest = hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest()
    seconds, processor = time.perf_counter() - begun[0], time.process_time() - begun[1]
    return {"seconds": seconds, "processor": processor, "digest": digest}


def start_process(what, name, folder):
    """What `start` returns in a process of its own, and that process's seconds."""
    begun = time.perf_counter()
    command = [sys.executable, __file__, "--start", what, name, folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{what} of {name} failed\n{done.stderr[-2000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    return result | {"process": time.perf_counter() - begun}


def measure(what, name, rounds):
    """Medians of two starts, and whether all results are equal to the bit."""
    starts = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            starts.append([start_process(what, name, folder) for _ in range(2)])
    row = {"what": what, "model": name, "rounds": rounds}
    for key in ("seconds", "processor", "process"):
        row[key] = [median(pair[k][key] for pair in starts) for k in range(2)]
        row[f"{key}, ratio"] = median(second[key] / first[key] for first, second in starts)
    return row | {"equal": len({one["digest"] for pair in starts for one in pair}) == 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", help="all by default: " + ", ".join(MODELS))
    parser.add_argument("--what", default=",".join(WHAT))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--start", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        print(json.dumps(start(*options.start)))
        return
    from step_sides import processor

    rows = []
    if options.json and options.json.exists():
        rows = json.loads(options.json.read_text())["rows"]
    for what in options.what.split(","):
        for name in options.models or MODELS:
            row = measure(what, name, options.rounds)
            rows = [r for r in rows if (r["what"], r["model"]) != (what, name)] + [row]
            print(
                f"{what:9} {name:24} {row['seconds'][0]:6.2f} s -> {row['seconds'][1]:5.2f} s, "
                f"{row['seconds, ratio']:.2f}, of processor time {row['processor, ratio']:.2f}; "
                f"process {row['process'][0]:5.1f} s -> {row['process'][1]:5.1f} s, "
                f"{row['process, ratio']:.2f}; "
                f"{'equal' if row['equal'] else 'OTHER RESULTS'}",
                flush=True,
            )
            if options.json:
                machine = {"processor": processor(), "cores": len(os.sched_getaffinity(0))}
                text = json.dumps({"machine": machine, "rows": rows}, indent=1)
                options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
