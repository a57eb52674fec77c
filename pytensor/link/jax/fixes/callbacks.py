"""Have PyTensor compute, on the host, what XLA can't, while the program waits."""

import warnings
from copy import copy

import jax
import numpy as np

from pytensor.compile.mode import get_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.tensor.linalg.decomposition.schur import QZ
from pytensor.tensor.linalg.solvers.tridiagonal import LUFactorTridiagonal, SolveLUFactorTridiagonal
from pytensor.tensor.optimize import ScipyWrapperOp

__all__ = ["called_back"]

CALLED_BACK = (
    "XLA has nothing for {op}: PyTensor computes it on the host in each call, while the program "
    "waits and its inputs and results are copied."
)


def called_back(op, node, shapes):
    """Return the function for a node whose results PyTensor computes, by a callback.

    `shapes` maps the inputs' shapes to the results' shapes.  Each member of a batch is called
    for by itself.
    """
    warnings.warn(CALLED_BACK.format(op=op), stacklevel=2)
    dtypes = [jax.dtypes.canonicalize_dtype(v.type.dtype) for v in node.outputs]

    def perform(*inputs):
        values = [np.asarray(x, v.type.dtype) for x, v in zip(inputs, node.inputs, strict=True)]
        cells = [[None] for _ in node.outputs]
        op.perform(node, values, cells)
        return tuple(np.asarray(c[0], d) for c, d in zip(cells, dtypes, strict=True))

    def call(*inputs):
        results = [
            jax.ShapeDtypeStruct(shape, dtype)
            for shape, dtype in zip(shapes(*map(np.shape, inputs)), dtypes, strict=True)
        ]
        values = jax.pure_callback(perform, tuple(results), *inputs, vmap_method="sequential")
        return values if len(results) > 1 else values[0]

    return call


@jax_funcify.register(QZ)
def jax_funcify_QZ(op, node, **kwargs):
    eigenvalues = 2 if op.return_eigenvalues else 0

    def shapes(a, b):
        return [a, b, *[a[:1]] * eigenvalues, a, b]

    return called_back(op, node, shapes)


@jax_funcify.register(LUFactorTridiagonal)
def jax_funcify_LUFactorTridiagonal(op, node, **kwargs):
    return called_back(op, node, lambda dl, d, du: [dl, d, du, (max(d[0] - 2, 0),), d])


@jax_funcify.register(SolveLUFactorTridiagonal)
def jax_funcify_SolveLUFactorTridiagonal(op, node, **kwargs):
    return called_back(op, node, lambda *shapes: [shapes[-1]])


@corrected_funcify.register(ScipyWrapperOp)
def corrected_funcify_ScipyWrapperOp(op, node, **kwargs):
    op = copy(op)
    # In a callback, JAX can't compute what SciPy asks for again and again.
    op._fn = op.compile_fn(get_mode("FAST_RUN"))
    return called_back(op, node, lambda x, *others: [x, ()])
