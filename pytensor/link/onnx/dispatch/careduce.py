from math import prod
from string import ascii_letters

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.fold import fold
from pytensor.link.onnx.write.order import sortable, unsortable
from pytensor.link.onnx.write.term import FLOATS, where
from pytensor.scalar.basic import AND, OR, XOR, Add, Maximum, Minimum, Mul, Sqr
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.math import MulWithoutZeros

DEFAULT_ACCUMULATOR = {"float16": "float32", "float32": "float64", "float64": "float64"}
# onnxruntime sums and multiplies integers in double precision.
# thoughts/upstream/onnxruntime-integers-in-double.md
EXACT = 2**53
MANY = 1000  # terms, as far as they are known, whose sum is made in two stages


@onnx_funcify.register(CAReduce)
def onnx_funcify_CAReduce(op, node, x):
    (variable,), (output,) = node.inputs, node.outputs
    axes = sorted(range(variable.type.ndim) if op.axis is None else op.axis)
    dtype, to = variable.type.dtype, output.type.dtype
    acc = accumulator(op, dtype, to)
    if not axes:
        return x.cast(acc).cast(to)
    scalar_op = op.scalar_op
    if isinstance(scalar_op, Maximum | Minimum) and dtype != "bool":
        return extremum(op, x, axes).cast(to)
    if isinstance(scalar_op, Add | Mul | MulWithoutZeros) and acc != "bool":
        reduce = {Add: total, Mul: product, MulWithoutZeros: product_without_zeros}
        return reduce[type(scalar_op)](variable, x.cast(acc), axes).cast(to)
    if isinstance(scalar_op, AND | OR | XOR) and dtype != "bool":
        return bitwise(x, scalar_op, axes).cast(to)
    if isinstance(scalar_op, OR | Maximum | Add):
        return logical(variable, x, axes, "Max", "Sum").cast(to)
    if isinstance(scalar_op, AND | Minimum | Mul):
        return logical(variable, x, axes, "Min", "Prod").cast(to)
    if isinstance(scalar_op, XOR):
        return (x.cast("int64").reduce_sum(axes) & 1).cast("bool").cast(to)
    raise ConversionError(
        f"ONNX has no reduction with {scalar_op}; write it with sums, products or a scan"
    )


def accumulator(op, dtype, to):
    """Return the dtype to compute in.

    Where PyTensor sums float32 in double precision by default, the model doesn't: an exported
    network shall not be in double precision.  (onnxruntime's sum of a million numbers is right to
    2e-5.)
    """
    acc = op.acc_dtype or to
    return to if dtype == to and DEFAULT_ACCUMULATOR.get(to) == acc else acc


def logical(variable, x, axes, of_bools, of_integers):
    # From operator set 20 on there are reductions of booleans, but they fail for no elements.
    if x.builder.opset >= 20 and all(variable.type.shape[axis] for axis in axes):
        return x.builder.node(f"Reduce{of_bools}", x, x.builder.vector(axes), keepdims=0)
    return x.cast("int32").node(f"Reduce{of_integers}", axes, keepdims=0).cast("bool")


def extremum(op, x, axes):
    largest, dtype = isinstance(op.scalar_op, Maximum), x.dtype
    if x.is_float:
        return max_or_min(largest, x, axes)
    name = "Max" if largest else "Min"
    key = sortable(f"Reduce{name}", x)
    initial = None
    if getattr(op, "initial", False):
        # The keys of uint64 begin at the lowest int64.
        offset = 2**63 if dtype == "uint64" else 0
        initial = key.lift(int(op.initial_value(dtype)) - offset)
    if key.dtype == "int64":
        result = int64_extremum(largest, key, axes, initial)
    else:
        result = key.node(f"Reduce{name}", axes, keepdims=0)
        if initial is not None and dtype != key.dtype:
            # Without elements the kernel gives the bound of the dtype that it works in.
            result = result.node(name, initial)
    return unsortable(result, dtype)


def int64_extremum(largest, x, axes, initial):
    """Return an extremum by TopK: ReduceMax's and ReduceMin's kernels are wrong beyond 2**31.

    See ``thoughts/upstream/onnxruntime-extrema-of-int64.md``.
    """
    for axis in sorted(axes, reverse=True):
        if initial is not None:
            x = x.node("Pad", [0, 1], initial, [axis])
        x, _ = x.node("TopK", [1], axis=axis, largest=int(largest), n_outputs=2)
        x = x.squeeze(axis)
    return x


