from math import prod
from string import ascii_letters

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.fold import fold, length
from pytensor.link.onnx.write.order import FLOATS, sortable, unsortable
from pytensor.scalar.basic import AND, OR, XOR, Add, Maximum, Minimum, Mul, Sqr
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.math import MulWithoutZeros

DEFAULT_ACCUMULATOR = {"float16": "float32", "float32": "float64", "float64": "float64"}
# onnxruntime sums and multiplies integers in double precision.
# thoughts/upstream/onnxruntime-integers-in-double.md
EXACT = 2**53
MANY = 1000  # terms, as far as they are known, whose sum is made in two stages


@onnx_funcify.register(CAReduce)
def onnx_funcify_CAReduce(op, node, builder, x):
    (variable,), (output,) = node.inputs, node.outputs
    axes = sorted(range(variable.type.ndim) if op.axis is None else op.axis)
    dtype, to = variable.type.dtype, output.type.dtype
    acc = accumulator(op, dtype, to)
    if not axes:
        return builder.cast(builder.cast(x, dtype, acc), acc, to)
    scalar_op = op.scalar_op
    if isinstance(scalar_op, Maximum | Minimum) and dtype != "bool":
        x = extremum(builder, op, variable, x, axes)
        return builder.cast(x, dtype, to)
    if isinstance(scalar_op, Add | Mul | MulWithoutZeros) and acc != "bool":
        x = builder.cast(x, dtype, acc)
        reduce = {Add: total, Mul: product, MulWithoutZeros: product_without_zeros}
        return builder.cast(reduce[type(scalar_op)](builder, variable, x, acc, axes), acc, to)
    if isinstance(scalar_op, AND | OR | XOR) and dtype != "bool":
        return builder.cast(bitwise(builder, variable, x, scalar_op, axes), dtype, to)
    if isinstance(scalar_op, OR | Maximum | Add):
        return builder.cast(logical(builder, variable, x, axes, "Max", "Sum"), "bool", to)
    if isinstance(scalar_op, AND | Minimum | Mul):
        return builder.cast(logical(builder, variable, x, axes, "Min", "Prod"), "bool", to)
    if isinstance(scalar_op, XOR):
        count = builder.add(
            "ReduceSum", builder.cast(x, "bool", "int64"), builder.int64s(axes), keepdims=0
        )
        odd = builder.add("BitwiseAnd", count, builder.constant(1, "int64"))
        return builder.cast(builder.cast(odd, "int64", "bool"), "bool", to)
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


def logical(builder, variable, x, axes, of_bools, of_integers):
    # From operator set 20 on there are reductions of booleans, but they fail for no elements.
    if builder.opset >= 20 and all(variable.type.shape[axis] for axis in axes):
        return builder.add(f"Reduce{of_bools}", x, builder.int64s(axes), keepdims=0)
    x = builder.cast(x, "bool", "int32")
    x = builder.add(f"Reduce{of_integers}", x, builder.int64s(axes), keepdims=0)
    return builder.cast(x, "int32", "bool")


def extremum(builder, op, variable, x, axes):
    largest, dtype = isinstance(op.scalar_op, Maximum), variable.type.dtype
    if dtype in FLOATS:
        return max_or_min(builder, largest, dtype, x, axes)
    name = "Max" if largest else "Min"
    key, work = sortable(builder, f"Reduce{name}", x, dtype)
    initial = None
    if getattr(op, "initial", False):
        # The keys of uint64 begin at the lowest int64.
        offset = 2**63 if dtype == "uint64" else 0
        initial = builder.constant(int(op.initial_value(dtype)) - offset, work)
    if work == "int64":
        result = int64_extremum(builder, largest, key, axes, initial)
    else:
        result = builder.add(f"Reduce{name}", key, builder.int64s(axes), keepdims=0)
        if initial is not None and dtype != work:
            # Without elements the kernel gives the bound of the dtype that it works in.
            result = builder.add(name, result, initial)
    return unsortable(builder, result, work, dtype)


def int64_extremum(builder, largest, x, axes, initial):
    """Return an extremum by TopK: ReduceMax's and ReduceMin's kernels are wrong beyond 2**31.

    See ``thoughts/upstream/onnxruntime-extrema-of-int64.md``.
    """
    for axis in sorted(axes, reverse=True):
        if initial is not None:
            pads, where_to = builder.int64s([0, 1]), builder.int64s([axis])
            x = builder.add("Pad", x, pads, initial, where_to)
        one = builder.int64s([1])
        x, _ = builder.add("TopK", x, one, axis=axis, largest=int(largest), n_outputs=2)
        x = builder.add("Squeeze", x, builder.int64s([axis]))
    return x


