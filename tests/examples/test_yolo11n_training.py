"""The training step, its schedule, and whole runs of train_yolo11n.py.

Compiling takes far longer than running: one model with a step of either kind and one detector are
compiled for all tests here, and set back to their initial values for each use.
"""

import itertools
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import train_yolo11n
from data.augment import Augment
from data.loader import BatchLoader, LoaderError
from dataset import CocoDataset, find_data
from model import YOLO11n
from PIL import Image
from training import assembly, finishing, training_run
from training.checkpoint import load_weights, save_weights
from training.parts import LOSS_PARTS, Recipe, StepSettings, TrainStep, compile_detector

import pytensor
from pytensor.graph.op import HasInnerGraph
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type import TensorType
from tests.examples.yolo11n_runs import (
    BATCH,
    CLASSES,
    SIZE,
    command,
    read_rows,
    without_times,
    write_data,
)

LEARNING_EPOCHS = 40


# ------------------------------------------------------------------------------ helpers


class Compiled:
    """Stands in for the constructors that a run calls: what is asked for again isn't compiled.

    Shared variables come back with the values that they had when they were new, so that nothing
    passes from one run to the next but through files.
    """

    def __init__(self):
        self.made = {}
        self.initial = {}

    def _once(self, key, make, variables):
        if key not in self.made:
            self.made[key] = made = make()
            self.initial[key] = [(v, np.array(v.get_value())) for v in variables(made)]
        for variable, value in self.initial[key]:
            variable.set_value(value.copy())
        return self.made[key]

    def model(self, num_classes=2, seed=0, class_width=None):
        return self._once(
            ("model", num_classes, seed, class_width),
            lambda: YOLO11n(num_classes, seed=seed, class_width=class_width),
            lambda model: model.store.all.values(),
        )

    def step(self, model, *args, optimizer="sgd", images=None, **placement):
        assert images is None
        return self._once(
            ("step", id(model), *args, optimizer),
            lambda: TrainStep(model, *args, optimizer=optimizer, **placement),
            lambda step: step.state.values(),
        )

    def detector(self, model, size, batch, averages, mode="JAX"):
        return self._once(
            ("detector", id(model), size, batch, id(averages), mode),
            lambda: compile_detector(model, size, batch, averages, mode),
            lambda detector: [],
        )

    def install(self, monkeypatch):
        monkeypatch.setattr(assembly, "YOLO11n", self.model)
        monkeypatch.setattr(assembly, "TrainStep", self.step)
        monkeypatch.setattr(training_run, "compile_detector", self.detector)


@pytest.fixture(scope="module")
def compiled():
    return Compiled()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def loader(data):
    paths = find_data(data)
    dataset = CocoDataset(paths.train_json, paths.train_images, CLASSES, SIZE)
    return BatchLoader(dataset, BATCH, augment=Augment(), workers=0)


@pytest.fixture(scope="module")
def batches(loader):
    return list(loader.epoch(0))


@pytest.fixture
def steps(compiled, loader):
    """(model, fused step, accumulating step), all as if new."""
    args = (SIZE, BATCH, loader.max_boxes, 5e-4)
    model = compiled.model()
    fused, summed = compiled.step(model, *args, 1), compiled.step(model, *args, 2)
    return compiled.model(), fused, summed


@pytest.fixture
def train(compiled, data, monkeypatch, capsys):
    """Run the script in this process; (exit code, stdout, stderr)."""
    compiled.install(monkeypatch)

    def run(*arguments):
        capsys.readouterr()
        code = train_yolo11n.main(command(data, *arguments))
        return code, *capsys.readouterr()

    return run


def values_of(variables):
    return {name: np.array(v.get_value()) for name, v in variables.items()}


def assert_same_rows(a, b):
    rows = [without_times(read_rows(folder / "results.csv")) for folder in (a, b)]
    assert rows[0] == rows[1]


def assert_same_file(a, b):
    (arrays_a, info_a), (arrays_b, info_b) = load_weights(a), load_weights(b)
    assert arrays_a.keys() == arrays_b.keys()
    for name, value in arrays_a.items():
        assert value.tobytes() == arrays_b[name].tobytes(), name
    for info in (info_a, info_b):
        if "progress" in info:
            info["progress"]["rows"] = without_times(info["progress"]["rows"])
            for name in ("seconds", "waited"):
                del info["progress"][name]
    assert info_a == info_b


# ------------------------------------------------------------------------------ schedule


def test_linear_schedule_and_warm_up():
    recipe = Recipe(schedule="linear", warmup_epochs=3, lr=0.01, final_lr=0.01)
    settings = StepSettings(recipe, epochs=100, batches=10, batch_size=16)
    assert settings.warmup == 30
    assert settings.at(0, 0) == (0.0, 0.1, 0.8, 1)
    # Factor of epoch 1: 0.99 * 0.99 + 0.01 = 0.9901; half of the warm-up done.
    half = (0.0049505, 0.1 + 0.5 * (0.009901 - 0.1), 0.8685, 2)
    assert settings.at(1, 15) == pytest.approx(half)
    assert settings.at(1, 10)[3] == 2  # 1 + 10 / 30 * 3
    assert settings.at(0, 4)[3] == 1  # 1.4
    assert settings.at(2, 26)[3] == 4  # 3.6
    assert settings.at(3, 30) == pytest.approx((0.009703, 0.009703, 0.937, 4))
    assert settings.at(3, 31) == pytest.approx((0.009703, 0.009703, 0.937, 4))
    assert settings.at(99, 999) == pytest.approx((0.000199, 0.000199, 0.937, 4))


