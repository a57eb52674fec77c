"""Linear algebra: triangles that aren't read, pivots, forms of LAPACK, and results' dtypes."""

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.fixes.callbacks import called_back
from pytensor.link.jax.fixes.dtypes import (
    with_operands,
    with_operands_in_result_dtype,
    with_real_operands,
)
from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eig, Eigh, Eigvalsh
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor
from pytensor.tensor.linalg.decomposition.qr import QR
from pytensor.tensor.linalg.decomposition.schur import Schur
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixInverse, MatrixPinv
from pytensor.tensor.linalg.products import Expm, KroneckerProduct
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.linear_control import SolveSylvester
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.summary import Det, SLogDet


@corrected_funcify.register(Solve)
def corrected_funcify_Solve(op, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)
    if op.assume_a in ("sym", "her"):
        # PyTensor's reads the whole matrix: thoughts/upstream/solve-triangle.md.
        function = _of_triangle(function, op.lower, conjugate=op.assume_a == "her")
    return with_real_operands(function, node)


@corrected_funcify.register(Eigh)
@corrected_funcify.register(Eigvalsh)
def corrected_funcify_Eigh(op, node, **kwargs):
    if len(node.inputs) == 2:
        return with_real_operands(_generalized_eigh(op), node)
    # JAX takes the mean of both triangles: thoughts/upstream/jax-eigh-triangle.md.
    function = _of_triangle(jax_funcify(op, node=node, **kwargs), op.lower)
    return with_real_operands(function, node)


def _generalized_eigh(op):
    """Return the function for A x = w B x, which becomes another matrix's by B's Cholesky factor.

    Golub & Van Loan, Matrix Computations, 8.7.2; LAPACK's sygvd does so.
    """

    def eigh(a, b):
        a, b = _symmetric(a, op.lower), _symmetric(b, op.lower)
        factor = jnp.linalg.cholesky(b)
        half = jax.scipy.linalg.solve_triangular(factor, a, lower=True)
        c = jax.scipy.linalg.solve_triangular(factor, half.conj().T, lower=True)
        c = (c + c.conj().T) / 2
        if isinstance(op, Eigvalsh):
            return jnp.linalg.eigvalsh(c)
        values, vectors = jnp.linalg.eigh(c)
        trans = "C" if jnp.iscomplexobj(c) else "T"
        return values, jax.scipy.linalg.solve_triangular(factor, vectors, trans=trans, lower=True)

    return eigh


@corrected_funcify.register(MatrixPinv)
def corrected_funcify_MatrixPinv(op, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)
    if op.hermitian:
        # NumPy reads the lower triangle, JAX the mean of both.
        function = _of_triangle(function, lower=True)
    return with_real_operands(function, node)


def _of_triangle(function, lower, conjugate=True):
    """Have a function read only a triangle of its first matrix."""
    return lambda a, *others: function(_symmetric(a, lower, conjugate), *others)


def _symmetric(a, lower, conjugate=True):
    """Return the symmetric or Hermitian matrix that a triangle of `a` stands for."""
    triangle, strict = (jnp.tril, -1) if lower else (jnp.triu, 1)
    other = jnp.swapaxes(triangle(a, strict), -1, -2)
    return triangle(a) + (other.conj() if conjugate else other)


@corrected_funcify.register(Cholesky)
def corrected_funcify_Cholesky(op, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)

    def cholesky(a):
        # Where there is no factor, JAX has NaN in one triangle, and zeros in the other.
        factor = function(a)
        return jnp.where(jnp.isnan(factor[-1, -1]), jnp.nan, factor) if factor.size else factor

    return with_real_operands(cholesky, node)


@corrected_funcify.register(CholeskySolve)
@corrected_funcify.register(Det)
@corrected_funcify.register(Eig)
@corrected_funcify.register(Expm)
@corrected_funcify.register(LUFactor)
@corrected_funcify.register(MatrixInverse)
@corrected_funcify.register(SLogDet)
@corrected_funcify.register(SolveSylvester)
@corrected_funcify.register(SolveTriangular)
@corrected_funcify.register(SVD)
def corrected_funcify_linear_algebra(op, node, **kwargs):
    return with_real_operands(jax_funcify(op, node=node, **kwargs), node)


@corrected_funcify.register(LU)
def corrected_funcify_LU(op, node, **kwargs):
    if not op.p_indices:
        return corrected_funcify_linear_algebra(op, node=node, **kwargs)

    def lu(a):
        factors, _, permutation = jax.lax.linalg.lu(a)
        lower = jnp.tril(factors, -1) + jnp.eye(a.shape[0], dtype=a.dtype)
        return jnp.argsort(permutation), lower, jnp.triu(factors)

    return with_operands(lu, node, [node.outputs[1].type.dtype])


@corrected_funcify.register(QR)
def corrected_funcify_QR(op, node, **kwargs):
    if op.mode == "raw":
        return with_real_operands(_raw_qr(op), node)
    if not op.pivoting:
        return corrected_funcify_linear_algebra(op, node=node, **kwargs)

    def qr(x):
        # PyTensor's leaves out the pivots.
        return jax.scipy.linalg.qr(x, mode=op.mode, pivoting=True)

    return with_real_operands(qr, node)


def _raw_qr(op):
    """Return the function for LAPACK's own form of a QR decomposition, and R."""

    def raw_qr(x):
        pivots = ()
        if op.pivoting:
            # JAX has only LAPACK's form without pivots, of the permuted matrix.
            pivots = (jax.lax.linalg.qr(x, pivoting=True, full_matrices=False)[2],)
            x = x[:, pivots[0]]
        factors, tau = jnp.linalg.qr(x, mode="raw")
        factors = factors.T
        return factors, tau, jnp.triu(factors[: x.shape[1]]), *pivots

    return raw_qr


@corrected_funcify.register(Schur)
def corrected_funcify_Schur(op, node, **kwargs):
    if op.sort is not None:  # PyTensor's leaves the eigenvalues as they come, and warns
        return called_back(op, node, lambda a: [a, a])
    return corrected_funcify_linear_algebra(op, node=node, **kwargs)


@corrected_funcify.register(BlockDiagonal)
@corrected_funcify.register(KroneckerProduct)
def corrected_funcify_products(op, node, **kwargs):
    return with_operands_in_result_dtype(jax_funcify(op, node=node, **kwargs), node)
