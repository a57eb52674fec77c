"""Conversions of PyTensor's Ops to JAX that PyTensor's own get wrong.

`tuned_funcify` asks this table before PyTensor's; mode JAX doesn't look here.
"""

from functools import singledispatch

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from pytensor import scalar as ps
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes.callbacks import called_back
from pytensor.link.jax.rewriting.host_integers import computed_from
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.math import NdtriExp, TriGamma
from pytensor.tensor.basic import Join, Split
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.extra_ops import SearchsortedOp, UnravelIndex
from pytensor.tensor.linalg.constructors import BlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eigh, Eigvalsh
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
from pytensor.tensor.math import Dot
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.subtensor import AdvancedIncSubtensor, indices_from_subtensor
from pytensor.tensor.type import discrete_dtypes

__all__ = ["corrected_funcify", "with_declared_dtypes"]


@singledispatch
def corrected_funcify(op, **kwargs):
    """Convert as `jax_funcify`, with the conversions of this module."""
    return jax_funcify(op, **kwargs)


def with_declared_dtypes(function, node):
    """Give a node's results the dtypes of its outputs' types.

    bfloat16 stays, which mixed precision computes in.  Integers of Python's stay too, for they may
    be lengths, but overflow as those of the dtype.  See thoughts/upstream/jax-result-dtypes.md.
    """
    declared = [(_declared(variable), _integer_range(variable)) for variable in node.outputs]

    def cast(result, dtype, integers):
        if type(result) is int and integers is not None:
            lowest, number = integers
            return (result - lowest) % number + lowest
        other = dtype is not None and isinstance(result, jax.Array) and result.dtype != dtype
        return result.astype(dtype) if other and result.dtype != jnp.bfloat16 else result

    def one(*inputs):
        return cast(function(*inputs), *declared[0])

    def several(*inputs):
        results = zip(function(*inputs), declared, strict=True)
        return tuple(cast(result, *of_type) for result, of_type in results)

    return one if len(declared) == 1 else several


def _declared(variable):
    """Return the dtype that JAX has for a variable's; None for generators and the like."""
    dtype = getattr(variable.type, "numpy_dtype", None)
    return None if dtype is None else jax.dtypes.canonicalize_dtype(dtype)


def _integer_range(variable):
    """Return the lowest integer of a variable's dtype, and how many it has; None for others."""
    dtype = getattr(variable.type, "numpy_dtype", None)
    if dtype is None or dtype.kind not in "iu":
        return None
    return int(np.iinfo(dtype).min), 1 << 8 * dtype.itemsize


def _with_operands(function, node, dtypes):
    """Cast those inputs of a node whose types have another dtype than they are computed in.

    Numbers of Python alone stay so: they may be lengths.
    """
    casts = [
        (k, jax.dtypes.canonicalize_dtype(dtype))
        for k, (v, dtype) in enumerate(zip(node.inputs, dtypes, strict=True))
        if dtype is not None and v.type.dtype != dtype
    ]
    if not casts:
        return function

    def computed(*inputs):
        inputs = list(inputs)
        if any(isinstance(v, jax.Array) for v in inputs):
            for k, dtype in casts:
                inputs[k] = jnp.asarray(inputs[k]).astype(dtype)
        return function(*inputs)

    return computed


@corrected_funcify.register(Elemwise)
def corrected_funcify_Elemwise(op, node, **kwargs):
    function = corrected_scalar(op.scalar_op, node=node, **kwargs)

    def elemwise(*inputs):
        Elemwise._check_runtime_broadcast(node, tuple(map(jnp.asarray, inputs)))
        return function(*inputs)

    # JAX computes an int32 and a float32 in float32, where PyTensor says float64:
    # thoughts/upstream/jax-result-dtypes.md.
    return _with_operands(elemwise, node, _operand_dtypes(op.scalar_op, node))


@corrected_funcify.register(ps.ScalarOp)
def corrected_funcify_ScalarOp(op, node, **kwargs):
    # Nodes of numbers of PyTensor's, outside of any `Elemwise`.
    function = corrected_scalar(op, node=node, **kwargs)
    return _with_operands(function, node, _operand_dtypes(op, node))


def _operand_dtypes(scalar_op, node):
    """Return the dtype that each input is computed in; None where it is taken as it is."""
    dtype = node.outputs[0].type.dtype
    given = [v.type.dtype for v in node.inputs]
    if isinstance(scalar_op, ps.Switch | ps.Second):
        return [None] + [dtype] * (len(given) - 1)
    if isinstance(scalar_op, ps.Cast | ps.ScalarInnerGraphOp):
        return [None] * len(given)
    if len(given) == 1 and dtype in ("bool", *given):
        return [None]
    if dtype == "bool":
        return [np.result_type(*given).name] * len(given)
    # A complex number's size, angle and parts are real, and two real numbers make a complex one.
    complexes = sum(name.startswith("complex") for name in (*given, dtype))
    if complexes == 1 or (complexes and not dtype.startswith("complex")):
        return [None] * len(given)
    return [dtype] * len(given)