def test_cosine_schedule():
    settings = StepSettings(Recipe(schedule="cosine", final_lr=0.1), 100, 10, 64)
    assert settings.at(50, 500)[0] == pytest.approx(0.01 * (0.1 + 0.9 * 0.5))
    assert settings.at(25, 250)[0] == pytest.approx(0.01 * (0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2))


@pytest.mark.parametrize(
    ("batch_size", "epochs", "batches", "accumulate", "weight_decay"),
    [
        (16, 100, 10, 4, 5e-4),
        (64, 100, 10, 1, 5e-4),
        (128, 100, 10, 1, 1e-3),
        (24, 100, 10, 3, 5.625e-4),  # 64 / 24 = 2.67; three batches of 24 are 72 images
        (16, 1, 2, 2, 2.5e-4),  # the whole run has 32 images
    ],
)
def test_accumulation_and_scaled_decay(batch_size, epochs, batches, accumulate, weight_decay):
    settings = StepSettings(Recipe(), epochs, batches, batch_size)
    assert settings.accumulate == accumulate
    assert settings.weight_decay == pytest.approx(weight_decay)


@pytest.mark.parametrize("change", [{"epochs": 1}, {"recipe": Recipe(warmup_epochs=0)}])
def test_without_warm_up(change):
    settings = StepSettings(
        **({"recipe": Recipe(), "epochs": 9, "batches": 4} | change), batch_size=64
    )
    assert settings.warmup == 0
    assert settings.at(0, 0) == pytest.approx((0.01, 0.01, 0.937, 1))


# ------------------------------------------------------------------------------ the compiled step

RATES = (0.01, 0.05, 0.9)
STEPS_DONE = 10_000  # the averages' decay is 0.9999 * (1 - exp(-5.0005)) then


def test_accumulated_step_by_hand(steps, batches):
    """Two batches, then a step, against NumPy: sums, clipping, groups, Nesterov, averages."""
    model, _, step = steps
    recipe = Recipe()
    sums = {p.name: step.state[f"{p.name}.accumulated_gradient"] for p in model.params}
    one, both, two = {}, {}, {}
    # Training gradients don't depend on running statistics, which change meanwhile.
    for chosen, result in [([0], one), ([0, 1], both), ([1], two)]:
        for variable in sums.values():
            variable.set_value(np.zeros_like(variable.get_value()))
        for k in chosen:
            _, norm = step.run(batches[k], RATES, False, STEPS_DONE, recipe)
            assert norm is None
        result |= values_of(sums)
    for name, variable in sums.items():
        scale = np.abs(one[name]).max() + np.abs(two[name]).max()
        assert scale > 0, name
        assert np.abs(one[name] + two[name] - both[name]).max() <= 1e-6 * scale, name
        variable.set_value(both[name])

    params = values_of({p.name: p for p in model.params})
    averages = values_of(step.averages)
    norm = float(step.apply(RATES, STEPS_DONE, recipe))
    expected_norm = math.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in both.values()))
    assert norm == pytest.approx(expected_norm, rel=1e-4)
    assert norm > 10
    decay = 0.9999 * (1 - math.exp(-10_001 / 2000))
    kinds = set()
    for p in model.params:
        gradient = both[p.name] * (10 / expected_norm)
        rate = RATES[0]
        if p.name.endswith(".bias"):
            rate = RATES[1]
            kinds.add("bias")
        elif ".bn." in p.name:
            kinds.add("gamma")
        else:
            assert params[p.name].ndim == 4, p.name
            gradient = gradient + 5e-4 * params[p.name]
            kinds.add("filter")
        # The first step of Nesterov's momentum: the buffer is the gradient.
        expected = params[p.name] - rate * (gradient + RATES[2] * gradient)
        actual = np.asarray(p.get_value())
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6, err_msg=p.name)
        buffer = np.asarray(step.state[f"{p.name}.momentum_buffer"].get_value())
        np.testing.assert_allclose(buffer, gradient, rtol=1e-3, atol=1e-6, err_msg=p.name)
        average = np.asarray(step.averages[p.name].get_value())
        expected = decay * averages[p.name] + (1 - decay) * actual
        np.testing.assert_allclose(average, expected, rtol=1e-5, atol=1e-6, err_msg=p.name)
    assert kinds == {"bias", "gamma", "filter"}
    for name, variable in model.store.statistics.items():
        expected = decay * averages[name] + (1 - decay) * np.asarray(variable.get_value())
        actual = np.asarray(step.averages[name].get_value())
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6, err_msg=name)
    assert not any(np.asarray(v.get_value()).any() for v in sums.values())


