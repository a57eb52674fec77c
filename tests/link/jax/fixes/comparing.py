"""Compare what `jax_mode` computes with PyTensor's Python."""

from pytensor.link.jax import jax_mode
from tests.utils import compare_jax_and_py


def compare(inputs, outputs, values, **settings):
    compare_jax_and_py(inputs, outputs, values, jax_mode=jax_mode(), **settings)
