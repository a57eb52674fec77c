"""Conversions of PyTensor's Ops to JAX that PyTensor gets wrong, refuses or lacks.

A conversion is registered in one of these tables, and its module is listed there:

``@corrected_funcify.register``
    Only `pytensor.link.jax.jax_mode` has it; listed in `FIXES`, below.  It gets `convert_node`,
    which converts the nodes of inner graphs.
``@corrected_scalar.register``
    The same for scalar Ops; in `elemwise`, and in `scalar` for Ops of `pytensor.scalar.math`.
``@jax_funcify.register``
    Mode JAX and `jax_mode` have it; listed in `OPS` of `pytensor.link.jax.dispatch.table`.

A module may have both.  It is named after the module of PyTensor's that has most of its Ops;
`known_while_tracing` has Ops whose results have lengths that JAX must know, and `callbacks` and
`dtypes` have helpers.  Tests have the same names.
Conversions of Ops with inner graphs are in `pytensor.link.jax.mode`.
"""

from functools import partial

from pytensor.link.conversions import Conversions
from pytensor.link.jax.dispatch.basic import jax_funcify

__all__ = ["corrected_funcify"]

# By the beginnings of the names of Ops' classes, the module with their conversions.
FIXES = {
    "pytensor.compile.builders": "mode.conversion",
    "pytensor.conditional": "mode.choices",
    "pytensor.raise_op": "fixes.raise_op",
    "pytensor.scalar": "fixes.elemwise",
    "pytensor.scan": "mode.loops",
    "pytensor.sparse": "fixes.sparse",
    "pytensor.tensor.basic": "fixes.basic",
    "pytensor.tensor.basic.ARange": "fixes.known_while_tracing",
    "pytensor.tensor.basic.Nonzero": "fixes.known_while_tracing",
    "pytensor.tensor.blas": "fixes.math",
    "pytensor.tensor.blockwise": "mode.batches",
    "pytensor.tensor.einsum": "fixes.math",
    "pytensor.tensor.elemwise": "fixes.elemwise",
    "pytensor.tensor.extra_ops": "fixes.extra_ops",
    "pytensor.tensor.extra_ops.Unique": "fixes.known_while_tracing",
    "pytensor.tensor.fft": "fixes.signal",
    "pytensor.tensor.linalg": "fixes.linalg",
    "pytensor.tensor.math": "fixes.math",
    "pytensor.tensor.optimize": "fixes.callbacks",
    "pytensor.tensor.pad": "fixes.pad",
    "pytensor.tensor.random": "fixes.known_while_tracing",
    "pytensor.tensor.shape": "fixes.known_while_tracing",
    "pytensor.tensor.signal": "fixes.signal",
    "pytensor.tensor.special": "fixes.math",
    "pytensor.tensor.subtensor": "fixes.subtensor",
}


@partial(
    Conversions, modules={name: f"pytensor.link.jax.{module}" for name, module in FIXES.items()}
)
def corrected_funcify(op, **kwargs):
    """Convert as mode JAX."""
    return jax_funcify(op, **kwargs)