def test_fused_step_equals_accumulated_one(steps, batches, compiled):
    model, fused, summed = steps
    start = values_of({p.name: p for p in model.params})
    results = []
    for step in (fused, summed):
        model = compiled.model()
        losses, norm = step.run(batches[0], RATES, True, 0, Recipe())
        shared = {p.name: p for p in model.params} | model.store.statistics
        buffers = {n: v for n, v in step.state.items() if n.endswith("momentum_buffer")}
        averages = {f"{n}.ema": v for n, v in step.averages.items()}
        results.append(([*map(float, losses), float(norm)], values_of(shared | buffers | averages)))
    (numbers, arrays), (other_numbers, other_arrays) = results
    assert numbers == pytest.approx(other_numbers, rel=1e-4)
    assert arrays.keys() == other_arrays.keys()
    assert len(arrays) == 3 * len(start) + 2 * len(model.store.statistics)
    for name, value in arrays.items():
        base = start.get(name.removesuffix(".ema"), 0)
        moved = np.abs(value - base).max()
        assert np.abs(value - other_arrays[name]).max() <= 1e-3 * moved + 1e-6, name


def test_average_follows_the_schedule_of_its_decay(steps, batches):
    """k-th step: 0.9999 * (1 - exp(-k / 2000)), k from 1."""
    model, step, _ = steps
    name = "model.0.conv.weight"
    average = np.asarray(step.averages[name].get_value()).astype(np.float64)
    for done in range(3):
        step.run(batches[done], RATES, True, done, Recipe())
        decay = 0.9999 * (1 - math.exp(-(done + 1) / 2000))
        weight = np.asarray(model.store.trainable[name].get_value())
        average = decay * average + (1 - decay) * weight
        actual = np.asarray(step.averages[name].get_value())
        np.testing.assert_allclose(actual, average, rtol=1e-5, atol=1e-7)
        # So early, the average is nearly the weight itself, and yet not the same.
        assert 0 < np.abs(actual - weight).max() < 2e-3


@pytest.mark.parametrize("kind", ["fused", "summed"])
def test_one_compilation_and_values_stay_on_the_device(steps, batches, kind):
    import jax

    model, fused, summed = steps
    step = {"fused": fused, "summed": summed}[kind]
    variables = [*model.store.trainable.values(), *model.store.statistics.values()]
    variables += step.state.values()
    # Warm: the first call gets NumPy's arrays, the second what the first left on the device.
    for done in range(2):
        step.run(batches[done], RATES, True, done, Recipe())
    functions = [step._step] if step.fused else [step._add, step._apply]
    sizes = [function.vm.jit_fn._cache_size() for function in functions]
    compilations = []

    def listen(event, duration, **_):
        if "compile" in event or "trace" in event:
            compilations.append(event)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for done in range(2, 5):
            step.run(batches[done % 3], RATES, True, done, Recipe())
            for v in variables:
                assert isinstance(v.container.storage[0], jax.Array), v.name
                assert v.container.storage[0].dtype == np.float32, v.name
    finally:
        jax.monitoring.clear_event_listeners()
    assert compilations == []
    assert [function.vm.jit_fn._cache_size() for function in functions] == sizes


def graph_variables(fgraph):
    """All variables of a graph and of the graphs inside its Ops."""
    for node in fgraph.toposort():
        yield from node.inputs
        yield from node.outputs
        op = node.op
        for candidate in (op, getattr(op, "scalar_op", None)):
            if isinstance(candidate, HasInnerGraph):
                yield from graph_variables(candidate.fgraph)


def test_graphs_are_float32(steps, compiled):
    """Whatever floatX is: here it is float64."""
    model, fused, summed = steps
    detector = compiled.detector(model, SIZE, BATCH, fused.averages)
    for function in (fused._step, summed._add, summed._apply, detector):
        variables = [
            v
            for v in graph_variables(function.maker.fgraph)
            if isinstance(v.type, TensorType | ScalarType)
        ]
        assert len(variables) > 500
        wide = {str(v) for v in variables if v.type.dtype in ("float64", "complex128")}
        assert not wide


# ------------------------------------------------------------------------------ the loop


class Recorder:
    """A step that computes nothing, and keeps what it was called with."""

    def __init__(self, *args, **settings):
        self.args, self.calls, self.state, self.averages = args, [], {}, {}
        self.settings, self.results, self.batches = settings, {}, []

    def transfer(self, batch):
        return batch

    def place_variables(self):
        pass

    def run(self, batch, rates, step_now, steps_done, recipe):
        position = len(self.calls)
        self.calls.append((step_now, steps_done, *rates))
        self.batches.append(batch)
        losses = self.results.get(position, [1.0, 2.0, 3.0])
        return losses[:3], (losses[3] if len(losses) > 3 else 0.5) if step_now else None


@pytest.fixture
def recorded(train, monkeypatch):
    """`train` without arithmetic, and the steps it made."""
    made = []
    results = {}

    def step(*args, **settings):
        made.append(Recorder(*args, **settings))
        made[-1].results = results
        return made[-1]

    monkeypatch.setattr(assembly, "TrainStep", step)
    monkeypatch.setattr(training_run, "compile_detector", lambda *args: None)
    monkeypatch.setattr(finishing, "detect", lambda *args, **settings: {})
    monkeypatch.setattr(finishing, "draw_validation", lambda *args: None)
    return train, made, results


def stepped(calls):
    return [k for k, (now, *_) in enumerate(calls) if now]


