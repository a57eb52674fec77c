"""A GPU sums the squares of all gradients together, and computes all updates from one vector."""

import re

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.optimizers import (
    SGD,
    AdamW,
    ExponentialMovingAverage,
    MuSGD,
    clip_by_global_norm,
)

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

pytestmark = pytest.mark.slow

SHAPES = [(5,), (4, 3, 3, 2), (5,), (4, 3, 3, 2), (2, 7), ()]


def make_step(optimizer, platform, max_norm=1e6):
    """Compile a step from given gradients; return it and all that it changes."""
    gradients = [pt.tensor(dtype="float32", shape=shape) for shape in SHAPES]
    rng = np.random.default_rng(1)
    params = [
        pytensor.shared(rng.normal(size=shape).astype("float32"), name=f"w{k}", shape=shape)
        for k, shape in enumerate(SHAPES)
    ]
    rate, decay = pt.scalar("rate", dtype="float32"), pt.scalar("decay", dtype="float32")
    clipped, norm = clip_by_global_norm(gradients, max_norm)
    updates = optimizer(rate).get_updates(params, clipped)
    updates |= ExponentialMovingAverage(params, decay).get_updates(updates)
    step = pytensor.function(
        [*gradients, rate, decay], norm, updates=updates, mode=jax_mode(platform=platform)
    )
    return step, list(updates)


def values():
    rng = np.random.default_rng(2)
    return [np.float32(rng.normal(size=shape)) for shape in SHAPES] + list(np.float32([0.1, 0.9]))


def text(step, arguments):
    shared = [v.get_value() for v in step.get_shared()]
    return step.vm.jit_fn.lower(*arguments, *shared).as_text()


@pytest.mark.by_default("AdamW")
@pytest.mark.parametrize("optimizer", [MuSGD, AdamW])
def test_states_are_those_of_a_cpu(optimizer):
    sides = [make_step(optimizer, platform) for platform in ("cpu", "cuda")]
    for _ in range(2):
        norms = [step(*values()) for step, _ in sides]
        np.testing.assert_allclose(*norms, rtol=1e-6)
    # A norm below its limit leaves the gradients alone: the bits are the same.
    for cpu, gpu in zip(*(variables for _, variables in sides), strict=True):
        np.testing.assert_array_equal(cpu.get_value(), gpu.get_value())


def test_a_gpu_has_one_sum_and_one_vector():
    cpu, gpu = (
        text(make_step(lambda rate: SGD(rate, 0.9), platform)[0], values())
        for platform in ("cpu", "cuda")
    )
    assert "optimization_barrier" not in cpu
    # One for each dtype of numbers that several updates read.
    assert len(re.findall(r"optimization_barrier .* : tensor<\d+xf32>", gpu)) == 1
    elements = sum(int(np.prod(shape)) for shape in SHAPES)
    assert f"-> tensor<{elements}xf32>" in gpu
    assert f"-> tensor<{elements}xf32>" not in cpu
    # Updates are computed on vectors: XLA gives them no layout of their own.
    on_filters = re.compile(r"stablehlo.(add|multiply) .* : tensor<4x3x3x2xf32>")
    assert on_filters.search(cpu)
    assert not on_filters.search(gpu)


def test_a_norm_over_its_limit():
    step, _ = make_step(AdamW, "cuda", max_norm=0.5)
    norm = np.sqrt(sum(float((value.astype("float64") ** 2).sum()) for value in values()[:-2]))
    np.testing.assert_allclose(step(*values()), norm, rtol=1e-6)
