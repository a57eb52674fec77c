r"""Values that follow the number of steps taken: learning rates, decays.

Each function here returns a schedule, a function of the step (or epoch: whatever is counted), which
starts at 0.  Given a number it returns a float; given a symbolic scalar it returns one, so that a
compiled training step can compute its own learning rate:

>>> import numpy as np
>>> import pytensor
>>> from pytensor.optimizers import schedules
>>> schedule = schedules.linear(100, final=0.01, initial=0.1)
>>> round(schedule(50), 6)
0.0505
>>> epoch = pytensor.shared(np.float32(50), name="epoch")
>>> schedule(epoch).type.dtype
'float32'

The result has the dtype of a symbolic float step, and floatX for an integer one.
"""

import math
from typing import Any

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.optimizers.basic import Scalar, Schedule, as_scalar
from pytensor.tensor.missing_names import missing_name
from pytensor.tensor.variable import TensorVariable

__all__ = [
    "constant", "cosine", "exponential", "linear", "one_cycle", "restarts", "saturating", "warmup",
]  # fmt: skip

# What to write for names of `torch.optim.lr_scheduler` that aren't here
STAIRS = "write a function of the step, lambda step: 0.1 * 0.5 ** (step // 1000)"
ELSEWHERE = {
    "CosineAnnealingLR": "use cosine",
    "CosineAnnealingWarmRestarts": "use restarts, of cosine",
    "LambdaLR": "pass the function itself, lambda step: ...",
    "MultiStepLR": STAIRS,
    "ReduceLROnPlateau": "use pytensor.optimizers.ReduceLROnPlateau",
    "StepLR": STAIRS,
    "step": STAIRS,
}


def __getattr__(name: str) -> Any:
    raise missing_name(f"module {__name__!r}", name, __all__, ELSEWHERE)


class _Floats:
    """The operations that schedules are written in, on numbers."""

    cos = staticmethod(math.cos)
    exp = staticmethod(math.exp)
    floor = staticmethod(math.floor)
    log = staticmethod(math.log)
    minimum = staticmethod(min)
    maximum = staticmethod(max)

    @staticmethod
    def number(value: Any) -> float:
        return float(value)

    @staticmethod
    def less_equal(a: float, b: float, then: float, otherwise: float) -> float:
        return then if a <= b else otherwise


class _Scalars:
    """The same on symbolic scalars of one dtype."""

    cos = staticmethod(pt.cos)
    exp = staticmethod(pt.exp)
    floor = staticmethod(pt.floor)
    log = staticmethod(pt.log)
    minimum = staticmethod(pt.minimum)
    maximum = staticmethod(pt.maximum)

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def number(self, value: Scalar) -> TensorVariable:
        return as_scalar(value, self.dtype)

    def less_equal(
        self, a: Variable, b: Variable, then: Variable, otherwise: Variable
    ) -> TensorVariable:
        return pt.switch(pt.le(a, b), then, otherwise)


def _operations(step: Any) -> tuple[Any, Any]:
    """Return the operations for `step`, and `step` as they take it."""
    if isinstance(step, Variable):
        dtype = step.type.dtype
        if not np.issubdtype(np.dtype(dtype), np.floating):
            dtype = pytensor.config.floatX
        operations: Any = _Scalars(dtype)
    else:
        operations = _Floats
    return operations, operations.number(step)


def _check_steps(steps: float) -> None:
    if not steps > 0:
        raise ValueError(f"steps must be greater than 0, not {steps}")


def constant(value: Scalar) -> Schedule:
    """Return the schedule that stays at `value`."""

    def schedule(step: Any) -> Any:
        return _operations(step)[0].number(value)

    return schedule


def linear(steps: float, final: float = 0.0, initial: float = 1.0) -> Schedule:
    """Return a straight line from `initial` to ``initial * final``.

    ``initial * (max(1 - step / steps, 0) * (1 - final) + final)``

    Parameters
    ----------
    steps : float
        Where the line ends; it stays level from there on.
    final : float
        The last value as a fraction of the first.
    initial : float
        The value at step 0.
    """
    _check_steps(steps)

    def schedule(step: Any) -> Any:
        ops, t = _operations(step)
        left = ops.maximum(ops.number(1) - t / ops.number(steps), ops.number(0))
        return left * ops.number(initial * (1 - final)) + ops.number(initial * final)

    return schedule


def cosine(steps: float, final: float = 0.0, initial: float = 1.0) -> Schedule:
    """Return half a cosine from `initial` to ``initial * final`` (Loshchilov and Hutter, 2017).

    ``initial * (final + (1 - final) * (1 + cos(pi * min(step / steps, 1))) / 2)``

    Parameters
    ----------
    steps : float
        Where the fall ends; it stays level from there on.
    final : float
        The last value as a fraction of the first.
    initial : float
        The value at step 0.
    """
    _check_steps(steps)

    def schedule(step: Any) -> Any:
        ops, t = _operations(step)
        angle = ops.minimum(t / ops.number(steps), ops.number(1)) * ops.number(math.pi)
        fall = (ops.number(1) + ops.cos(angle)) * ops.number(initial * (1 - final) / 2)
        return fall + ops.number(initial * final)

    return schedule