def test_steps_go_on_across_epochs_and_interruptions(recorded, tmp_path):
    """Three batches an epoch and four a step."""
    train, made, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 6, "--nominal-batch", 4 * BATCH]
    common += ["--warmup-epochs", 0, "--momentum", 0.9]
    assert train(*common, "--stop-after", 4)[0] == 0
    whole = made[-1].calls
    assert stepped(whole) == [3, 7, 11]
    assert [call[1] for call in whole] == [0] * 4 + [1] * 4 + [2] * 4
    assert {call[4] for call in whole} == {0.9}
    _, size, batch_size, max_boxes, weight_decay, accumulate = made[-1].args
    assert (size, batch_size, weight_decay, accumulate) == (SIZE, BATCH, 5e-4, 4)
    assert max_boxes >= 1
    split = []
    for until, resume in [(1, []), (2, ["--resume"]), (4, ["--resume"])]:
        code, out, _ = train(*common, *resume, "--stop-after", until)
        assert code == 0
        assert f"stopped after epoch {until}; go on with" in out
        split += made[-1].calls
    assert split == whole


def test_steps_during_the_warm_up(recorded, tmp_path):
    """1, 1.3, 1.7, 2, 2.3, 2.7 batches a step in the six iterations of it, rounded; then 3."""
    train, made, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 6, "--nominal-batch", 3 * BATCH]
    common += ["--schedule", "linear", "--warmup-epochs", 2]
    assert train(*common, "--stop-after", 4)[0] == 0
    calls = made[-1].calls
    assert stepped(calls) == [0, 1, 3, 6, 9]
    assert [call[2] for call in calls[:3]] == pytest.approx([0, 0.01 / 6, 0.02 / 6])
    assert calls[2][3] == pytest.approx(0.1 + (0.01 - 0.1) / 3)
    # The warm-up ends with the first iteration of epoch 2.
    assert calls[6][2:] == pytest.approx((0.01 * (4 / 6 * 0.99 + 0.01),) * 2 + (0.937,))


NOT_FINITE = pytest.mark.parametrize(
    ("position", "values"),
    [(4, [math.nan, 2.0, 3.0]), (5, [1.0, math.inf, 3.0]), (5, [1.0, 2.0, 3.0, math.nan])],
    ids=["in the epoch", "last batch of the epoch", "gradient alone"],
)


@NOT_FINITE
def test_first_step_that_is_not_finite_rolls_back(recorded, tmp_path, position, values):
    train, made, results = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 5, "--checkpoint-every", 1]
    assert train(*common)[0] == 0
    good = made[-1].calls
    results[position] = values
    code, out, _ = train(*common)
    assert code == 0
    assert out.count("warning: the loss or its gradient is not finite in epoch 2, step") == 1
    assert "going back to the state after step 3, with the learning rate times 0.1" in out
    calls = made[-1].calls[-12:]  # epochs 2 to 5, once more
    assert [call[:2] for call in calls] == [call[:2] for call in good[3:]]
    rates = np.array([call[2:] for call in calls]) / np.array([call[2:] for call in good[3:]])
    np.testing.assert_allclose(rates, np.tile([0.1, 0.1, 1], (12, 1)))
    rows = read_rows(tmp_path / "results.csv")
    assert [int(row["epoch"]) for row in rows] == [1, 2, 3, 4, 5]
    assert float(rows[1]["lr"]) == pytest.approx(good[5][2] / 10)
    _, info = load_weights(tmp_path / "last.safetensors")
    assert (info["progress"]["lr_factor"], info["progress"]["roll_backs"]) == (0.1, 1)


@NOT_FINITE
def test_second_step_that_is_not_finite_ends_the_run(recorded, tmp_path, position, values):
    train, made, results = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 5, "--checkpoint-every", 1]
    results[position] = values
    # Calls are counted on: the same step comes again after those that were rolled back.
    results[position + 3] = values
    code, _, err = train(*common)
    assert code == 1
    assert err.count("\n") == 1
    assert "error: the loss or its gradient is not finite in epoch 2, step" in err
    assert f"{tmp_path / 'last.safetensors'} holds the state after step 3" in err
    _, info = load_weights(tmp_path / "last.safetensors")
    assert (info["progress"]["epoch"], info["progress"]["iteration"]) == (1, 3)
    # A resumed run keeps the lower rate, and has had its second chance.
    results.clear()
    results[1] = [math.nan] * 3
    code, out, _ = train(*common, "--resume")
    assert code == 1
    assert "going back" not in out
    lowered = made[-1].calls[0]
    results.clear()
    assert train(*common, "--stop-after", 2)[0] == 0
    assert lowered[2] == pytest.approx(0.1 * made[-1].calls[3][2])


def test_rolls_back_to_the_initial_state(recorded, tmp_path):
    train, made, results = recorded
    results[1] = [math.nan, 2.0, 3.0]
    code, out, _ = train("--output-dir", tmp_path, "--no-export", "--epochs", 2, "--val-every", 9)
    assert code == 0
    assert "going back to the state after step 0" in out
    # One step more was dispatched before the loss was seen.
    assert [call[1] for call in made[-1].calls] == [0, 1, 2, 0, 1, 2, 3, 4, 5]


def full(*_):
    raise OSError(28, "No space left on device")


