"""How long PyMC's models take to their first results, in a first process and in a second one.

    python -m benchmarks.pymc.start [--what density,numpyro,blackjax,nutpie] [--rounds 3]
        [--forks] [--record] [MODEL ...]

Each start is a separate process; with --forks it is a fork of a process that has imported what
starts use, which is quicker to measure, and then "process" is missing. The second start finds what
the first has kept on disk: for "density" (`model.compile_logp`, `model.compile_dlogp` and a call of
each) programs of `jax_mode(keep_programs=True)`, for samplers what JAX keeps by itself, and for
"nutpie kept" such programs instead of mode JAX's programs (see docs/pymc_start_faster.md).
Seconds begin after the imports, JAX's start and the model, and end with the results; "process" is
all of it. If the results of both starts differ in one bit, "OTHER RESULTS" is said. Processor time
is that of all threads; other work on the machine disturbs it less. Samplers tune for 10 steps and
draw 10 times in one chain, with trees at most 4 deep, so nearly all of their time is the start.
Medians of the rounds.
"""

import argparse
import hashlib
import json
import tempfile
import time
from importlib import import_module
from multiprocessing import get_context
from statistics import median
from unittest.mock import patch

from benchmarks.common import results
from benchmarks.common.child import answer_of
from pytensor.compile.mode import predefined_modes
from pytensor.link.jax import jax_mode
from tests.catalogue.pymc_models import build

# As PyMC's users write them
MODELS = (
    "hierarchical_regression", "eight_schools", "logistic", "poisson_regression", "ordinal",
    "hilbert_space_gp", "gp_marginal", "local_level", "mixture", "correlated_normal",
    "negative_binomial", "censored_survival",
)  # fmt: skip
WHAT = ("density", "numpyro", "blackjax", "nutpie", "nutpie kept")
DRAWS = {
    "draws": 10, "tune": 10, "chains": 1, "random_seed": 1, "progressbar": False,
    "compute_convergence_checks": False,
}  # fmt: skip


def density(model):
    """Yield the log-density and its gradient at the initial point."""
    point = {k: v + 0.1 for k, v in model.initial_point().items()}
    mode = jax_mode(keep_programs=True)
    yield
    yield model.compile_logp(mode=mode)(point)
    yield model.compile_dlogp(mode=mode)(point)


def sampler(name, depth, kept=False, **options):
    """Return a side that runs `pymc.sample`; `depth` is the option for its trees' largest depth."""

    def sample(model):
        import pymc as pm
        import pymc.sampling.jax  # before a sampler's import starts JAX: it sets XLA's flags

        import_module(name)
        yield
        modes = predefined_modes | {"JAX": jax_mode(keep_programs=True)} if kept else {}
        with model, patch.dict(predefined_modes, modes):
            trace = pm.sample(nuts_sampler=name, nuts={depth: 4}, **options, **DRAWS)
        yield from (trace.posterior[name].values for name in sorted(trace.posterior))

    return sample


SIDES = {
    "density": density,
    "numpyro": sampler("numpyro", "max_tree_depth"),
    "blackjax": sampler("blackjax", "max_num_doublings"),
    "nutpie": sampler("nutpie", "maxdepth", backend="jax"),
    "nutpie kept": sampler("nutpie", "maxdepth", kept=True, backend="jax"),
}


def import_all():
    """Import what starts use, except blackjax: it starts JAX, and then forks don't work."""
    import pymc.sampling.jax  # noqa: F401

    import pytensor.link.jax.dispatch  # noqa: F401

    import_module("numpyro.infer")
    import_module("nutpie")


def start(what, name, folder):
    """Return the seconds to a model's first results in this process, and a digest of them."""
    import jax
    import numpy as np

    import pytensor.link.jax.dispatch  # noqa: F401

    jax.config.update("jax_compilation_cache_dir", folder)
    # Programs of models take less than the second below which JAX keeps none.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    results = SIDES[what](build(name, "large"))
    next(results)
    jax.devices()
    begun = time.perf_counter(), time.process_time()
    digest = hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest()
    seconds, processor = time.perf_counter() - begun[0], time.process_time() - begun[1]
    return {"seconds": seconds, "processor": processor, "digest": digest}


def start_fork(what, name, folder):
    """Return what `start` returns in a fork of this process, which has imported everything."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(start, (what, name, folder))


def start_process(what, name, folder):
    """Return what `start` returns in a separate process, and that process's seconds."""
    begun = time.perf_counter()
    result = answer_of(__spec__.name, "--start", what, name, folder)
    return result | {"process": time.perf_counter() - begun}


def measure(what, name, rounds, one_start=start_process):
    """Return medians of two starts, and whether all results are equal to the bit."""
    starts = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            starts.append([one_start(what, name, folder) for _ in range(2)])
    row = {"what": what, "model": name, "rounds": rounds}
    for key in starts[0][0].keys() - {"digest"}:
        row[key] = [median(pair[k][key] for pair in starts) for k in range(2)]
        row[f"{key}, ratio"] = median(second[key] / first[key] for first, second in starts)
    return row | {"equal": len({one["digest"] for pair in starts for one in pair}) == 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", help="all by default: " + ", ".join(MODELS))
    parser.add_argument("--what", default=",".join(WHAT))
    parser.add_argument("--rounds", type=int, default=3)
    results.add_options(parser, json=False)
    parser.add_argument("--forks", action="store_true", help="spare the imports of each process")
    parser.add_argument("--start", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := {*options.what.split(",")} - {*WHAT}:
        parser.error(f"--what has {', '.join(sorted(unknown))}; there are {', '.join(WHAT)}")
    if options.start:
        print(json.dumps(start(*options.start)))
        return
    one_start = start_process
    if options.forks:
        import_all()
        one_start = start_fork
    for what in options.what.split(","):
        total, share = {"first start": 0.0, "second start": 0.0}, {}
        for name in options.models or MODELS:
            row = measure(what, name, options.rounds, one_start)
            process = ""
            if not options.forks:
                process = "process {:5.1f} s -> {:5.1f} s, ".format(*row["process"])
                process += f"{row['process, ratio']:.2f}; "
            print(
                f"{what:11} {name:24} {row['seconds'][0]:6.2f} s -> {row['seconds'][1]:5.2f} s, "
                f"{row['seconds, ratio']:.2f}, of processor time {row['processor, ratio']:.2f}; "
                f"{process}"
                f"{'equal' if row['equal'] else 'OTHER RESULTS'}",
                flush=True,
            )
            share[name] = row["processor, ratio"]
            for when, seconds in zip(total, row["processor"], strict=True):
                total[when] += seconds
        figures = {"all models, processor seconds": total, "second start to first": share}
        results.save(options, None, {what: figures})


if __name__ == "__main__":
    main()
