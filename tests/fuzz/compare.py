"""One graph's results in several linkers, beside the same graph computed as it is in float64."""

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

import pytensor
import pytensor.link.jax.dispatch  # now, for JAX has the dtypes of floatX as it is when this loads
from pytensor.link.jax import jax_mode
from tests.catalogue.random_graphs.programs import build
from tests.utils import REFERENCE_MODE

# "JAX" is upstream's own mode, which nothing guards against XLA's faults: its wrong graphs are
# counted, and expected.
LINKERS = ("FAST_COMPILE", "NUMBA", "jax_mode", "ONNX", "JAX")
UNGUARDED = "JAX"
# What JAX can't trace without lengths is compiled for each size, with static shapes.
NEED_LENGTHS = ("jax_mode", "JAX")

# An error below this share of a result's magnitude is rounding; above, it has to be explained by
# how much Python itself errs in float32.
SMALL = {"float32": 2e-5, "float64": 1e-10}
ALLOWED = 30
# A result that is this much smaller than the graph's largest is what was left where all cancelled,
# as in the gradient of a softmax's sum: its errors are shares of what cancelled.
VANISHING = 1e-12
# Errors allowed beyond this share are no comparison: such outputs are counted.
VAGUE = 1e-2
OTHER_DTYPE = "dtype"  # begins what is said of a result of another dtype
# Changes of the inputs' last bits that are tried: with one, a number that all others are summed up
# in can stay where it is by luck.
NUDGES = 8


@dataclass
class Verdict:
    """What came out for one graph.

    Attributes
    ----------
    wrong : dict of str to str
        By linker: which output, and by how much.
    refused : dict of str to str
        By linker: the error that it raised.
    vague : int
        Outputs that are rounding for the greater part, so that faults could hide in them.
    seconds : dict of str to float
        Processor time by linker.
    """

    wrong: dict = field(default_factory=dict)
    refused: dict = field(default_factory=dict)
    vague: int = 0
    seconds: dict = field(default_factory=lambda: defaultdict(float))


def mode_of(linker):
    return {"reference": REFERENCE_MODE, "jax_mode": jax_mode()}.get(linker, linker)


class Comparison:
    """Computes graphs in linkers; functions of the last program are kept for its other sizes.

    Parameters
    ----------
    linkers : sequence of str
    falsify : callable, optional
        Takes a linker's name and its results, and returns others: to test the comparison.
    """

    def __init__(self, linkers=LINKERS, falsify=None):
        self.linkers, self.falsify = linkers, falsify
        self.program, self.functions = None, {}

    def function(self, graph, linker, dtype):
        program = (graph.inputs, graph.steps, graph.order, graph.cost)
        if program != self.program:
            self.program, self.functions = program, {}
        key = linker, dtype, *graph.known_shapes()
        if key not in self.functions:
            built = build(graph, dtype)
            # Python's linkers would compile scans' inner graphs to C.
            with pytensor.config.change_flags(cxx="", floatX=dtype):
                self.functions[key] = (
                    built.names,
                    pytensor.function(
                        built.inputs,
                        built.outputs,
                        mode=mode_of(linker),
                        on_unused_input="ignore",
                        trust_input=True,
                    ),
                )
        return self.functions[key]

    def results(self, graph, linker, dtype=None, values=None):
        """Return results by name.

        Parameters
        ----------
        graph : Graph
        linker : str
            Or ``"reference"``: Python, with no rewrite of the graph.
        dtype : str, optional
            Instead of the graph's own.
        values : list of numpy.ndarray, optional
            Instead of the graph's own.
        """
        dtype = dtype or graph.dtype
        values = values or replace(graph, dtype=dtype).values()
        names, function = self.function(graph, linker, dtype)
        with np.errstate(all="ignore"):
            results = function(*values)
        results = [np.array(result) for result in results]
        if self.falsify:
            results = self.falsify(linker, results)
        return dict(zip(names, results, strict=True))

    def __call__(self, graph):
        """Compare a graph's results in every linker.

        Returns
        -------
        Verdict
        """
        verdict = Verdict()
        expected = self._timed(verdict, graph, "reference", "float64")
        rounding = Rounding(self, graph, expected)
        for linker in self.linkers:
            try:
                results = self._timed(verdict, graph, linker, graph.dtype)
            # whatever a linker raises is its refusal, which is counted and shown
            except Exception as error:
                verdict.refused[linker] = summary(error)
                continue
            for name, result in results.items():
                fault = difference(result, expected[name], graph.dtype, rounding, name)
                if fault:
                    verdict.wrong[linker] = f"{name}: {fault}"
                    break
        verdict.vague = rounding.vague()
        return verdict

    def _timed(self, verdict, graph, linker, dtype):
        begun = time.process_time()
        try:
            return self.results(graph, linker, dtype)
        except Exception:
            if linker not in NEED_LENGTHS or graph.static:
                raise
            return self.results(replace(graph, static=True), linker, dtype)
        finally:
            verdict.seconds[linker] += time.process_time() - begun