def test_disk_that_is_full_for_a_while(recorded, tmp_path, monkeypatch):
    """The run goes on, says so, keeps the old checkpoint, and writes all when there is room."""
    train, _, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 5, "--checkpoint-every", 1]
    assert train(*common, "--stop-after", 1)[0] == 0
    before = (tmp_path / "last.safetensors").read_bytes()
    seen = []
    with monkeypatch.context() as patch:

        def make_room(*_, **settings):  # at the validation, in the last epoch
            seen.append((tmp_path / "last.safetensors").read_bytes())
            seen.append([path.name for path in tmp_path.glob(".*")])
            patch.undo()
            return {}

        patch.setattr(finishing, "detect", make_room)
        patch.setattr(os, "fsync", full)
        code, out, err = train(*common, "--resume")
    assert (code, err) == (0, "")
    assert seen == [before, []]
    assert re.search(
        r"warning: .*last.safetensors \(.* MiB\) could not be written: No space left on device; "
        r"[\d,]+ MiB are free there; the older one is kept",
        out,
    )
    _, info = load_weights(tmp_path / "last.safetensors")
    assert info["progress"]["epoch"] == 5
    assert len(read_rows(tmp_path / "results.csv")) == 5


def test_disk_that_stays_full(recorded, tmp_path, monkeypatch):
    train, _, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 5]
    assert train(*common, "--stop-after", 1)[0] == 0
    before = (tmp_path / "last.safetensors").read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    code, _, err = train(*common, "--resume", "--stop-after", 3)
    assert code == 1
    assert err.startswith("error: could not be written: ")
    assert "last.safetensors" in err
    assert err.endswith("(No space left on device); make room and go on with --resume\n")
    assert (tmp_path / "last.safetensors").read_bytes() == before


def test_synthetic_set_is_drawn_once(recorded, tmp_path):
    train, made, _ = recorded
    common = ["--data", "synthetic", "--data-dir", tmp_path / "data", "--train-images", 5]
    common += ["--val-images", 2, "--no-export", "--epochs", 2, "--output-dir", tmp_path / "run"]
    code, out, _ = train(*common, "--stop-after", 1)
    assert code == 0
    assert "drew 5 + 2 images" in out
    assert len(made[-1].calls) == 2
    code, out, _ = train(*common, "--stop-after", 1)
    assert code == 0
    assert "drew" not in out


@pytest.mark.parametrize(
    ("name", "optimizer", "lr"),
    [("sgd", "sgd", 0.01), ("adamw", "adamw", 0.01), ("auto", "adamw", 0.001667)],
)
def test_optimizer(recorded, tmp_path, name, optimizer, lr):
    train, made, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 2, "--warmup-epochs", 0]
    code, _, _ = train(*common, "--optimizer", name, "--schedule", "cosine")
    assert code == 0
    assert made[-1].settings["optimizer"] == optimizer
    assert made[-1].calls[0][2] == pytest.approx(lr)
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert settings["recipe"]["optimizer"] == optimizer
    assert settings["options"]["optimizer"] == name


def test_images_drawn_on_the_device_are_those_of_the_host(recorded, tmp_path):
    train, made, _ = recorded
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 2, "--stop-after", 1]
    common += ["--mosaic", 1, "--close-mosaic", 0, "--workers", 1, "--device-augment"]
    for choice in ("off", "on"):
        assert train(*common, choice)[0] == 0
    host, device = made[-2:]
    assert host.settings["images"] is None
    images = device.settings["images"]
    assert len(host.batches) == len(device.batches) == 3
    draw = pytensor.function(images.variables, images.images, mode="JAX", trust_input=True)
    for drawn, planned in zip(host.batches, device.batches, strict=True):
        assert planned.images is None
        for name in ("boxes", "classes", "num_boxes", "indices"):
            np.testing.assert_array_equal(getattr(drawn, name), getattr(planned, name))
        actual = np.asarray(draw(*images.arguments(planned))) * 255
        assert drawn.images.std() > 10
        np.testing.assert_allclose(actual, drawn.images, rtol=0, atol=1.01)
        assert np.mean(np.abs(actual - drawn.images)) < 0.01


def test_weights_of_more_classes(recorded, tmp_path):
    train, _, _ = recorded
    full = YOLO11n(80, seed=5).state_dict()
    path = tmp_path / "coco.safetensors"
    save_weights(path, full, {})
    common = ["--output-dir", tmp_path, "--no-export", "--epochs", 2, "--weights", path]
    code, out, _ = train(*common, "--stop-after", 1)
    assert code == 0
    assert "418 of 418 arrays taken" in out
    assert "classes: person (row 0), cell phone (row 67)" in out
    arrays, info = load_weights(tmp_path / "last.safetensors")
    assert info["class_width"] == 80
    rows = {f"model.23.cv3.{k}.2.{kind}" for k in range(3) for kind in ("weight", "bias")}
    for name, value in full.items():
        np.testing.assert_array_equal(arrays[name], value[[0, 67]] if name in rows else value)
    path.unlink()  # a resumed run has all it needs
    assert train(*common[:-2], "--resume", "--stop-after", 1)[0] == 0  # even without --weights
    assert train(*common, "--resume")[0] == 0
    best, info = load_weights(tmp_path / "best.safetensors")
    assert (info["class_width"], info["epoch"]) == (80, 2)
    assert YOLO11n(2, class_width=80).load_state_dict(best) == ([], [])


