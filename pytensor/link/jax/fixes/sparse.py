"""Sparse matrices in `jax_mode`: CSR and CSC as PyTensor has them, as arrays of known lengths.

XLA's programs have fixed sizes, so a program is for one number of entries.  What has as many
entries as its inputs' places say (products of two sparse matrices that are sparse themselves,
slices, dense matrices made sparse) has no conversion.  The conversions are entries of the table
`corrected_funcify`.
"""

from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.host_arrays import own
from pytensor.sparse import basic, math
from pytensor.sparse.type import SparseTensorType

__all__ = ["sparse_matrix", "with_sparse_arguments"]


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["data", "indices", "indptr"],
    meta_fields=["format", "shape"],
)
@dataclass(frozen=True)
class SparseMatrix:
    """A sparse matrix as SciPy has it: `indices` of minor axes, and where the major ones begin."""

    data: jax.Array
    indices: jax.Array
    indptr: jax.Array
    format: str
    shape: tuple[int, int]

    def places(self):
        """Return the row and the column of each entry."""
        return places(self.indices, self.indptr, self.format)

    def toarray(self):
        """Return a dense matrix."""
        return jnp.zeros(self.shape, self.data.dtype).at[self.places()].add(self.data)

    def transpose(self):
        """Return the transposed matrix, which has the other format."""
        other = {"csr": "csc", "csc": "csr"}[self.format]
        return replace(self, format=other, shape=self.shape[::-1])


def places(indices, indptr, format):
    """Return the row and the column of each entry, from what a format keeps of them."""
    numbers = jnp.arange(indptr.shape[0] - 1, dtype="int32")
    major = jnp.repeat(numbers, jnp.diff(indptr), total_repeat_length=indices.shape[0])
    return (major, indices) if format == "csr" else (indices, major)


def sparse_matrix(matrix):
    """Return a matrix of SciPy's as a `SparseMatrix`."""
    entries = matrix.indptr[-1]
    indices, indptr = matrix.indices[:entries], matrix.indptr
    return SparseMatrix(
        jnp.asarray(own(matrix.data[:entries])),
        jnp.asarray(own(indices), "int32"),
        jnp.asarray(own(indptr), "int32"),
        matrix.format,
        tuple(map(int, matrix.shape)),
    )


def to_scipy(value):
    """Return a `SparseMatrix` as SciPy's; other values as they are."""
    if not isinstance(value, SparseMatrix):
        return value
    parts = tuple(map(np.array, (value.data, value.indices, value.indptr)))
    return SparseTensorType.format_cls[value.format](parts, shape=value.shape)


def with_sparse_arguments(function, inputs):
    """Wrap a function of JAX's for one that takes and returns matrices of SciPy's."""
    are_sparse = [isinstance(v.type, SparseTensorType) for v in inputs]

    def call(*args):
        pairs = zip(args, are_sparse, strict=True)
        results = function(*(sparse_matrix(x) if is_sparse else x for x, is_sparse in pairs))
        return tuple(map(to_scipy, results))

    return call


def dense(x):
    return x.toarray() if isinstance(x, SparseMatrix) else x


def register(*op_classes):
    """Register what takes an Op and a node's inputs as these Ops' conversion."""

    def registered(function):
        def funcify(op, node, **kwargs):
            return partial(function, op, node)

        for op_class in op_classes:
            corrected_funcify.register(op_class, funcify)
        return function

    return registered


for op_class, conversion in {
    basic.Cast: lambda op, node, x: replace(x, data=x.data.astype(op.out_type)),
    basic.ColScaleCSC: lambda op, node, x, scale: replace(x, data=x.data * scale[x.places()[1]]),
    basic.CSMProperties: lambda op, node, x: (
        x.data,
        x.indices,
        x.indptr,
        np.array(x.shape, "int32"),
    ),
    basic.DenseFromSparse: lambda op, node, x: x.toarray(),
    basic.EnsureSortedIndices: lambda op, node, x: of_places(
        *x.places(), x.data, x.format, x.shape
    ),
    basic.RowScaleCSC: lambda op, node, x, scale: replace(x, data=x.data * scale[x.places()[0]]),
    basic.Transpose: lambda op, node, x: x.transpose(),
    math.AddSparseSparseData: lambda op, node, x, y: replace(x, data=x.data + y.data),
    math.StructuredAddSparseDenseVector: lambda op, node, x, y: replace(
        x, data=x.data + y[x.places()[1]]
    ),
}.items():
    register(op_class)(conversion)


@register(basic.CSM)
def csm(op, node, data, indices, indptr, shape):
    known = node.outputs[0].type.shape
    if isinstance(shape, jax.core.Tracer) and None in known:
        raise NotImplementedError(
            f"jax_mode can't convert CSM: the shape {node.inputs[3]} of a sparse matrix is known "
            "only when the function runs. Give constants, or compile in mode NUMBA."
        )
    shape = known if isinstance(shape, jax.core.Tracer) else tuple(np.asarray(shape).tolist())
    indices, indptr = (jnp.asarray(v).astype("int32") for v in (indices, indptr))
    return SparseMatrix(jnp.asarray(data), indices, indptr, op.format, shape)


@register(basic.CSMGrad)
def csm_grad(op, node, data, indices, indptr, shape, g_data, g_indices, g_indptr, g_shape):
    rows, columns = np.asarray(shape).tolist()
    majors = indptr.shape[0] - 1
    minors = columns if majors == rows else rows
    # The gradient may lack entries, and have them in another order.
    gradient = jnp.zeros((majors, minors), g_data.dtype)
    gradient = gradient.at[places(g_indices, g_indptr, "csr")].add(g_data)
    return gradient[places(indices, indptr, "csr")]


