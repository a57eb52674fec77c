"""Conversions of PyTensor's Ops to JAX that PyTensor gets wrong, refuses or lacks.

A module here is named after the module of PyTensor that defines its Ops.  Those of `FIXES` are for
`pytensor.link.jax.jax_mode`, which asks `corrected_funcify` before PyTensor's table.  Those of
`pytensor.link.jax.dispatch.table` are for mode JAX, too.
"""

from pytensor.link.conversions import Conversions
from pytensor.link.jax.dispatch.basic import jax_funcify

__all__ = ["corrected_funcify"]

# By the beginnings of the names of Ops' classes, the module here that has their conversions.
FIXES = {
    "pytensor.raise_op": "raise_op",
    "pytensor.scalar": "elemwise",
    "pytensor.sparse": "sparse",
    "pytensor.tensor.basic": "basic",
    "pytensor.tensor.blas": "math",
    "pytensor.tensor.elemwise": "elemwise",
    "pytensor.tensor.extra_ops": "extra_ops",
    "pytensor.tensor.fft": "signal",
    "pytensor.tensor.linalg": "linalg",
    "pytensor.tensor.math": "math",
    "pytensor.tensor.optimize": "callbacks",
    "pytensor.tensor.signal": "signal",
    "pytensor.tensor.subtensor": "subtensor",
}


def _by_pytensor(op, **kwargs):
    return jax_funcify(op, **kwargs)


corrected_funcify = Conversions(
    _by_pytensor, {start: f"{__name__}.{module}" for start, module in FIXES.items()}
)