def test_bugs_are_not_hidden(recorded, tmp_path, monkeypatch):
    train, _, _ = recorded

    def broken(*_):
        raise ValueError("shapes differ")

    monkeypatch.setattr(Recorder, "run", broken)
    with pytest.raises(ValueError, match="shapes differ"):
        train("--output-dir", tmp_path, "--no-export", "--epochs", 2)


# ------------------------------------------------------------------------------ whole runs


@pytest.fixture(scope="module")
def learned(compiled, data, tmp_path_factory):
    """(folder, exit code) of an unbroken run with everything at its end."""
    folder = tmp_path_factory.mktemp("learned")
    with pytest.MonkeyPatch.context() as monkeypatch:
        compiled.install(monkeypatch)
        code = train_yolo11n.main(command(data, *learning(folder), "--require-map50", 1.1))
    return folder, code


def learning(folder):
    own = ["--epochs", LEARNING_EPOCHS, "--val-every", 10, "--lr", 0.02, "--schedule", "cosine"]
    return ["--output-dir", folder, *own]


def test_training_lowers_the_loss_and_writes_everything(learned):
    folder, code = learned
    assert code == 1  # for the mAP that was required is out of reach
    rows = read_rows(folder / "results.csv")
    assert [int(row["epoch"]) for row in rows] == list(range(1, LEARNING_EPOCHS + 1))
    losses = [sum(float(row[part]) for part in LOSS_PARTS) for row in rows]
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    assert float(rows[-1]["map50"]) > 0.4
    validated = [int(row["epoch"]) for row in rows if row["map50"]]
    assert validated == [10, 20, 30, 40]
    metrics = json.loads((folder / "metrics.json").read_text())
    best = max((row for row in rows if row["map50_95"]), key=lambda row: float(row["map50_95"]))
    assert metrics["best_epoch"] == int(best["epoch"])
    for scores, row in [(metrics, best), (metrics["last"], rows[-1])]:
        for name in ("map50", "map50_95"):
            assert scores[name] == float(row[name])
        assert set(scores["per_class"]) == set(CLASSES)
    assert metrics["epochs"] == LEARNING_EPOCHS
    assert metrics["onnx"]["box_difference"] < 0.05
    for name in ("results.png", "val_detections.png"):
        with Image.open(folder / name) as picture:
            assert min(picture.size) > 100
    arrays, info = load_weights(folder / "best.safetensors")
    assert info["classes"] == CLASSES
    assert YOLO11n(2).load_state_dict(arrays) == ([], [])
    assert info["map50_95"] == float(best["map50_95"])
    assert sorted(p.name for p in folder.iterdir()) == [
        "best.safetensors",
        "last.safetensors",
        "metrics.json",
        "results.csv",
        "results.png",
        "settings.json",
        "steps.csv",
        "train.log",
        "val_detections.png",
        f"yolo11n_{SIZE}_trained.onnx",
    ]


def assert_averages(arrays, checkpoint):
    """Weights are the averaged ones of a checkpoint; after so few steps, those differ little."""
    saved, _ = load_weights(checkpoint)
    averages = {n: v for n, v in saved.items() if n.endswith(".ema")}
    assert len(averages) > 400
    assert any(not np.array_equal(v, saved[n[6:-4]]) for n, v in averages.items())
    for name, value in averages.items():
        np.testing.assert_array_equal(arrays[name.removeprefix("state.")[:-4]], value)


def test_resumed_run_equals_the_unbroken_one(learned, train, tmp_path, monkeypatch):
    common = learning(tmp_path)
    code, out, _ = train(*common, "--stop-after", 10)
    assert code == 0
    assert "stopped after epoch 10; go on with\n" in out
    assert_averages(load_weights(tmp_path / "best.safetensors")[0], tmp_path / "last.safetensors")
    assert (tmp_path / "results.png").exists()
    assert not (tmp_path / "metrics.json").exists()
    code, out, _ = train(*common, "--resume", "--no-export")
    assert code == 0
    assert f"resumed after epoch 10 of {LEARNING_EPOCHS}" in out
    folder, _ = learned
    assert_same_rows(tmp_path, folder)
    for name in ("last.safetensors", "best.safetensors"):
        assert_same_file(tmp_path / name, folder / name)

    # Once more, though nothing is left to train: the final files are made again.
    (tmp_path / "metrics.json").unlink()
    exported = []
    report = {"nodes": 0, "box_difference": 0.0, "score_difference": 0.0}

    def export(*args):
        exported.append(args)
        args[1].write_bytes(b"model")

    monkeypatch.setattr(finishing, "export_detector", export)
    monkeypatch.setattr(finishing, "verify_export", lambda *args: report)
    code, _, err = train(*common, "--resume", "--require-map50", 1.1)
    assert code == 1
    assert err.startswith("error: mAP@0.5 is ")
    metrics, before = (
        json.loads((path / "metrics.json").read_text()) for path in (tmp_path, folder)
    )
    assert metrics["onnx"] == report
    assert metrics | {"onnx": 0, "train_seconds": 0} == before | {"onnx": 0, "train_seconds": 0}
    assert_same_file(tmp_path / "last.safetensors", folder / "last.safetensors")
    [(model, path, classes, size, batch)] = exported
    best, _ = load_weights(tmp_path / "best.safetensors")
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value, best[name])
    assert (classes, size, batch) == (CLASSES, SIZE, 1)
    assert path == tmp_path / f".yolo11n_{SIZE}_trained.onnx.partial"
    assert not path.exists()
    assert (tmp_path / f"yolo11n_{SIZE}_trained.onnx").read_bytes() == b"model"