def max_or_min(builder, largest, dtype, x, axes, keepdims=0):
    """Return the extremum of floats, NaN if any of them is.

    The kernels overlook a NaN unless it comes first; a sum of absolute values doesn't, and is NaN
    only then.
    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    axes = builder.int64s(axes)
    result = builder.add("ReduceMax" if largest else "ReduceMin", x, axes, keepdims=keepdims)
    absolute = builder.add("ReduceL1", x, axes, keepdims=keepdims)
    return where(builder, dtype, builder.add("IsNaN", absolute), absolute, result)


def magnitude(dtype):
    return 1 if dtype == "bool" else max(int(np.iinfo(dtype).max), -int(np.iinfo(dtype).min))


def n_reduced(variable, axes):
    """Return how many entries make one of the result, or None."""
    sizes = [variable.type.shape[axis] for axis in axes]
    return None if None in sizes else prod(sizes)


def total(builder, variable, x, acc, axes):
    dtype = variable.type.dtype
    if acc in FLOATS:
        # Along some of the axes onnxruntime's kernel is slower and less exact than two nodes.
        if acc == dtype and len(axes) == variable.type.ndim and is_square(variable):
            x = builder.name_of(variable.owner.inputs[0])
            return builder.add("ReduceSumSquare", x, builder.int64s(axes), keepdims=0)
        if len(axes) == variable.type.ndim > 1 and (n_reduced(variable, axes) or 0) > MANY:
            # Over all axes at once, onnxruntime-web adds one term after the other.
            # thoughts/upstream/onnxruntime-web-sums.md
            x = builder.add("ReduceSum", x, builder.int64s(axes[-1:]), keepdims=0)
            axes = axes[:-1]
        return builder.add("ReduceSum", x, builder.int64s(axes), keepdims=0)
    # Sums wrap around alike in all integers of 64 bits, and so do narrower ones of theirs.
    x = builder.cast(x, acc, "int64")
    count = n_reduced(variable, axes)
    if dtype in FLOATS:
        exact = False
    elif count is None:
        # 2**36 elements don't fit in memory.
        exact = magnitude(dtype) < 2**17
    else:
        exact = magnitude(dtype) * count <= EXACT
    if exact:
        x = builder.add("ReduceSum", x, builder.int64s(axes), keepdims=0)
    else:
        x = exact_total(builder, x, axes, variable.type.ndim)
    return builder.cast(x, "int64", acc)


def is_square(variable):
    op = variable.owner and variable.owner.op
    squares = isinstance(op, Elemwise) and isinstance(op.scalar_op, Sqr)
    return squares and variable.type.dtype in ("float32", "float64")


def exact_total(builder, x, axes, ndim):
    """Sum int64 as a product with ones, for which there is an integer kernel."""
    one = builder.constant(1, "int64")
    ones = [builder.add("Expand", one, length(builder, x, axis)) for axis in axes]
    letters = ascii_letters[:ndim]
    terms = ",".join([letters, *(letters[axis] for axis in axes)])
    kept = "".join(letter for axis, letter in enumerate(letters) if axis not in axes)
    return builder.add("Einsum", x, *ones, equation=f"{terms}->{kept}")


def product(builder, variable, x, acc, axes):
    if acc in FLOATS:
        return builder.add("ReduceProd", x, builder.int64s(axes), keepdims=0)
    x = builder.cast(x, acc, "int64")
    if product_is_exact(builder, variable, axes):
        x = builder.add("ReduceProd", x, builder.int64s(axes), keepdims=0)
    else:
        for done, axis in enumerate(reversed(axes)):
            x = fold(builder, x, "int64", axis, variable.type.ndim - done, 1, "Mul")
    return builder.cast(x, "int64", acc)


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


def product_without_zeros(builder, variable, x, acc, axes):
    """Return the product of what isn't zero, or 0 where everything is."""
    zero, one = builder.constant(0, acc), builder.constant(1, acc)
    is_zero = builder.add("Equal", x, zero)
    nonzero = product(builder, variable, where(builder, acc, is_zero, one, x), acc, axes)
    return where(
        builder, acc, logical(builder, variable, is_zero, axes, "Min", "Prod"), zero, nonzero
    )


def bitwise(builder, variable, x, scalar_op, axes):
    dtype = variable.type.dtype
    names = {AND: ("BitwiseAnd", ~np.array(0, dtype)), OR: ("BitwiseOr", 0), XOR: ("BitwiseXor", 0)}
    op_type, start = names[type(scalar_op)]
    for done, axis in enumerate(reversed(axes)):
        x = fold(builder, x, dtype, axis, variable.type.ndim - done, start, op_type)
    return x