@singledispatch
def corrected_scalar(scalar_op, **kwargs):
    """Return the function for the scalar Op of an `Elemwise`."""
    return jax_funcify(scalar_op, **kwargs)


@corrected_scalar.register(ps.IntDiv)
def corrected_scalar_IntDiv(scalar_op, node, **kwargs):
    function = jax_funcify(scalar_op, node=node, **kwargs)
    if node.outputs[0].type.dtype not in ps.discrete_dtypes:
        return function

    def int_div(x, y):
        # An integer divided by 0 is 0 in NumPy, and -1 or -2 in XLA.
        if not isinstance(x, jax.Array) and not isinstance(y, jax.Array):
            return function(x, y)
        is_zero = jnp.equal(y, 0)
        return jnp.where(is_zero, 0, function(x, jnp.where(is_zero, 1, y)))

    return int_div


@corrected_scalar.register(ps.Pow)
def corrected_scalar_Pow(scalar_op, node, **kwargs):
    function = jax_funcify(scalar_op, node=node, **kwargs)
    if node.outputs[0].type.dtype not in ps.discrete_dtypes:
        return function

    def power(x, y):
        # JAX's reads the lowest six bits of an exponent: thoughts/upstream/jax-integer-powers.md.
        # Like JAX's, this is 1 for a negative one.
        def multiply(state):
            left, square, result = state
            result = jnp.where(left & 1 == 1, result * square, result)
            return left >> 1, square * square, result

        x, y = jnp.broadcast_arrays(x, y)
        start = jnp.maximum(y, 0), x, jnp.ones_like(x)
        return jax.lax.while_loop(lambda state: (state[0] > 0).any(), multiply, start)[-1]

    return power


@corrected_scalar.register(NdtriExp)
def corrected_scalar_NdtriExp(scalar_op, node, **kwargs):
    # PyTensor's is ndtri(exp(y)): -inf where exp(y) is 0, inf where it is rounded to 1.  See
    # thoughts/upstream/jax-ndtri-exp.md.
    lowest = -80.0 if node.outputs[0].type.dtype in ("float16", "float32") else -500.0

    def ndtri_exp(y):
        y = jnp.asarray(y)
        given, y = y.dtype, y.astype("float32") if y.dtype == "float16" else y
        near_one = y > -0.1
        p = jnp.where(near_one, -jnp.expm1(y), jnp.exp(y))
        quantile = jax.scipy.special.ndtri(jnp.where(y < lowest, 0.5, p))
        quantile = jnp.where(near_one, -quantile, quantile)
        far = -_far_quantile(jnp.minimum(y, lowest))
        return jnp.where(y < lowest, far, quantile).astype(given)

    return ndtri_exp


def _far_quantile(log_p):
    """Return how far left of 0 a normal variable is with a tiny probability, of this logarithm.

    By iteration of log(p) = -x**2 / 2 - log(x sqrt(2 pi)) + log(1 - 1 / x**2 + 3 / x**4 - ...),
    Abramowitz & Stegun 26.2.12.
    """
    # As a product, for -2 * log_p may overflow.
    x = np.sqrt(2) * jnp.sqrt(-log_p)
    for _ in range(6):
        u = 1 / (x * x)
        series = jnp.log1p(-u * (1 - u * (3 - u * 15)))
        x = np.sqrt(2) * jnp.sqrt(-log_p - np.log(2 * np.pi) / 2 - jnp.log(x) + series)
    return jnp.where(jnp.isinf(log_p), jnp.inf, x)


@corrected_scalar.register(TriGamma)
def corrected_scalar_TriGamma(scalar_op, **kwargs):
    # JAX's is wrong left of -9, and NaN at infinity: thoughts/upstream/jax-trigamma.md.
    def trigamma(x):
        x = jnp.asarray(x)
        right = jax.scipy.special.polygamma(1, jnp.where(x < 0.5, 1 - x, x))
        # NIST DLMF 5.15.6; the remainder keeps the sine's argument small.
        left = (np.pi / jnp.sin(np.pi * (x - jnp.round(x)))) ** 2 - right
        return jnp.where(x < 0.5, left, jnp.where(x == jnp.inf, 0, right))

    return trigamma


@corrected_funcify.register(CAReduce)
def corrected_funcify_CAReduce(op, node, **kwargs):
    if isinstance(op.scalar_op, ps.AND) and not getattr(op, "nfunc_spec", None):
        return _all_bits(op)
    # PyTensor's returns the accumulator's dtype: a sum of float32 comes out as float64.  See
    # thoughts/upstream/jax-sums-in-accumulator-dtype.md.
    if getattr(op, "acc_dtype", None) is not None:
        declared = jax.dtypes.canonicalize_dtype(node.outputs[0].type.dtype).name
        op = op.clone(acc_dtype=declared)
    return jax_funcify(op, node=node, **kwargs)


