"""List the modules that convert Ops to JAX, for mode JAX and for `jax_mode`.

PyTensor's table imports a module when it meets one of its Ops.  Modules for our Ops are in
`dispatch`, modules for PyTensor's Ops in `fixes`, and those for Ops of other packages next to them.

A key is the beginning of a name: "...FillDiagonal" is "...FillDiagonalOffset", too.  If PyTensor
has a conversion of a base class of the Op, `import_when_met` must get that class, too.
"""

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.op import Op
from pytensor.link.conversions import import_when_met
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.scalar.basic import ScalarOp

__all__ = ["OPS", "dispatch"]

SCALAR_MATH = (
    "BetaIncInv", "GammaIncCInv", "GammaIncInv", "Ive", "J0", "J1", "Jv", "Kve", "Log1mexp",
    "PolyGamma", "Softplus",
)  # fmt: skip
# By the beginnings of the names of Ops' classes, the module with their conversions.
OPS = {
    "pytensor.compile.ops.DeepCopyOp": "fixes.random",
    "pytensor.link.jax.rewriting.channels_last": "dispatch.channels_last",
    "pytensor.link.jax.rewriting.kept_rows": "dispatch.kept_rows",
    "pytensor.link.jax.rewriting.recompute": "dispatch.recompute",
    "pytensor.link.jax.rewriting.updates": "dispatch.updates",
    "pytensor.link.jax.rewriting.windows": "dispatch.windows",
    "pytensor.scalar.activations": "dispatch.nn",
    "pytensor.scalar.as_written": "fixes.scalar",
    "pytensor.scalar.basic.Complex": "fixes.scalar",
    "pytensor.scalar.basic.RoundHalfAwayFromZero": "fixes.scalar",
    "pytensor.scalar.loop": "fixes.scalar",
    **{f"pytensor.scalar.math.{name}": "fixes.scalar" for name in SCALAR_MATH},
    "pytensor.tensor.broadcasting": "dispatch.broadcasting",
    "pytensor.tensor.collectives": "dispatch.collectives",
    "pytensor.tensor.conv": "dispatch.conv",
    "pytensor.tensor.known_lengths": "dispatch.known_lengths",
    "pytensor.tensor.linalg.decomposition.schur.QZ": "fixes.callbacks",
    "pytensor.tensor.linalg.solvers.tridiagonal": "fixes.callbacks",
    "pytensor.tensor.moments": "dispatch.updates",
    "pytensor.tensor.pool.unpool": "dispatch.unpool",
    "pytensor.tensor.pool": "dispatch.pool",
    "pytensor.tensor.pullback": "dispatch.vjp",
    "pytensor.tensor.random": "fixes.random",
    "pytensor.tensor.resize": "dispatch.resize",
    "pytensor.tensor.topk": "dispatch.topk",
}
# Ops of packages that may be missing.
OTHERS = {
    "pytensor_ml.layers.conv.Col2Im": "pytensor_ml",
    "pytensor_ml.layers.conv.Im2Col": "pytensor_ml",
}

dispatch = import_when_met(
    jax_funcify,
    {start: f"pytensor.link.jax.{module}" for start, module in (OPS | OTHERS).items()},
    Op, OpFromGraph, ScalarOp,
)  # fmt: skip
