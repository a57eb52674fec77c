"""Gradients of convolutions whose lengths are open in the type, in `jax_mode`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

rng = np.random.default_rng(0)


@pytest.mark.by_default("same-float64")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "dtype"), [("valid", "float64"), ("same", "float64"), ("full", "float32")]
)
def test_convolve1d(mode, dtype):
    """Of a short kernel, an even one, one that is longer than what it is applied to, and equal."""
    x, w = pt.vector("x", dtype=dtype), pt.vector("w", dtype=dtype)
    y = pt.signal.convolve1d(x, w, mode=mode)
    outputs = [y, *pt.grad((y**2).sum(), [x, w])]
    mode = jax_mode()
    for lengths in ((7, 3), (8, 4), (3, 7), (5, 5)):
        values = [rng.normal(size=n).astype(dtype) for n in lengths]
        compare_jax_and_py([x, w], outputs, values, jax_mode=mode)


def test_convolve1d_in_a_loop():
    """Compile the gradient, of which the loop's outside computes whether it is a full one."""
    x, w = pt.vector("x", dtype="float64"), pt.vector("w", dtype="float64")
    loops = pytensor.scan(
        lambda last, x, w: last / 2 + pt.sum(pt.signal.convolve1d(x, w, mode="same") ** 2),
        outputs_info=[pt.zeros((), dtype="float64")],
        non_sequences=[x, w], n_steps=2, return_updates=False,
    )  # fmt: skip
    outputs = [loops, *pt.grad(loops[-1], [x, w])]
    compare_jax_and_py(
        [x, w], outputs, [rng.normal(size=7), rng.normal(size=4)], jax_mode=jax_mode()
    )


def test_padding_of_a_kernel_whose_lengths_are_open():
    x, w = (pt.tensor(name, dtype="float64", shape=(None,) * 4) for name in "xw")
    y = pt.nn.conv2d(x, w, padding="same")
    outputs = [y, *pt.grad((y**2).sum(), [x, w])]
    values = [rng.normal(size=(2, 3, 7, 6)), rng.normal(size=(4, 3, 3, 2))]
    compare_jax_and_py([x, w], outputs, values, jax_mode=jax_mode())
