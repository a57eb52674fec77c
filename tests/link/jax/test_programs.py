"""Steps that a GPU shouldn't get, each caught by one check of its program and by no other."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad

jax = pytest.importorskip("jax")
tuned = pytest.importorskip("pytensor.link.jax.tuned")
faults = pytest.importorskip("tests.link.jax.programs").faults

GOOD = {"donate": True, "precision": "bf16", "platform": "cuda"}


@pytensor.wrap_jax
def callback(x):
    return jax.pure_callback(np.sin, x, x)


@pytensor.wrap_jax
def kernel(x):
    return jax.ffi.ffi_call("kernel", x)(x)


def beside(function):
    """Add what has no gradient."""
    return lambda h: h + function(disconnected_grad(h))


def step(between=lambda h: h, **options):
    """A step of one layer's filters, with something between the convolution and the loss."""
    x = pt.tensor("x", dtype="float32", shape=(2, 3, 8, 6))
    w = pytensor.shared(np.ones((4, 3, 3, 3), "float32"), shape=(4, 3, 3, 3))
    h = between(pt.silu(pt.conv2d(x, w, border_mode="half")))
    loss = pt.sqr(h).mean(dtype=h.dtype, acc_dtype=h.dtype).astype("float32")
    updates = {w: w - np.float32(0.1) * pytensor.grad(loss, w)}
    return pytensor.function([x], loss, updates=updates, mode=tuned.jax_mode(**GOOD | options))


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({}, None),
        ({"between": beside(callback)}, "calls_of_the_host"),
        ({"between": beside(kernel)}, "calls_of_the_host"),
        ({"between": lambda h: h.astype("float64")}, "double_precision"),
        ({"between": lambda h: h.transpose(0, 2, 3, 1).cumsum(3)}, "other_layouts"),
        ({"platform": "cpu"}, "other_layouts"),
        ({"precision": "float32"}, "wide_products"),
        ({"donate": False}, "kept_arguments"),
    ],
)
def test_a_broken_step_is_caught(options, check):
    assert list(faults(step(**options))) == ([check] if check else [])