class Killed(BaseException):
    """Ends a run without a word."""


def test_resume_within_an_epoch(train, tmp_path, monkeypatch):
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    common = ["--epochs", 4, "--no-export", "--val-every", 2, "--log-every", 1]
    common += ["--checkpoint-steps", 2, "--output-dir"]
    assert train(*common, whole)[0] == 0
    run, count = TrainStep.run, iter(range(100))

    def killed(*args):
        if next(count) == 5:
            raise Killed
        return run(*args)

    with monkeypatch.context() as patch:
        patch.setattr(TrainStep, "run", killed)
        with pytest.raises(Killed):
            train(*common, folder)
    _, info = load_weights(folder / "last.safetensors")
    assert [info["progress"][name] for name in ("epoch", "batch", "iteration")] == [1, 1, 4]
    code, out, _ = train(*common, folder, "--resume")
    assert code == 0
    assert "resumed after epoch 1 and 1 batches of 4" in out
    assert_same_rows(folder, whole)
    assert read_rows(folder / "steps.csv") == read_rows(whole / "steps.csv")
    for name in ("last.safetensors", "best.safetensors"):
        assert_same_file(folder / name, whole / name)


def test_a_lost_loader_costs_no_step(train, tmp_path, monkeypatch):
    whole, folder = tmp_path / "whole", tmp_path / "lost"
    common = ["--epochs", 3, "--no-export", "--log-every", 1, "--output-dir"]
    assert train(*common, whole)[0] == 0
    epoch = BatchLoader.epoch

    def lost(self, number, start_batch=0):
        yield from itertools.islice(epoch(self, number, start_batch), 2 if number == 1 else None)
        if number == 1:
            raise LoaderError("worker 0 was killed")

    with monkeypatch.context() as patch:
        patch.setattr(BatchLoader, "epoch", lost)
        code, _, err = train(*common, folder)
    assert code == 1
    assert err.strip() == "error: worker 0 was killed"
    _, info = load_weights(folder / "last.safetensors")
    assert [info["progress"][name] for name in ("epoch", "batch")] == [1, 2]
    assert train(*common, folder, "--resume")[0] == 0
    assert_same_rows(folder, whole)
    assert_same_file(folder / "last.safetensors", whole / "last.safetensors")


def test_resume_with_half_accumulated_gradients(train, tmp_path):
    common = ["--epochs", 9, "--nominal-batch", 2 * BATCH, "--no-export", "--warmup-epochs", 0]
    for folder, stops in [("whole", [4]), ("split", [1, 3, 4])]:
        for stop in stops:
            resume = [] if stop == stops[0] else ["--resume"]
            output = ["--output-dir", tmp_path / folder, "--stop-after", stop]
            assert train(*common, *output, *resume)[0] == 0
            arrays, _ = load_weights(tmp_path / folder / "last.safetensors")
            sums = [v for n, v in arrays.items() if n.endswith(".accumulated_gradient")]
            # Three batches an epoch, two a step.
            assert any(v.any() for v in sums) == (stop % 2 == 1)
    whole, split = (tmp_path / name for name in ("whole", "split"))
    assert_same_rows(whole, split)
    assert_same_file(whole / "last.safetensors", split / "last.safetensors")


