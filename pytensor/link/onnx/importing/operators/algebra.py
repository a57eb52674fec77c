"""Products of matrices, determinants, triangles, and tensors made of numbers."""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.elementwise import is_integer, without_gradient
from pytensor.link.onnx.importing.registry import Refused, array_of, dtype_name, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    broadcastable,
    filled,
    known,
    like,
    normalized,
    positions,
    product,
    size,
    sizes,
    vector,
    wanted_sizes,
    wide,
)
from pytensor.link.onnx.importing.text import Text
from pytensor.tensor.basic import constant
from pytensor.tensor.moments import total


@operator_funcify.register("MatMul")
def mat_mul(x, y):
    return pt.matmul(*broadcastable((x, y), kept=2))


@operator_funcify.register("Gemm")
def gemm(a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    if a.type.ndim != 2 or b.type.ndim != 2:
        raise Refused(f"its factors have {a.type.ndim} and {b.type.ndim} axes, and need two each")
    a = a.T if transA else a
    b = b.T if transB else b
    result = _scaled(pt.dot(a, b), alpha)
    if c is None:
        return result
    _, c = broadcastable((result, _scaled(c, beta)))
    return result + c


def _scaled(x, factor):
    if factor == 1:
        return x
    if is_integer(x) and factor != int(factor):
        raise Refused(f"integers times {factor}; make the factor a whole number")
    return x * like(x, factor)


@operator_funcify.register("Einsum")
def einsum(*operands, equation):
    equation = equation.replace(" ", "")
    operands, dtype = [without_gradient(x) for x in operands], operands[0].type.dtype
    if "->" in equation:
        # Not by `pt.einsum`, whose sums mode JAX returns in double precision
        terms, result = equation.split("->")
        terms = terms.split(",")
        if len(terms) == len(operands):
            operands, terms = _without_ones(operands, terms)
            pairs = [
                _summed(x, terms[i], "".join([result, *terms[:i], *terms[i + 1 :]]))
                for i, x in enumerate(operands)
            ]
            operands, terms = zip(*pairs, strict=True)
        if terms == (result,):
            return operands[0]
        equation = f"{','.join(terms)}->{result}"
    return pt.cast(pt.einsum(equation, *operands), dtype)


def _axis(term, position):
    """Return the axis of a label of an Einsum, counted from the end behind dots."""
    dots = term.find("...")
    return position - len(term) if 0 <= dots < position else position


def _without_ones(operands, terms):
    """Return the operands without axes of one element whose labels others have, and their labels.

    `pt.einsum` sums over the others' axes by itself, in double precision in mode JAX.
    """
    operands, terms = list(operands), list(terms)
    for i, term in enumerate(terms):
        for label in term:
            elsewhere = any(label in other for j, other in enumerate(terms) if j != i)
            if not label.isalpha() or term.count(label) > 1 or not elsewhere:
                continue
            axis = _axis(terms[i], terms[i].index(label))
            if operands[i].type.shape[axis] == 1:
                operands[i] = operands[i].squeeze(axis)
                terms[i] = terms[i].replace(label, "")
    return operands, terms


def _summed(x, term, others):
    """Sum an Einsum's operand over the labels that no other has; return it with its new labels."""
    labels = [label for label in dict.fromkeys(term) if label.isalpha()]
    for label in labels:
        while term.count(label) > 1:
            first, second = (_axis(term, find(label)) for find in (term.index, term.rindex))
            x = pt.diagonal(x, axis1=first % x.type.ndim, axis2=second % x.type.ndim)
            term = term.replace(label, "") + label * (term.count(label) - 1)
    own = [label for label in labels if label not in others]
    axes = [_axis(term, term.index(label)) for label in own]
    dtype = x.type.dtype
    if own:
        x = pt.cast(total(wide(x), axes), dtype)
    return x, "".join(label for label in term if label not in own)


@operator_funcify.register("Det")
def det(x):
    return pt.cast(pt.linalg.det(x), x.type.dtype)


def _diagonals(rows, columns):
    """Return the number of each element's diagonal, 0 for the main one."""
    return positions(columns)[None, :] - positions(rows)[:, None]


@operator_funcify.register("Trilu")
def trilu(x, k=None, *, upper=1):
    k = constant(np.int64(0)) if k is None else k.reshape(()) if k.type.ndim else k
    diagonals = _diagonals(size(x, -2 % x.type.ndim), size(x, -1 % x.type.ndim))
    kept = pt.ge(diagonals, k) if upper else pt.le(diagonals, k)
    return pt.switch(kept, x, like(x, 0))


@operator_funcify.register("EyeLike")
def eye_like(x, *, dtype=None, k=0):
    dtype = x.type.dtype if dtype is None else dtype_name(ir.DataType(dtype))
    return pt.cast(pt.eq(_diagonals(*sizes(x)), constant(np.int64(k))), dtype)


@operator_funcify.register("OneHot")
def one_hot(indices, depth, values, *, axis=-1):
    axis = normalized(axis, indices.type.ndim + 1)
    depth = pt.cast(depth.reshape(()) if depth.type.ndim else depth, "int64")
    number = known(depth)
    depth = depth if number is None else constant(number)
    indices = pt.expand_dims(pt.cast(indices, "int64"), axis)
    indices = pt.switch(pt.lt(indices, np.int64(0)), indices + depth, indices)
    places = pt.expand_dims(positions(depth), range(1, indices.type.ndim - axis))
    return pt.switch(pt.eq(indices, places), values[1], values[0])


@operator_funcify.register("Range")
def range_(start, limit, delta, *, stash_type=1):
    # `stash_type` 1 is what is done anyway: half precision is computed in float32
    dtype = start.type.dtype
    start, limit, delta = (v.reshape(()) if v.type.ndim else v for v in (start, limit, delta))
    if is_integer(start):
        return pt.arange(start, limit, delta, dtype=dtype)
    if dtype == "float16":
        start, limit, delta = (pt.cast(v, "float32") for v in (start, limit, delta))
    if known(delta) == 0:
        raise Refused("its delta is 0")
    # In double precision, for a quotient that is a bit above a whole number
    first, last, step = (pt.cast(v, "float64") for v in (start, limit, delta))
    number = pt.cast(pt.ceil((last - first) / step), "int64")
    places = pt.cast(pt.arange(pt.maximum(number, np.int64(0))), start.type.dtype)
    return pt.cast(start + places * delta, dtype)


@operator_funcify.register("Constant")
def constant_(
    node,
    *,
    sparse_value=None,
    value: ir.TensorProtocol = None,
    value_float=None,
    value_floats=None,
    value_int=None,
    value_ints=None,
    value_string=None,
    value_strings=None,
):
    # `sparse_value` is never met: it became `value` when the file was read
    if value is not None:
        if value.dtype == ir.DataType.STRING:
            return _text(node, value.string_data(), tuple(value.shape))
        return constant(array_of(value))
    if value_string is not None:
        return _text(node, [value_string], ())
    if value_strings is not None:
        return _text(node, value_strings, (len(value_strings),))
    for dtype, number in (
        ("float32", value_float), ("float32", value_floats),
        ("int64", value_int), ("int64", value_ints),
    ):  # fmt: skip
        if number is not None:
            return constant(np.asarray(number, dtype))
    raise Refused("it has no value")


def _text(node, strings, shape):
    return Text(constant(node.importer.strings.codes(strings).reshape(shape)))


@operator_funcify.register("ConstantOfShape")
def constant_of_shape(node, shape, *, value=None):
    value = np.zeros(1, "float32") if value is None else value
    return filled(constant(value.reshape(())), wanted_sizes(node, shape))


@operator_funcify.register("Shape")
def shape(x, *, end=None, start=0):
    # PyTensor's slices clip their ends as the operator does
    return vector(sizes(x)[start:end])


@operator_funcify.register("Size")
def size_(x):
    return product(sizes(x))
