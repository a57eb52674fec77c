"""PyMC models in mode ONNX: their densities, gradients and draws.

    python -m tests.link.onnx.pymc_models [--what density,draws] [name ...]

Prints a line for each model and a count.  A density and its gradient are compared with
``FAST_COMPILE`` at the initial point, near it and far from it: values, infinities and NaN alike.
Draws are compared with the exact law where it is known, else with draws of PyMC.
"""

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import pymc as pm
import scipy.stats as st
from pymc.logprob.utils import ParameterValueError

from pytensor.compile.mode import Mode, get_mode
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.catalogue.pymc_models import LAWS, build, names_of
from tests.link.onnx.test_basic import session_of

# Distances from the initial point, of every coordinate.
NEAR, FAR = (0.1, 1.0), (5.0, 30.0, 300.0, 2000.0)
TOLERANCE = 1e-9


def points(build_model):
    """Yield (name, point) of values of the free variables, all in the space without bounds."""
    initial = build_model.initial_point(random_seed=1)
    yield "initial", initial
    for distance in (*NEAR, *FAR):
        for number in range(3 if distance in FAR else 2):
            rng = np.random.default_rng([int(10 * distance), number])

            def moved(value, rng=rng, distance=distance):
                step = distance * rng.standard_normal(value.shape)
                if value.dtype.kind == "f":
                    return value + step
                return value + np.clip(np.rint(step), -3, 3).astype(value.dtype)

            yield f"{distance}:{number}", {k: moved(np.asarray(v)) for k, v in initial.items()}


# The graph as built, and the graph that mode ONNX converts, both run by PyTensor Op by Op.
BUILT = "FAST_COMPILE"
# Python's results of fused loops with several outputs can be wrong.
REWRITTEN = Mode("py", get_mode("ONNX").provided_optimizer.excluding("fusion"))
# A difference of no more than so many times what a rounding of the point does is rounding.
ROUNDINGS = 100


def density_differences(name):
    """Yield where log-density or gradient in mode ONNX isn't what PyTensor computes.

    Yields a `Difference` for each such point.
    """
    built = build(name, "small")
    outputs = [built.logp(), built.dlogp()]
    settings = {"on_unused_input": "ignore", "point_fn": True}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        functions = [
            built.compile_fn(outputs, mode=m, **settings) for m in (BUILT, REWRITTEN, "ONNX")
        ]
        for where, point in points(built):
            as_built, as_rewritten, actual = (outcome(f, point) for f in functions)
            errors = difference(as_built, actual), difference(as_rewritten, actual)
            if max(errors) > TOLERANCE:
                loses = has_more_infinities(as_built, actual)
                noise = max(
                    difference(outcome(functions[1], rounded(point, seed)), as_rewritten)
                    for seed in range(5)
                )
                yield Difference(where, *errors, loses, noise)


@dataclass
class Difference:
    """Of one point: from the graph as built, from the same graph, and what rounding does."""

    where: str
    from_built: float
    from_rewritten: float
    loses: bool
    noise: float

    @property
    def is_wrong(self):
        return self.loses or self.from_rewritten > max(TOLERANCE, ROUNDINGS * self.noise)


def rounded(point, seed):
    """Return the point with every coordinate one rounding off."""
    rng = np.random.default_rng(seed)

    def moved(value):
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return value
        return np.nextafter(value, rng.choice([-np.inf, np.inf], value.shape))

    return {name: moved(value) for name, value in point.items()}


def has_more_infinities(expected, actual):
    """Return whether something that was finite in the graph as built is so no longer."""
    if isinstance(expected, str) or isinstance(actual, str):
        return isinstance(actual, str) and not isinstance(expected, str)
    return any(
        (np.isfinite(e) & ~np.isfinite(a)).any() for e, a in zip(expected, actual, strict=True)
    )


def outcome(function, point):
    """Return results, or the class of the error of a check."""
    try:
        return [np.atleast_1d(r) for r in function(point)]
    except (ParameterValueError, AssertionError) as error:
        return type(error).__name__