@pytest.mark.long
@pytest.mark.parametrize("nominal_batch", [BATCH, 2 * BATCH])
def test_resume_in_another_process(data, tmp_path, nominal_batch):
    """Each process compiles for itself, and orders its sets otherwise."""
    script = Path(train_yolo11n.__file__)
    common = ["--epochs", 3, "--nominal-batch", nominal_batch, "--no-export", "--val-every", 2]
    runs = [("whole", []), ("split", ["--stop-after", 1]), ("split", ["--resume"])]
    for seed, (folder, extra) in enumerate(runs, 1):
        environment = os.environ | {
            "PYTHONHASHSEED": str(seed),
            # nothing to XLA on CPUs; on GPUs, sums come out alike each time
            "XLA_FLAGS": "--xla_gpu_deterministic_ops=true",
            "PYTENSOR_FLAGS": "",
        }
        arguments = command(data, *common, "--output-dir", tmp_path / folder, *extra)
        done = subprocess.run(
            [sys.executable, script, *arguments], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""  # no bar where there is no terminal
    whole, split = (tmp_path / name for name in ("whole", "split"))
    assert_same_rows(whole, split)
    for name in ("last.safetensors", "best.safetensors"):
        assert_same_file(whole / name, split / name)


# ------------------------------------------------------------------------------ bad input


def test_diverging_training_stops(learned, train, tmp_path):
    code, out, err = train("--epochs", 4, "--lr", 1e30, "--no-export", "--output-dir", tmp_path)
    assert code == 1
    assert "going back to the state after step 0" in out
    assert "the loss or its gradient is not finite in epoch 1, step" in err
    assert err.count("\n") == 1
    _, info = load_weights(tmp_path / "last.safetensors")
    assert (info["progress"]["iteration"], info["progress"]["lr_factor"]) == (0, 0.1)


def test_checkpoint_of_other_settings_or_broken(learned, train, tmp_path):
    folder, _ = learned
    last = tmp_path / "last.safetensors"
    common = [*learning(tmp_path), "--no-export", "--resume"]
    whole = (folder / "last.safetensors").read_bytes()
    for content, extra, message in [
        (whole, ["--lr", "0.03"], "lr 0.02 instead of 0.03"),
        (whole, ["--epochs", "13"], f"epochs {LEARNING_EPOCHS} instead of 13"),
        (whole[:-7], [], "cut short"),
        ((folder / "best.safetensors").read_bytes(), [], "a weight file, not a checkpoint"),
    ]:
        last.write_bytes(content)
        code, _, err = train(*common, *extra)
        assert code == 1
        assert err.startswith(f"error: {last}: ")
        assert message in err
        assert err.count("\n") == 1
        assert last.read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "{tmp}/none"], "none does not exist"),
        (["--data", "{tmp}/file"], "neither a folder nor"),
        (["--classes", "person", "giraffe"], "no category ['giraffe']; available: "),
        (["--resume"], "nothing to resume"),
        (["--output-dir", "{tmp}/file/below"], "can't write to the output folder"),
        (["--output-dir", "{tmp}/file"], "can't write to the output folder"),
        (["--export-onnx", "{tmp}/file/m.onnx"], "give another --export-onnx"),
        (["--export-onnx", "{tmp}"], "is a folder"),
        (["--weights", "{tmp}/none.safetensors", "--data", "{tmp}/none"], "no such file"),
    ],
)
def test_one_line_for_what_cannot_work(data, tmp_path, capsys, arguments, message):
    (tmp_path / "file").write_text("x")
    arguments = [a.format(tmp=tmp_path) for a in arguments]
    own = command(data, "--epochs", 2, "--output-dir", tmp_path / "out")
    assert train_yolo11n.main([*own, *arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


def test_a_run_is_not_overwritten_unasked(data, tmp_path, capsys):
    (tmp_path / "last.safetensors").write_bytes(b"precious")
    own = [a for a in command(data, "--output-dir", tmp_path) if a != "--overwrite"]
    assert train_yolo11n.main(own) == 1
    err = capsys.readouterr().err
    assert "holds a run already: --resume goes on with it, --overwrite replaces it" in err
    assert (tmp_path / "last.safetensors").read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ema-decay", "1"], "--ema-decay must be at least 0 and below 1"),
        (["--ema-steps", "0"], "--ema-steps must be positive, got 0"),
        (["--num-classes", "3"], "--num-classes 3 doesn't fit the 2 --classes person, cell phone"),
        (["--image-size", "70"], "--image-size must be a multiple of 32, got 70"),
        (["--image-size", "0"], "--image-size must be a multiple of 32"),
        (["--epochs", "0"], "--epochs must be at least 1, got 0"),
        (["--lr", "nan"], "--lr must be at least 0, got nan"),
        (["--lr", "-1"], "--lr must be at least 0"),
        (["--momentum", "1"], "--momentum must be at least 0 and below 1"),
        (["--mosaic", "2"], "--mosaic is a probability"),
        (["--stop-after", "0"], "--stop-after must be at least 1"),
        (["--classes", "person", "person"], "--classes names one twice"),
        (["--data", "own", "--data-dir", "x"], "--data-dir is for --data coco and --data synt"),
    ],
)
def test_options_that_make_no_sense(capsys, arguments, message):
    with pytest.raises(SystemExit) as error:
        train_yolo11n.parse_arguments("", arguments)
    assert error.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_data_without_boxes_of_the_classes(data, tmp_path, capsys):
    root = tmp_path / "data"
    root.mkdir()
    (root / "images").symlink_to(data / "images")
    (root / "annotations").mkdir()
    for split in ("train", "val"):
        name = f"annotations/instances_{split}.json"
        content = json.loads((data / name).read_text())
        if split == "val":
            content["annotations"] = []
        (root / name).write_text(json.dumps(content))
    assert train_yolo11n.main(command(root, "--output-dir", tmp_path / "out")) == 1
    assert capsys.readouterr().err == (
        "error: the validation set has no box of person, cell phone\n"
    )


@pytest.mark.long
def test_best_weights_get_statistics_of_their_own(learned, compiled, data, tmp_path, monkeypatch):
    """A finished run that is resumed with them changes nothing else of its best weights."""
    folder = tmp_path / "run"
    shutil.copytree(learned[0], folder)
    before, _ = load_weights(folder / "best.safetensors")
    compiled.install(monkeypatch)
    own = ["--resume", "--statistics-images", 12, "--no-export"]
    assert train_yolo11n.main(command(data, *learning(folder), *own)) == 0
    after, info = load_weights(folder / "best.safetensors")
    assert before.keys() == after.keys()
    for name, value in before.items():
        assert (value != after[name]).any() == (".running_" in name), name
    scored = json.loads((folder / "metrics.json").read_text())
    assert info["epoch"] == scored["best_epoch"]
    assert info["map50_95"] == scored["map50_95"]