def one_cycle(
    steps: float, peak: float = 1.0, rise: float = 0.3, initial: float = 0.04, final: float = 4e-6
) -> Schedule:
    """Return half a cosine up to `peak` and another one down (Smith and Topin, 2018).

    The numbers are from PyTorch's ``OneCycleLR``.

    Parameters
    ----------
    steps : float
        Number of steps of the training, counted from 0.  Later values are that of the last step.
    peak : float
        The largest value, at step ``rise * steps - 1``.
    rise : float
        The share of the steps that go up; ``rise * steps`` must be greater than 1.
    initial, final : float
        The values at the first and the last step as fractions of the peak.
    """
    top = rise * steps - 1
    if not 0 < top < steps - 1:
        raise ValueError(f"rise * steps must be from 1 to steps, not {rise * steps}")

    def schedule(step: Any) -> Any:
        ops, t = _operations(step)
        up, down = cosine(top, 1 / initial, initial), cosine(steps - 1 - top, final)
        value = ops.less_equal(t, ops.number(top), up(t), down(t - ops.number(top)))
        return value * ops.number(peak)

    return schedule


def exponential(rate: float, steps: float = 1, initial: float = 1.0) -> Schedule:
    """Return ``initial * rate ** (step / steps)``.

    Parameters
    ----------
    rate : float
        The factor over `steps` steps, greater than 0.
    steps : float
    initial : float
        The value at step 0.
    """
    _check_steps(steps)
    if not 0 < rate < math.inf:
        raise ValueError(f"rate must be greater than 0 and finite, not {rate}")

    def schedule(step: Any) -> Any:
        ops, t = _operations(step)
        return ops.exp(t * ops.number(math.log(rate) / steps)) * ops.number(initial)

    return schedule


def saturating(final: float, steps: float) -> Schedule:
    """Return ``final * (1 - exp(-step / steps))``, which grows from 0 towards `final`.

    As the decay of an `ExponentialMovingAverage` it forgets the untrained values quickly.
    """
    _check_steps(steps)

    def schedule(step: Any) -> Any:
        ops, t = _operations(step)
        return (ops.number(1) - ops.exp(t * ops.number(-1 / steps))) * ops.number(final)

    return schedule


def restarts(schedule: Schedule, steps: float, growth: int = 1) -> Schedule:
    """Return `schedule` that begins again, each time `growth` times as slowly.

    Of `cosine`, with its own `steps` here, these are the warm restarts of Loshchilov and Hutter
    (2017): ``restarts(cosine(10, initial=0.1), 10, growth=2)`` restarts at 10, 30, 70, ...

    Parameters
    ----------
    schedule : callable
    steps : float
        The length of the first run.
    growth : int
        The length of a run over that of the one before it.
    """
    _check_steps(steps)
    if growth < 1 or growth != int(growth):
        raise ValueError(f"growth must be an integer of at least 1, not {growth}")

    def restarted(step: Any) -> Any:
        ops, t = _operations(step)
        zero, half, one = (ops.number(v) for v in (0, 0.5, 1))
        length = ops.number(steps)
        if growth == 1:
            since = t - ops.floor(t / length) * length
            # Where the quotient was rounded, it is a little less than 0, or the whole length.
            return schedule(ops.less_equal(length, since, since - length, ops.maximum(since, zero)))
        # A run of growth**k times the length starts when the first length has passed
        # (growth**k - 1) / (growth - 1) times.  Both are integers, so they can be rounded.
        log, ratio, more = (ops.number(v) for v in (math.log(growth), growth, growth - 1))

        def start(power: Any) -> Any:
            return ops.floor((power - one) / more + half) * length

        power = ops.floor(ops.exp(ops.floor(ops.log(t / length * more + one) / log) * log) + half)
        power = ops.less_equal(start(power * ratio), t, power * ratio, power)
        power = ops.less_equal(start(power), t, power, ops.floor(power / ratio + half))
        return schedule((t - start(power)) / power)

    return restarted


def warmup(schedule: Schedule | float, steps: float, start: float = 0.0) -> Schedule:
    """Return `schedule` with its first `steps` steps replaced by a line that leads up to it.

    ``start + (schedule(step) - start) * step / steps`` up to and including step `steps`,
    ``schedule(step)`` after it: the line aims at what the schedule says at the moment.

    Parameters
    ----------
    schedule : callable or float
        A schedule, or the value to warm up to.
    steps : float
        0 for no warm-up.
    start : float
        The value at step 0.
    """
    aim = schedule if callable(schedule) else constant(schedule)
    if steps == 0:
        return aim
    _check_steps(steps)

    def warmed_up(step: Any) -> Any:
        ops, t = _operations(step)
        target = ops.number(aim(t))
        line = ops.number(start) + (target - ops.number(start)) * (t / ops.number(steps))
        return ops.less_equal(t, ops.number(steps), line, target)

    return warmed_up
