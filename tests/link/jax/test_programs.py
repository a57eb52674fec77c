"""Steps that a GPU shouldn't get, each caught by one check of its program and by no other."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad

jax = pytest.importorskip("jax")
jax_mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode
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


def step(between=lambda h: h, show_scaled=False, **options):
    """Compile a step of a layer's filters and the loss's weights, with something before the loss.

    `show_scaled` returns what the weights change by, which isn't the update's alone then.
    """
    x = pt.tensor("x", dtype="float32", shape=(2, 3, 8, 6))
    w = pytensor.shared(np.ones((4, 3, 3, 3), "float32"), shape=(4, 3, 3, 3))
    b = pytensor.shared(np.ones(4, "float32"), shape=(4,))
    rate = pt.scalar("rate", dtype="float32")
    h = between(pt.silu(pt.conv2d(x, w, border_mode="half")))
    loss = pt.sqr(h).mean(dtype=h.dtype, acc_dtype=h.dtype).astype("float32")
    loss *= pt.sqr(b).sum(dtype="float32")
    scaled = [rate * gradient for gradient in pytensor.grad(loss, [w, b])]
    updates = {p: p - change for p, change in zip((w, b), scaled, strict=True)}
    outputs = [loss, scaled[1].sum()] if show_scaled else [loss]
    mode = jax_mode(**GOOD | options)
    return pytensor.function([x, rate], outputs, updates=updates, mode=mode)


@pytest.mark.by_default("options7-kept_arguments")
@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({}, None),
        ({"between": beside(callback)}, "calls_of_the_host"),
        ({"between": beside(kernel)}, "calls_of_the_host"),
        ({"between": lambda h: h.astype("float64")}, "double_precision"),
        ({"between": lambda h: h.transpose(0, 2, 3, 1).cumsum(3)}, "other_layouts"),
        ({"platform": "cpu"}, "other_layouts, numbers_apart"),
        ({"precision": "float32"}, "wide_products"),
        ({"donate": False}, "kept_arguments"),
        ({"show_scaled": True}, "numbers_apart"),
    ],
)
def test_a_broken_step_is_caught(options, check):
    assert list(faults(step(**options))) == (check.split(", ") if check else [])
