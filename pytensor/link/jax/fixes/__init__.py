"""Conversions of PyTensor's Ops to JAX that PyTensor gets wrong, refuses or lacks.

A conversion is registered in one of these tables, and its module is listed there:

``@corrected_funcify.register``
    Only `pytensor.link.jax.jax_mode` has it; listed in `FIXES`, below.
``@corrected_scalar.register``
    The same for scalar Ops; in `elemwise`, and in `scalar` for Ops of `pytensor.scalar.math`.
``@jax_funcify.register``
    Mode JAX and `jax_mode` have it; listed in `OPS` of `pytensor.link.jax.dispatch.table`.

A module may have both.  It is named after the module of PyTensor's that has most of its Ops;
`callbacks` and `dtypes` have helpers.  Tests have the same names.
"""

from functools import partial

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


@partial(Conversions, modules={start: f"{__name__}.{module}" for start, module in FIXES.items()})
def corrected_funcify(op, **kwargs):
    """Convert as mode JAX."""
    return jax_funcify(op, **kwargs)
