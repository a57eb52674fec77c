import math

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.optimizers import schedules
from tests.utils import dtypes_of

ONE_CYCLE = {
    0: 0.004, 1: 0.052, 2: 0.1, 3: 0.09504846320134738, 4: 0.0811745653949763,
    5: 0.06112620219362893, 6: 0.03887419780637107, 7: 0.0188258346050237,
    8: 0.004951936798652629, 9: 4e-7, 12: 4e-7,
}  # fmt: skip
VALUES = [
    (schedules.constant(0.3), {0: 0.3, 7: 0.3}),
    (
        schedules.linear(100, final=0.01, initial=0.1),
        {0: 0.1, 50: 0.1 * (0.5 * 0.99 + 0.01), 99: 0.1 * (0.01 * 0.99 + 0.01), 200: 0.001},
    ),
    (
        schedules.cosine(100, final=0.01, initial=0.1),
        {0: 0.1, 25: 0.1 * (0.01 + 0.99 * (1 + math.cos(math.pi / 4)) / 2), 200: 0.001},
    ),
    (schedules.exponential(0.5, steps=10, initial=2.0), {0: 2.0, 10: 1.0, 25: 2 * 0.5**2.5}),
    (
        schedules.saturating(0.9999, 2000),
        {0: 0.0, 1: 0.9999 * -math.expm1(-1 / 2000), 9999: 0.9999 * (1 - math.exp(-9999 / 2000))},
    ),
    (schedules.restarts(schedules.linear(3), 3), {0: 1.0, 2: 1 / 3, 3: 1.0, 300: 1.0}),
    (
        schedules.restarts(schedules.cosine(10, initial=0.1), 10, growth=2),
        {0: 0.1, 5: 0.05, 10: 0.1, 20: 0.05, 30: 0.1, 69: 0.05 + 0.05 * math.cos(39 / 40 * math.pi)}
        | {10 * (2**k - 1): 0.1 for k in range(2, 9)},
    ),
    (schedules.restarts(schedules.linear(1), 1, 4), {21: 1.0, 85: 1.0, 341: 1.0, 340: 1 / 256}),
    (schedules.warmup(0.937, 10, start=0.8), {0: 0.8, 5: 0.8685, 10: 0.937, 11: 0.937}),
    (
        schedules.warmup(schedules.linear(100), 10),
        {0: 0.0, 5: 0.95 * 0.5, 10: 0.9, 11: 0.89},
    ),
    (schedules.warmup(schedules.linear(100), 0), {0: 1.0, 50: 0.5}),
    # as torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=10)
    (schedules.one_cycle(10, 0.1), ONE_CYCLE),
    (
        schedules.one_cycle(10, 0.2, rise=0.5, initial=0.1, final=0.01),
        {0: 0.02, 4: 0.2, 9: 0.002, 99: 0.002},
    ),
]
IDS = [f"{case[0].__qualname__.split('.')[0]}-{i}" for i, case in enumerate(VALUES)]


@pytest.mark.parametrize(("schedule", "values"), VALUES, ids=IDS)
def test_numbers(schedule, values):
    for step, value in values.items():
        result = schedule(step)
        assert type(result) is float
        assert result == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("schedule", "values"), VALUES, ids=IDS)
@pytest.mark.parametrize(
    ("dtype", "floatX", "expected"),
    [
        ("float32", "float64", "float32"),
        ("int32", "float32", "float32"),
        ("int64", "float64", "float64"),
    ],
)
def test_symbolic_steps(schedule, values, dtype, floatX, expected):
    step = pt.scalar("step", dtype=dtype)
    with pytensor.config.change_flags(floatX=floatX):
        value = schedule(step)
    assert value.type.dtype == expected
    assert expected == "float64" or "float64" not in dtypes_of([value])
    f = pytensor.function([step], value, mode="FAST_COMPILE", on_unused_input="ignore")
    for at in values:
        np.testing.assert_allclose(
            f(np.asarray(at, dtype=dtype)), schedule(at), rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize(
    "build",
    [
        lambda: schedules.linear(0),
        lambda: schedules.one_cycle(3),
        lambda: schedules.one_cycle(3, rise=1.0),
        lambda: schedules.cosine(-1),
        lambda: schedules.exponential(0.0),
        lambda: schedules.exponential(math.inf),
        lambda: schedules.restarts(schedules.linear(3), 0),
        lambda: schedules.restarts(schedules.linear(3), 3, growth=1.5),
        lambda: schedules.warmup(1.0, -1),
    ],
)
def test_errors(build):
    with pytest.raises(ValueError, match="must be"):
        build()


def test_warmup_to_a_number_has_the_dtype_of_the_step():
    step = pt.scalar("step", dtype="float32")
    assert schedules.warmup(lambda _: 0.1, 5)(step).type.dtype == "float32"
