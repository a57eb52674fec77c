"""The training recipe: its numbers, its choices, rates and groups of parameters."""

import math

import numpy as np
import pytest
from model import YOLO11n
from training.recipe import Recipe, StepSettings, of_last_layer, parameter_groups, resolve

import pytensor
import pytensor.tensor as pt

# ------------------------------------------------------------------------------ auto


@pytest.mark.parametrize(("num_classes", "lr"), [(2, 0.001667), (80, 0.000119)])
def test_short_runs_get_adamw(num_classes, lr):
    recipe = resolve(Recipe(optimizer="auto", lr=0.5), 6400, 16, 100, num_classes)
    assert recipe == Recipe(optimizer="adamw", lr=lr, warmup_bias_lr=0.0)


@pytest.mark.parametrize(
    ("images", "batch", "epochs"),
    [
        (6401, 16, 100),  # 101 steps an epoch: above 10,000
        (6400, 16, 101),
    ],
)
def test_long_runs_get_musgd(images, batch, epochs):
    recipe = resolve(Recipe(optimizer="auto", lr=0.5, momentum=0.5), images, batch, epochs, 2)
    expected = {"lr": 0.01, "momentum": 0.937, "warmup_momentum": 0.9, "warmup_bias_lr": 0.0}
    assert recipe == Recipe(optimizer="musgd", **expected)


def test_explicit_recipes_stay():
    recipe = Recipe(optimizer="sgd", lr=0.3, warmup_bias_lr=0.2)
    assert resolve(recipe, 10**6, 16, 100, 2) is recipe


# ------------------------------------------------------------------------------ rates


def at(settings, iteration):
    """Return (rate, rate of biases, momentum, batches per step) of an iteration."""
    rates, batches = settings.at(iteration, 0)
    return (*rates[:3], batches)


def test_linear_schedule_and_warm_up():
    recipe = Recipe(schedule="linear", warmup_epochs=3, lr=0.01, final_lr=0.01)
    settings = StepSettings(recipe, epochs=100, batches=10, batch_size=16)
    assert settings.warmup == 30
    assert at(settings, 0) == (0.0, 0.1, 0.8, 1)
    # Factor of epoch 1: 0.99 * 0.99 + 0.01 = 0.9901; half of the warm-up done.
    half = (0.0049505, 0.1 + 0.5 * (0.009901 - 0.1), 0.8685, 2)
    assert at(settings, 15) == pytest.approx(half)
    assert at(settings, 10)[3] == 2  # 1 + 10 / 30 * 3
    assert at(settings, 4)[3] == 1  # 1.4
    assert at(settings, 26)[3] == 4  # 3.6
    assert at(settings, 30) == pytest.approx((0.009703, 0.009703, 0.937, 4))
    assert at(settings, 999) == pytest.approx((0.000199, 0.000199, 0.937, 4))


def test_cosine_schedule():
    settings = StepSettings(Recipe(schedule="cosine", final_lr=0.1), 100, 10, 64)
    assert at(settings, 500)[0] == pytest.approx(0.01 * (0.1 + 0.9 * 0.5))
    assert at(settings, 250)[0] == pytest.approx(0.01 * (0.1 + 0.9 * (1 + math.sqrt(0.5)) / 2))


@pytest.mark.parametrize("change", [{"epochs": 1}, {"recipe": Recipe(warmup_epochs=0)}])
def test_without_warm_up(change):
    given = {"recipe": Recipe(), "epochs": 9, "batches": 4} | change
    settings = StepSettings(**given, batch_size=64)
    assert settings.warmup == 0
    assert at(settings, 0) == pytest.approx((0.01, 0.01, 0.937, 1))


def test_warm_up_of_the_automatic_choices():
    settings = StepSettings(resolve(Recipe(optimizer="auto"), 640, 64, 100, 2), 100, 10, 64)
    assert at(settings, 0)[:2] == (0.0, 0.0)  # AdamW has no use for the momentum
    lr = 0.001667 * 0.9901
    assert at(settings, 15)[:2] == pytest.approx((lr / 2, lr / 2))
    settings = StepSettings(resolve(Recipe(optimizer="auto"), 10**6, 64, 100, 2), 100, 10, 64)
    assert at(settings, 0) == (0.0, 0.0, 0.9, 1)
    lr = 0.01 * 0.9901
    assert at(settings, 15) == pytest.approx((lr / 2, lr / 2, (0.9 + 0.937) / 2, 1))
    assert at(settings, 31)[2] == 0.937


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


@pytest.mark.parametrize(
    ("epochs", "batches", "warmup"), [(1, 1, 3), (3, 1, 3), (2, 5, 0.3), (2, 5, 0.0)]
)
def test_the_shortest_run_learns(epochs, batches, warmup):
    """There is a step at a rate above 0, where the run has fewer batches than a step, too."""
    settings = StepSettings(Recipe(warmup_epochs=warmup), epochs, batches, batch_size=4)
    rates, last = [], -1
    for iteration in range(epochs * batches):
        now, batches_per_step = settings.at(iteration, len(rates))
        if iteration - last >= batches_per_step:
            last = iteration
            rates.append(now.lr)
    assert max(rates) > 0


# ------------------------------------------------------------------------------ groups


def test_groups_of_yolo11n():
    params = YOLO11n(2).parameters()
    lr, bias_lr = pt.scalar("lr", dtype="float32"), pt.scalar("bias_lr", dtype="float32")
    groups = parameter_groups(params, lr, bias_lr, 0.1, fast_factor=3.0)
    counts = [len(group["params"]) for group in groups]
    # 15 filters, 12 gammas and 15 biases of the class branch.
    assert counts == [72, 69, 72, 15, 12, 15]
    assert sum(counts) == len(params)
    decayed = [p for group in groups if "weight_decay" in group for p in group["params"]]
    assert {p.type.ndim for p in decayed} == {4}
    assert len(decayed) == 87
    # Only the rows of classes: a filter and a bias at each of three scales.
    groups = parameter_groups(params, lr, bias_lr, 0.1, 8.0, of_last_layer)
    assert [len(group["params"]) for group in groups] == [84, 81, 84, 3, 0, 3]


def test_biases_of_the_class_branch_warm_up_from_the_same_start():
    settings = StepSettings(Recipe(), epochs=100, batches=10, batch_size=64)
    lr, bias_lr = pt.scalar("lr", dtype="float32"), pt.scalar("bias_lr", dtype="float32")
    last = parameter_groups(YOLO11n(2).parameters(), lr, bias_lr, 0.1, fast_factor=3.0)[-1]
    assert all(p.name.startswith("model.23.cv3.") for p in last["params"])
    rate = pytensor.function([lr, bias_lr], last["learning_rate"], mode="FAST_COMPILE")
    for iteration in (0, 10, 30, 40):
        low, high, *_ = at(settings, iteration)
        share = min(iteration / 30, 1)
        target = 3 * 0.01 * (0.99 * (1 - iteration // 10 / 100) + 0.01)
        expected = 0.1 + share * (target - 0.1)
        assert rate(np.float32(low), np.float32(high)) == pytest.approx(expected, rel=1e-5)