@register(basic.Diag)
def diag(op, node, x):
    if x.shape[0] != x.shape[1]:
        raise ValueError("Diag only apply on square matrix")
    rows, columns = x.places()
    on_diagonal = jnp.where(rows == columns, x.data, 0)
    return jnp.zeros(x.shape[:1], x.data.dtype).at[rows].add(on_diagonal)


def of_places(rows, columns, data, format, shape):
    """Return a sparse matrix of entries at these places, which may come in any order."""
    major, minor = (rows, columns) if format == "csr" else (columns, rows)
    order = jnp.lexsort((minor, major))
    length = shape[0] if format == "csr" else shape[1]
    indptr = jnp.searchsorted(major[order], jnp.arange(length + 1)).astype("int32")
    return SparseMatrix(data[order], minor[order], indptr, format, shape)


@register(basic.HStack, basic.VStack)
def stack(op, node, *blocks):
    axis = 1 if isinstance(op, basic.HStack) else 0
    if len({x.shape[1 - axis] for x in blocks}) > 1:
        raise ValueError(f"Mismatching dimensions along axis {1 - axis}: {[*blocks]}")
    length, parts = 0, []
    for x in blocks:
        place = list(x.places())
        place[axis] = place[axis] + length
        length += x.shape[axis]
        parts.append((*place, x.data.astype(op.dtype)))
    shape = [*blocks[0].shape]
    shape[axis] = length
    joined = map(jnp.concatenate, zip(*parts, strict=True))
    return of_places(*joined, op.format, tuple(shape))


@register(basic.GetItemScalar)
def get_item_scalar(op, node, x, row, column):
    rows, columns = x.places()
    row, column = (jnp.where(k < 0, k + n, k) for k, n in zip((row, column), x.shape, strict=True))
    found = jnp.where((rows == row) & (columns == column), x.data, 0).sum(dtype=x.data.dtype)
    inside = (row >= 0) & (row < x.shape[0]) & (column >= 0) & (column < x.shape[1])
    # Beyond the matrix as in `get_item_2lists`.
    return found[None].at[jnp.where(inside, 0, 1)].get(mode="fill")


@register(basic.GetItem2Lists)
def get_item_2lists(op, node, x, rows, columns):
    # Where there is no entry, as beyond the matrix, floats are NaN and not another's.
    return x.toarray().at[rows, columns].get(mode="fill")


@register(math.SpSum)
def sp_sum(op, node, x):
    if op.axis is None:
        return x.data.sum(dtype=x.data.dtype)
    kept = 1 - op.axis
    return jnp.zeros(x.shape[kept], x.data.dtype).at[x.places()[kept]].add(x.data)


@register(math.AddSparseDense)
def add_sparse_dense(op, node, x, y):
    dtype = node.outputs[0].type.dtype
    return jnp.asarray(y).astype(dtype).at[x.places()].add(x.data.astype(dtype))


@register(math.MultiplySparseDense, math.MultiplySparseDenseVector)
def multiply_sparse_dense(op, node, x, y):
    y, dtype = jnp.asarray(y), node.outputs[0].type.dtype
    if y.ndim == 2 and y.shape != x.shape:
        raise ValueError(f"a sparse matrix of shape {x.shape} times a dense one of {y.shape}")
    factor = y[x.places()[2 - y.ndim :]] if y.ndim else y
    return replace(x, data=x.data.astype(dtype) * factor.astype(dtype))


@register(math.SamplingDot)
def sampling_dot(op, node, x, y, pattern):
    rows, columns = pattern.places()
    data = pattern.data * (x[rows] * y[columns]).sum(axis=1)
    return replace(pattern, data=data.astype(node.outputs[0].type.dtype))


@corrected_funcify.register(math.Dot)
@corrected_funcify.register(math.StructuredDot)
def sparse_funcify_Dot(op, node, **kwargs):
    out = node.outputs[0]
    if isinstance(out.type, SparseTensorType):
        raise NotImplementedError(
            f"jax_mode can't convert {type(op).__name__} of two sparse matrices: how many entries "
            "it has follows from their places, and XLA's programs have fixed sizes. Make one of "
            "them dense, or compile in mode NUMBA."
        )
    return lambda x, y: product(x, y, out.type.dtype)


def product(x, y, dtype):
    """Return the matrix product, dense, of two matrices of which one is sparse at least."""
    if not isinstance(x, SparseMatrix):
        return product(y.transpose(), x.T, dtype).T
    y = jnp.asarray(dense(y)).astype(dtype)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"the matrix product of shapes {x.shape} and {y.shape}")
    rows, columns = x.places()
    data = x.data.astype(dtype).reshape(-1, *[1] * (y.ndim - 1))
    return jnp.zeros((x.shape[0], *y.shape[1:]), dtype).at[rows].add(data * y[columns])


@register(math.StructuredDotGradCSC, math.StructuredDotGradCSR)
def structured_dot_grad(op, node, indices, indptr, b, gradient):
    b, gradient = dense(b), dense(gradient)
    is_columns = isinstance(op, math.StructuredDotGradCSC)
    rows, columns = places(indices, indptr, "csc" if is_columns else "csr")
    return (gradient[rows] * b[columns]).sum(axis=1).astype(node.outputs[0].type.dtype)