def max_or_min(largest, x, axes, *, keepdims=False):
    """Return the extremum of floats, NaN if any of them is.

    The kernels overlook a NaN unless it comes first; a sum of absolute values doesn't, and is NaN
    only then.
    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    result = (x.reduce_max if largest else x.reduce_min)(axes, keepdims=keepdims)
    absolute = x.node("ReduceL1", axes, keepdims=int(keepdims))
    return where(absolute.is_nan(), absolute, result)


def magnitude(dtype):
    return 1 if dtype == "bool" else max(int(np.iinfo(dtype).max), -int(np.iinfo(dtype).min))


def n_reduced(variable, axes):
    """Return how many entries make one of the result, or None."""
    sizes = [variable.type.shape[axis] for axis in axes]
    return None if None in sizes else prod(sizes)


def total(variable, x, axes):
    dtype, ndim = variable.type.dtype, variable.type.ndim
    if x.is_float:
        # Along some of the axes onnxruntime's kernel is slower and less exact than two nodes.
        if x.dtype == dtype and len(axes) == ndim and is_square(variable):
            root = x.builder.value_of(variable.owner.inputs[0])
            return root.node("ReduceSumSquare", axes, keepdims=0)
        if len(axes) == ndim > 1 and (n_reduced(variable, axes) or 0) > MANY:
            # Over all axes at once, onnxruntime-web adds one term after the other.
            # thoughts/upstream/onnxruntime-web-sums.md
            x = x.reduce_sum(axes[-1:])
            axes = axes[:-1]
        return x.reduce_sum(axes)
    count = n_reduced(variable, axes)
    if dtype in FLOATS:
        exact = False
    elif count is None:
        # 2**36 elements don't fit in memory.
        exact = magnitude(dtype) < 2**17
    else:
        exact = magnitude(dtype) * count <= EXACT
    # Sums wrap around in the same way in all integers of 64 bits, and in narrower ones.
    integers = x.cast("int64")
    result = integers.reduce_sum(axes) if exact else exact_total(integers, axes, ndim)
    return result.cast(x.dtype)


def is_square(variable):
    op = variable.owner and variable.owner.op
    squares = isinstance(op, Elemwise) and isinstance(op.scalar_op, Sqr)
    return squares and variable.type.dtype in ("float32", "float64")


def exact_total(x, axes, ndim):
    """Sum int64 as a product with ones, for which there is an integer kernel."""
    ones = [x.lift(1).expand(x.length(axis)) for axis in axes]
    letters = ascii_letters[:ndim]
    terms = ",".join([letters, *(letters[axis] for axis in axes)])
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
    return x.node("Einsum", *ones, equation=f"{terms}->{kept}")


def product(variable, x, axes):
    if x.is_float:
        return x.reduce_prod(axes)
    result = x.cast("int64")
    if product_is_exact(x.builder, variable, axes):
        return result.reduce_prod(axes).cast(x.dtype)
    for done, axis in enumerate(reversed(axes)):
        result = fold(result, axis, variable.type.ndim - done, 1, "Mul")
    return result.cast(x.dtype)


def product_is_exact(builder, variable, axes):
    dtype, count = variable.type.dtype, n_reduced(variable, axes)
    if dtype == "bool":
        return True
    if variable.type.ndim == 1:
        sizes = builder.dims.elements(variable)
        # The product of a tensor's sizes is how many elements it has.
        if sizes is not None and all(size.is_of_axes for size in sizes):
            return True
    return dtype not in FLOATS and count is not None and magnitude(dtype) ** count <= EXACT


def product_without_zeros(variable, x, axes):
    """Return the product of what isn't zero, or 0 where everything is."""
    is_zero = x == 0
    nonzero = product(variable, where(is_zero, 1, x), axes)
    return where(logical(variable, is_zero, axes, "Min", "Prod"), 0, nonzero)


def bitwise(x, scalar_op, axes):
    kinds = {
        AND: ("BitwiseAnd", ~np.array(0, x.dtype)),
        OR: ("BitwiseOr", 0),
        XOR: ("BitwiseXor", 0),
    }
    op_type, start = kinds[type(scalar_op)]
    ndim = x.ndim
    for done, axis in enumerate(reversed(axes)):
        x = fold(x, axis, ndim - done, start, op_type)
    return x