def summary(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


class Rounding:
    """How far a graph's results are from true in float32; measured when it is first asked for.

    Python's own errors in float32, or what changes of the inputs' last bits do, if that is more:
    NumPy adds in pairs, and a sum may come out right by luck.
    """

    def __init__(self, comparison, graph, expected):
        self.comparison, self.graph, self.expected = comparison, graph, expected
        self.asked = set()

    @cached_property
    def errors(self):
        """By name: the largest error, and which elements float32 can hold."""
        rng = np.random.default_rng([self.graph.number, 4])
        doubles = replace(self.graph, dtype="float64").values()
        others = [self.comparison.results(self.graph, "reference", "float32")]
        for _ in range(NUDGES):
            nudged = [v * (1 + 2.0**-24 * rng.choice([-1, 1], v.shape)) for v in doubles]
            others.append(self.comparison.results(self.graph, "reference", "float64", nudged))
        single = others[0]
        errors = {}
        for name, expected in self.expected.items():
            with np.errstate(invalid="ignore"):
                off = np.max([abs(other[name] - expected) for other in others], axis=0)
            held = np.isfinite(single[name]) | ~np.isfinite(expected)
            errors[name] = off[np.isfinite(off)].max(initial=0.0), held
        return errors

    @cached_property
    def largest_size(self):
        return max(array.size for array in (*self.graph.values(), *self.expected.values()))

    @cached_property
    def allowed(self):
        """How many times those errors a linker may be off.

        One that adds n numbers one after the other rounds partial sums that grow with the root of
        n, where NumPy, which adds in pairs, rounds small ones.
        """
        return ALLOWED + 2 * np.sqrt(self.largest_size)

    @cached_property
    def small(self):
        """The share of a result that is rounding, whatever Python's errors are.

        One that adds n equal numbers one after the other rounds each partial sum, many of them in
        the same direction.
        """
        unit = np.finfo(self.graph.dtype).eps / 2
        return max(SMALL[self.graph.dtype], self.largest_size * unit / 4)

    @cached_property
    def magnitudes(self):
        """Root mean squares of the results, which errors are shares of."""
        found = {name: magnitude(expected) for name, expected in self.expected.items()}
        largest = max(1, *found.values())  # 1: the inputs'
        return {n: m if m > VANISHING * largest else largest for n, m in found.items()}

    def of(self, name):
        """Return an output's largest error in the graph's dtype, and which elements hold it."""
        self.asked.add(name)
        largest, held = self.errors[name]
        if self.graph.dtype == "float64":
            return largest * 2.0**-29, np.ones_like(held)
        return largest, held

    def vague(self):
        """Count the outputs asked for that are rounding, so that faults could hide in them."""
        found = 0
        for name in self.asked:
            largest, held = self.of(name)
            found += bool(not held.all() or self.allowed * largest > VAGUE * self.magnitudes[name])
        return found


def magnitude(array):
    """Return root mean square of what is finite."""
    finite = array[np.isfinite(array)]
    return float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0


def difference(result, expected, dtype, rounding, name):
    """Return what is wrong with a result, or None.

    An element may be off by a small share of itself or of its array's root mean square, whichever
    is more; and where that isn't enough, by a multiple of what Python is off by in float32.

    Parameters
    ----------
    result, expected : numpy.ndarray
    dtype : str
        That the result must have.
    rounding : Rounding
    name : str
        Of the result.
    """
    if result.dtype != dtype:
        return f"{OTHER_DTYPE} {result.dtype} for {dtype}"
    if result.shape != expected.shape:
        return f"shape {result.shape} for {expected.shape}"
    scale = rounding.magnitudes[name]
    with np.errstate(invalid="ignore"):
        off = abs(result.astype("float64") - expected)
        bad = ~(off <= rounding.small * np.maximum(abs(expected), scale))
    bad &= ~((result == expected) | (np.isnan(result) & np.isnan(expected)))
    if not bad.any():
        return None
    largest, held = rounding.of(name)
    bad &= held & ~(off <= rounding.allowed * largest)
    if not bad.any():
        return None
    place = np.unravel_index(
        np.argmax(np.where(bad, np.nan_to_num(off, nan=np.inf), -1)), off.shape
    )
    place = tuple(int(k) for k in place)
    return (
        f"{result[place]} for {expected[place]} at {place}, {bad.sum()} of {bad.size} elements, "
        f"magnitude {scale:.3g}"
    )