def _all_bits(op):
    """Return the function for a reduction by `&`: PyTensor's begins with -1, which may not fit."""

    def all_bits(x):
        axes = range(x.ndim) if op.axis is None else op.axis
        ones = ~np.zeros((), x.dtype)
        return jax.lax.reduce(x, ones, jax.lax.bitwise_and, tuple(axes))

    return all_bits


@corrected_funcify.register(Dot)
@corrected_funcify.register(BatchedDot)
@corrected_funcify.register(BlockDiagonal)
@corrected_funcify.register(KroneckerProduct)
def corrected_funcify_in_result_dtype(op, node, **kwargs):
    dtype = node.outputs[0].type.dtype
    return _with_operands(jax_funcify(op, node=node, **kwargs), node, [dtype] * len(node.inputs))


@corrected_funcify.register(Join)
def corrected_funcify_Join(op, node, **kwargs):
    join = corrected_funcify_in_result_dtype(op, node, **kwargs)

    def joined(*arrays):
        # XLA fails if an array without elements is sliced out of the result:
        # thoughts/upstream/xla-slice-of-empty-operand.md.
        is_empty = any(not jnp.shape(v)[op.axis] for v in arrays)
        result = join(*arrays)
        return jax.lax.optimization_barrier(result) if is_empty else result

    return joined


@corrected_funcify.register(SearchsortedOp)
def corrected_funcify_Searchsorted(op, node, **kwargs):
    common = np.result_type(*(v.type.dtype for v in node.inputs[:2])).name
    others = [None] * len(node.inputs[2:])

    def searchsorted(a, v, sorter=None):
        # PyTensor's takes the sorter for the side: thoughts/upstream/jax-small-conversions.md.
        return jnp.searchsorted(a, v, side=op.side, sorter=sorter)

    return _with_operands(searchsorted, node, [common] * 2 + others)


@corrected_funcify.register(CheckAndRaise)
def corrected_funcify_CheckAndRaise(op, node, **kwargs):
    read = computed_from(node.inputs[1:])
    if any(getattr(v.type, "dtype", None) not in discrete_dtypes for v in read):
        return jax_funcify(op, node=node, **kwargs)

    def check(x, *conditions):
        # JAX knows shapes while it traces, and integers that are part of the program: PyTensor's
        # leaves out these checks too, and warns.
        if not all(isinstance(c, Tracer) or np.asarray(c).all() for c in conditions):
            raise op.exc_type(op.msg)
        if read and any(isinstance(c, Tracer) for c in conditions):
            jax_funcify(op, node=node, **kwargs)  # which warns
        return x

    return check


@corrected_funcify.register(Convolve1d)
def corrected_funcify_Convolve1d(op, node, **kwargs):
    def conv1d(data, kernel, full_mode):
        # The gradient's mode is computed from lengths, which PyTensor's conversion doesn't ask for.
        if isinstance(full_mode, Tracer):
            raise NotImplementedError(
                f"JAX can't compute {node.outputs[0]}: whether it is a full convolution depends on "
                "values that are known only when the function runs"
            )
        mode = "full" if np.asarray(full_mode) else "valid"
        return jnp.convolve(data, kernel, mode=mode)

    return conv1d


@corrected_funcify.register(Split)
def corrected_funcify_Split(op, node, **kwargs):
    # PyTensor's warns where sizes are computed from lengths, which JAX knows.
    def split(x, sizes):
        if isinstance(sizes, Tracer):
            raise NotImplementedError(
                f"JAX can't split {node.inputs[0]}: the sizes, {node.inputs[1]}, depend on values "
                "that are known only when the function runs"
            )
        sizes = np.asarray(sizes)
        if len(sizes) != op.len_splits or (sizes < 0).any() or sizes.sum() != x.shape[op.axis]:
            raise ValueError(
                f"{node.inputs[0]} has {x.shape[op.axis]} elements along axis {op.axis}: it can't "
                f"be split into {op.len_splits} parts of {sizes.tolist()}"
            )
        parts = jnp.split(x, np.cumsum(sizes[:-1]), axis=op.axis)
        return parts if len(parts) > 1 else parts[0]

    return split


@corrected_funcify.register(UnravelIndex)
def corrected_funcify_UnravelIndex(op, node, **kwargs):
    # PyTensor's ignores the order, and returns a tuple for one output:
    # thoughts/upstream/jax-unravel-index.md.
    backwards = slice(None, None, -1 if op.order == "F" else 1)

    def unravel_index(indices, shape):
        results = jnp.unravel_index(indices, shape[backwards])[backwards]
        return results if len(node.outputs) > 1 else results[0]

    return unravel_index


