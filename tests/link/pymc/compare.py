"""Log-densities of PyMC's models and their gradients in several linkers, beside Python's."""

import time
import warnings
from dataclasses import dataclass, field

import numpy as np
import pymc as pm

import pytensor
import pytensor.link.jax.dispatch  # now, for JAX has the dtypes of floatX as it is when this loads
from pytensor.graph.replace import vectorize_graph
from pytensor.link.jax import jax_mode
from tests.catalogue.pymc_models import build
from tests.link.onnx.pymc_models import difference, outcome, rounded

# "JAX" is upstream's own mode: guarded only where `guard_xla` was called before.
LINKERS = ("NUMBA", "JAX", "jax_mode", "ONNX")
BATCHES = (4, 64)
# A linker's error below this share of the largest entry is rounding; above, no more than so many
# times what a change of the point's last bits does.
TOLERANCE, ROUNDINGS = 1e-9, 100
FLAGS = {"mode": "FAST_COMPILE", "cxx": "", "traceback__limit": 0, "on_opt_error": "raise"}


@dataclass
class Verdict:
    """What came out for one model: by linker, the largest relative error where it is too large,
    the error that was raised, and seconds.
    """

    wrong: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)


def compare(name, linkers=LINKERS, batches=BATCHES):
    """Compare the log-density and the gradient of a model with those that Python computes.

    Parameters
    ----------
    name : str
        Of the model.
    linkers : sequence of str
        A point at a time, and in modes of JAX also batches of points in one call.
    batches : sequence of int
        Numbers of points.

    Returns
    -------
    Verdict
    """
    verdict = Verdict()
    with (
        pytensor.config.change_flags(**FLAGS),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        built = build(name, "large")
        outputs = [built.logp(), built.dlogp()]
        points = points_of(built, max(batches, default=5))
        python = function_of(built, outputs, "FAST_COMPILE")
        expected = [outcome(lambda p: python(**p), point) for point in points]

        def noise(k):
            """Return what changes of a point's last bits do to Python's results."""
            others = [outcome(lambda p: python(**p), rounded(points[k], seed)) for seed in range(5)]
            return max(difference(expected[k], other) for other in others)

        for linker in linkers:
            sizes = batches if "jax" in linker.lower() else ()
            for size in (None, *sizes):
                label, begun = linker if size is None else f"{linker} x {size}", time.monotonic()
                try:
                    results = results_of(built, outputs, linker, points[: size or 5], size)
                # whatever a linker raises is its refusal, which is counted and shown
                except Exception as error:
                    message = str(error).strip().splitlines() or [""]
                    verdict.refused[label] = f"{type(error).__name__}: {message[0][:150]}"
                    continue
                finally:
                    verdict.seconds[label] = time.monotonic() - begun
                for k, result in enumerate(results):
                    error = difference(expected[k], result)
                    if not error <= TOLERANCE and not error <= ROUNDINGS * noise(k):
                        verdict.wrong[label] = float(error)
                        break
    return verdict


def points_of(built, count):
    """Return the initial point and others near it, at distances of about 0.1 and 0.5."""
    initial, rng = built.initial_point(random_seed=1), np.random.default_rng(5)

    def moved(value, distance):
        value = np.asarray(value)
        return value + distance * rng.standard_normal(value.shape)

    distances = (0, *(0.1, 0.5) * (count // 2))[:count]
    return [{k: moved(v, distance) for k, v in initial.items()} for distance in distances]


def function_of(built, outputs, linker, inputs=None):
    mode = jax_mode() if linker == "jax_mode" else linker
    with built:
        inputs = inputs or built.value_vars
        return pm.compile(inputs, outputs, mode=mode, on_unused_input="ignore")


def results_of(built, outputs, linker, points, size):
    """Return [log-density, gradient] of each point, all in one call if a size is given."""
    if size is None:
        function = function_of(built, outputs, linker)
        return [outcome(lambda p: function(**p), point) for point in points]
    batched = {v: v.type.clone(shape=(size, *v.type.shape))(v.name) for v in built.value_vars}
    function = function_of(built, vectorize_graph(outputs, batched), linker, [*batched.values()])
    results = function(*(np.stack([p[v.name] for p in points]) for v in built.value_vars))
    return [[np.atleast_1d(r[k]) for r in results] for k in range(size)]