def difference(expected, actual):
    """Return the largest relative difference; infinite where infinities or NaN lie elsewhere."""
    if isinstance(expected, str) or isinstance(actual, str):
        return 0.0 if expected == actual else np.inf
    worst = 0.0
    for e, a in zip(expected, actual, strict=True):
        finite = np.isfinite(e)
        if not np.array_equal(
            np.where(finite, 0, e), np.where(np.isfinite(a), 0, a), equal_nan=True
        ):
            return np.inf
        if finite.any():
            # The gradient as a whole: an entry may be a difference of others.
            scale = max(1.0, np.abs(e[finite]).max())
            worst = max(worst, (np.abs(e - a)[finite] / scale).max())
    return worst


def draws_of(name, count):
    """Draw all variables of a model by its exported graph, the parameters anew each."""
    built = build(name, "small")
    variables = built.basic_RVs
    rngs = pm.pytensorf.find_rng_nodes(variables)
    pm.pytensorf.reseed_rngs(rngs, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = export_onnx([], variables)
    session = session_of(model)
    runs = [session.run(None, {}) for _ in range(count)]
    names = [variable.name for variable in variables]
    return dict(zip(names, (np.stack(v) for v in zip(*runs, strict=True)), strict=True))


def law_pvalues(name, draws):
    """Yield p-values of the entries whose law is known exactly."""
    for sample, distribution in LAWS.get(name, ()):
        values = sample(draws)
        if hasattr(distribution.dist, "pdf"):
            yield st.kstest(values, distribution.cdf).pvalue
        else:
            mean, variance = distribution.stats("mv")
            z = (values.mean() - mean) / np.sqrt(variance / len(values))
            yield 2 * st.norm.sf(abs(z))


def pymc_pvalues(name, draws):
    """Yield p-values of each entry's draws against PyMC's own, by other generator states."""
    built = build(name, "small")
    wanted = pm.draw(built.basic_RVs, draws=len(next(iter(draws.values()))), random_seed=6)
    for variable, theirs in zip(built.basic_RVs, wanted, strict=True):
        ours = draws[variable.name]
        size = min(20, int(np.prod(ours.shape[1:])))
        for x, y in zip(first_entries(ours, size), first_entries(theirs, size), strict=True):
            yield st.ks_2samp(x, y).pvalue


def first_entries(draws, size):
    return draws.reshape(len(draws), -1)[:, :size].T


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="all by default: " + ", ".join(names_of("small")))
    parser.add_argument("--what", default="density,draws")
    parser.add_argument("--count", type=int, default=2000, help="draws of each model")
    arguments = parser.parse_args()
    names = arguments.names or names_of("small")
    if "density" in arguments.what:
        right = 0
        for name in names:
            try:
                found = list(density_differences(name))
            except UnsupportedOpError as error:
                print(f"density {name}: refused: {str(error).splitlines()[1].strip()}", flush=True)
                continue
            wrong = [d for d in found if d.is_wrong]
            right += not wrong
            others = f", {len(found)} points where FAST_COMPILE differs or rounding decides"
            print(f"density {name}: {wrong or 'right'}{others if found else ''}", flush=True)
        print(f"densities and gradients: {right} of {len(names)} right")
    if "draws" in arguments.what:
        # One false alarm in a hundred runs of everything.
        right, limit = 0, 0.01 / (len(names) * 20)
        for name in names:
            try:
                draws = draws_of(name, arguments.count)
            except UnsupportedOpError as error:
                print(f"draws {name}: refused: {str(error).splitlines()[1].strip()}", flush=True)
                continue
            exact, theirs = list(law_pvalues(name, draws)), list(pymc_pvalues(name, draws))
            is_right = min(exact, default=1.0) > limit and (exact or min(theirs) > limit)
            right += bool(is_right)
            print(
                f"draws {name}: {'right' if is_right else 'WRONG'}; smallest p-value of "
                f"{len(exact)} exact laws {min(exact, default=1):.2g}, of {len(theirs)} entries "
                f"against PyMC's {min(theirs):.2g}",
                flush=True,
            )
        print(f"draws: {right} of {len(names)} right")


if __name__ == "__main__":
    main()