@corrected_funcify.register(AdvancedIncSubtensor)
def corrected_funcify_AdvancedIncSubtensor(op, node, **kwargs):
    if op.set_instead_of_inc or not op.ignore_duplicates:
        return jax_funcify(op, node=node, **kwargs)

    def inc_subtensor(x, y, *flattened_indices):
        # As NumPy's ``x[indices] += y``: PyTensor's adds up what has the same index.  See
        # thoughts/upstream/jax-ignore-duplicates.md.
        indices = tuple(indices_from_subtensor(flattened_indices, op.idx_list))
        op._check_runtime_broadcast_of_vector_index(
            node, x, jnp.asarray(y), indices if len(indices) > 1 else indices[0]
        )
        return x.at[indices].set(x[indices] + jnp.asarray(y).astype(x.dtype))

    return inc_subtensor


@corrected_funcify.register(Solve)
def corrected_funcify_Solve(op, node, **kwargs):
    function = jax_funcify(op, node=node, **kwargs)
    if op.assume_a not in ("sym", "her"):
        return _in_real_dtype(function, node)

    def solve(a, b):
        # PyTensor's reads the whole matrix: thoughts/upstream/solve-triangle.md.
        return function(_symmetric(a, op.lower, conjugate=op.assume_a == "her"), b)

    return _in_real_dtype(solve, node)


@corrected_funcify.register(Eigh)
@corrected_funcify.register(Eigvalsh)
def corrected_funcify_Eigh(op, node, **kwargs):
    if len(node.inputs) == 2:
        return _in_real_dtype(_generalized_eigh(op), node)
    function = jax_funcify(op, node=node, **kwargs)

    def eigh(a):
        # JAX takes the mean of both triangles: thoughts/upstream/jax-eigh-triangle.md.
        return function(_symmetric(a, op.lower, conjugate=True))

    return _in_real_dtype(eigh, node)


def _generalized_eigh(op):
    """Return the function for A x = w B x, which becomes another matrix's by B's Cholesky factor.

    Golub & Van Loan, Matrix Computations, 8.7.2; LAPACK's sygvd does so.
    """

    def eigh(a, b):
        a, b = (_symmetric(m, op.lower, conjugate=True) for m in (a, b))
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

    def pinv(a):
        # NumPy reads the lower triangle, JAX the mean of both.
        return function(_symmetric(a, True, conjugate=True) if op.hermitian else a)

    return _in_real_dtype(pinv, node)


def _symmetric(a, lower, *, conjugate):
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

    return _in_real_dtype(cholesky, node)


@corrected_funcify.register(CholeskySolve)
@corrected_funcify.register(Det)
@corrected_funcify.register(Expm)
@corrected_funcify.register(LUFactor)
@corrected_funcify.register(MatrixInverse)
@corrected_funcify.register(SLogDet)
@corrected_funcify.register(SolveSylvester)
@corrected_funcify.register(SolveTriangular)
@corrected_funcify.register(SVD)
def corrected_funcify_linear_algebra(op, node, **kwargs):
    return _in_real_dtype(jax_funcify(op, node=node, **kwargs), node)


@corrected_funcify.register(LU)
def corrected_funcify_LU(op, node, **kwargs):
    if not op.p_indices:
        return corrected_funcify_linear_algebra(op, node=node, **kwargs)

    def lu(a):
        factors, _, permutation = jax.lax.linalg.lu(a)
        lower = jnp.tril(factors, -1) + jnp.eye(a.shape[0], dtype=a.dtype)
        return jnp.argsort(permutation), lower, jnp.triu(factors)

    return _with_operands(lu, node, [node.outputs[1].type.dtype])


@corrected_funcify.register(QR)
def corrected_funcify_QR(op, node, **kwargs):
    if op.mode == "raw":
        return _in_real_dtype(_raw_qr(op), node)
    if not op.pivoting:
        return corrected_funcify_linear_algebra(op, node=node, **kwargs)

    def qr(x):
        # PyTensor's leaves out the pivots.
        return jax.scipy.linalg.qr(x, mode=op.mode, pivoting=True)

    return _in_real_dtype(qr, node)


def _raw_qr(op):
    """Return the function for LAPACK's own form of a QR decomposition, and R."""

    def raw_qr(x):
        pivots = ()
        if op.pivoting:
            # JAX has LAPACK's form without pivots alone: it is that of the permuted matrix.
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


def _in_real_dtype(function, node):
    """Cast real matrices to the result's precision: JAX computes those of int32 in float32."""
    dtype = np.zeros(0, node.outputs[0].type.dtype).real.dtype.name
    real = [None if v.type.dtype.startswith("complex") else dtype for v in node.inputs]
    return _with_operands(function, node, real)
