"""The whole training step of YOLO11n as one ONNX model: loss, gradient, clipping, update, averages.

onnxruntime and JAX round differently, and the assigner chooses: where two anchors, or two boxes of
an anchor, are nearly equal, the last digit decides.  From then on two runs are different ones, in
JAX too if its weights are changed by 1e-7.  So in single precision only the first step is compared,
whose choices are clear, and whole runs in double precision.
"""

import numpy as np
import onnxruntime
import pytest
from model import YOLO11n
from training.recipe import Rates, Recipe, StepSettings

import pytensor
from pytensor.graph.replace import clone_replace
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx
from pytensor.link.onnx.compare.double_precision import in_double_precision
from tests.examples.yolo11n.training.runs import StepGraph
from tests.examples.yolo11n_golden import ZERO

pytestmark = [pytest.mark.training, pytest.mark.long]

CLASSES, MAX_BOXES, STEPS = 2, 4, 50


class Steps:
    """One step as a function of data, rates and state, in JAX and in onnxruntime."""

    def __init__(self, size, batch, dtype="float32"):
        self.size, self.batch, self.dtype = size, batch, dtype
        graph = StepGraph(YOLO11n(CLASSES), size, batch, MAX_BOXES, weight_decay=5e-4)
        inputs, outputs, updates = graph._step
        state = {v: v.type(name=v.name) for v in updates}
        arguments = [*inputs, *state.values()]
        results = clone_replace([*outputs, *updates.values()], replace=state)
        if dtype == "float64":
            arguments, results = in_double_precision(arguments, results)
        self.names = [v.name for v in updates]
        self.initial = [v.get_value().astype(dtype) for v in updates]
        self.jax = pytensor.function(arguments, results, mode=jax_mode())
        self.model = export_onnx(arguments, results)
        self.session = onnxruntime.InferenceSession(
            self.model.SerializeToString(), providers=["CPUExecutionProvider"]
        )

    def onnx(self, *values):
        return self.session.run(
            None, {i.name: v for i, v in zip(self.session.get_inputs(), values, strict=True)}
        )

    def data(self, k, rates):
        """Random bytes with up to four boxes an image, and the rates."""
        rng = np.random.default_rng(k)
        centres = rng.uniform(0.3, 0.7, (self.batch, MAX_BOXES, 2))
        sides = rng.uniform(0.2, 0.6, (self.batch, MAX_BOXES, 2))
        return [
            rng.integers(0, 256, (self.batch, 3, self.size, self.size), dtype=np.uint8),
            np.concatenate([centres, sides], axis=-1).astype(self.dtype),
            rng.integers(0, CLASSES, (self.batch, MAX_BOXES), dtype=np.int32),
            rng.integers(1, MAX_BOXES + 1, self.batch, dtype=np.int32),
            *(np.asarray(number, dtype=self.dtype) for number in rates),
        ]

    def run(self, step, rates, number):
        """Run `step`; return losses and gradient norms, and the state after it."""
        state, rows = self.initial, []
        for k in range(number):
            results = [np.asarray(r) for r in step(*self.data(k, rates(k)), *state)]
            rows.append(np.stack(results[:4]))
            state = results[4:]
        return np.stack(rows), state

    def compare_changes(self, old, new, wanted, update_error):
        """Compare changes of the state, but for the last digit of what is changed."""
        digit = 2 * np.finfo(self.dtype).eps
        for name, before, after, expected in zip(self.names, old, new, wanted, strict=True):
            if not any(zero in name for zero in ZERO):
                change, error = (np.linalg.norm(expected - x) for x in (before, after))
                allowed = update_error * change + digit * np.linalg.norm(expected)
                assert error <= allowed, (name, error, change)


def rates_of(recipe):
    """Return rates of a recipe's first steps, with 100 batches in each of 100 epochs."""
    settings = StepSettings(recipe, epochs=100, batches=100, batch_size=recipe.nominal_batch)
    return lambda k: settings.at(k, k)[0]


def full_rates(k):
    return Rates(Recipe.lr, Recipe.lr, Recipe.momentum, Recipe().decay_of_averages(k))


def test_first_step():
    steps = Steps(64, 2)
    expected, wanted = steps.run(steps.jax, full_rates, 1)
    results, state = steps.run(steps.onnx, full_rates, 1)
    np.testing.assert_allclose(results, expected, rtol=2e-4)
    steps.compare_changes(steps.initial, state, wanted, update_error=5e-3)
    # one model of standard operators
    assert {node.domain for node in steps.model.graph.node} == {""}
    assert not steps.model.functions
    assert len(steps.model.graph.node) < 8600
    assert len(steps.model.graph.output) == 4 + len(steps.names)


def test_run_in_double_precision():
    """The demo's recipe as it is, and eight steps at the full rate."""
    steps = Steps(96, 4, "float64")
    for rates, number in [(rates_of(Recipe(nominal_batch=4)), STEPS), (full_rates, 8)]:
        expected, last = steps.run(steps.jax, rates, number)
        results, state = steps.run(steps.onnx, rates, number)
        np.testing.assert_allclose(results, expected, rtol=1e-8)
        steps.compare_changes(steps.initial, state, last, update_error=1e-3)
