"""Tridiagonal systems, in the steps of LAPACK's gttrf and gttrs."""

from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.triangular import right_sides, solution
from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.tensor.linalg.solvers.tridiagonal import (
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)


def columns(builder, node, inputs, dtype, *, missing, first=()):
    """Return vectors as columns of the matrix's order, with zeros for the entries that are missing.

    They are missing at the end, or at the start for the inputs in `first`.
    """
    result = []
    for i, count in enumerate(missing):
        vector = expand_batch(builder, node, inputs, i)
        x = builder.cast(vector, node.inputs[i].type.dtype, dtype)
        x = builder.add("Unsqueeze", x, builder.int64s([-1]))
        if count:
            batch = builder.add("Shape", vector, end=-1)
            shape = builder.add("Concat", batch, builder.int64s([count, 1]), axis=0)
            zeros = builder.add("Expand", builder.constant(0, dtype), shape)
            parts = (zeros, x) if i in first else (x, zeros)
            x = builder.add("Concat", *parts, axis=-2)
        result.append(x)
    return result


def vector(m, column, *, missing):
    """Return a column without its last entries, as a vector."""
    bounds = (m.builder.int64s([i]) for i in (0, -missing, -2))
    column = m.add("Slice", column, *bounds) if missing else column
    return m.vectors(column)


def one_less(m):
    """Return the steps between rows, negative for no rows; a Loop then takes none."""
    return m.add("Sub", m.order, m.builder.constant(1, "int64"))


def put(m, x, k, value):
    """Replace row k of `x`."""
    return m.add("Where", m.add("Equal", m.rows, k), value, x)


def choose(m, condition, x, y):
    """Return the two, exchanged where the condition doesn't hold."""
    return m.add("Where", condition, x, y), m.add("Where", condition, y, x)


@register_batched(LUFactorTridiagonal)
def onnx_funcify_LUFactorTridiagonal(op, node, builder, *inputs):
    add, dtype = builder.add, node.outputs[0].type.dtype
    dl, d, du = columns(builder, node, inputs, dtype, missing=(1, 0, 1))
    m = Matrices(builder, dtype, d, batch_ndim(node) + 2)
    zero, one, next_row = m.constant(0), m.constant(1), builder.constant(1, "int64")

    def step(k, dl, d, du, du2, pivots):
        after = add("Add", k, next_row)
        sizes = (add("Abs", m.row(x, k)) for x in (d, dl))
        swapped = add("Not", add("GreaterOrEqual", *sizes))
        pivot, other = choose(m, swapped, m.row(dl, k), m.row(d, k))
        divisor = add("Where", add("Equal", pivot, zero), one, pivot)
        factor = add("Div", other, divisor)
        upper, lower = choose(m, swapped, m.row(d, after), m.row(du, k))
        far = m.row(du, after)
        d = put(m, d, k, pivot)
        d = put(m, d, after, add("Sub", lower, add("Mul", factor, upper)))
        du2 = put(m, du2, k, add("Where", swapped, far, zero))
        du = put(m, du, k, upper)
        du = put(m, du, after, add("Where", swapped, add("Neg", add("Mul", factor, far)), far))
        pivots = put(m, pivots, k, add("Where", swapped, after, k))
        return put(m, dl, k, factor), d, du, du2, pivots

    zeros = add("Expand", zero, add("Shape", d))
    state = dl, d, du, zeros, (m.row_numbers(d), "int64")
    dl, d, du, du2, pivots = m.loop(step, *state, count=one_less(m))
    # LAPACK counts rows from one.
    pivots = builder.cast(vector(m, add("Add", pivots, next_row), missing=0), "int64", "int32")
    diagonals = (vector(m, x, missing=n) for x, n in ((dl, 1), (d, 0), (du, 1), (du2, 2)))
    return *diagonals, pivots


@register_batched(SolveLUFactorTridiagonal)
def onnx_funcify_SolveLUFactorTridiagonal(op, node, builder, *inputs):
    dtype = node.outputs[0].type.dtype
    first = (2, 3) if op.transposed else ()
    dl, d, du, du2 = columns(builder, node, inputs, dtype, missing=(1, 0, 1, 2), first=first)
    m = Matrices(builder, dtype, d, batch_ndim(node) + 2)
    pivots = builder.cast(expand_batch(builder, node, inputs, 4), "int32", "int64")
    pivots = builder.add("Unsqueeze", pivots, builder.int64s([-1]))
    # LAPACK counts rows from one.
    row_after = builder.add("Add", m.rows, builder.constant(1, "int64"))
    swapped = builder.add("Greater", pivots, row_after)
    b = builder.cast(expand_batch(builder, node, inputs, 5), node.inputs[5].type.dtype, dtype)
    b = right_sides(op, builder, b)
    if op.transposed:
        b = solve_upper(m, d, du, du2, b, transposed=True)
        b = solve_lower(m, dl, swapped, b, transposed=True)
    else:
        b = solve_lower(m, dl, swapped, b, transposed=False)
        b = solve_upper(m, d, du, du2, b, transposed=False)
    return solution(op, builder, b)


def solve_lower(m, dl, swapped, b, *, transposed):
    add, one = m.add, m.builder.constant(1, "int64")

    def step(k, b):
        if transposed:
            k = add("Sub", add("Sub", one_less(m), one), k)
        after = add("Add", k, one)
        is_swapped, factor = m.row(swapped, k), m.row(dl, k)
        first, second = m.row(b, k), m.row(b, after)
        if transposed:
            first = add("Sub", first, add("Mul", factor, second))
            first, second = choose(m, is_swapped, second, first)
        else:
            first, second = choose(m, is_swapped, second, first)
            second = add("Sub", second, add("Mul", factor, first))
        return put(m, put(m, b, k, first), after, second)

    return m.loop(step, b, count=one_less(m))[0]


def solve_upper(m, d, du, du2, b, *, transposed):
    """Substitute with two diagonals beside the main one, from the last row if not transposed."""
    add = m.add
    shape = (add("Shape", b, end=-2), m.builder.int64s([1]), add("Shape", b, start=-1))
    nothing = add("Expand", m.constant(0), add("Concat", *shape, axis=0))

    def step(k, x, near, far):
        i = k if transposed else add("Sub", one_less(m), k)
        value = add("Sub", m.row(b, i), add("Mul", m.row(du, i), near))
        value = add("Sub", value, add("Mul", m.row(du2, i), far))
        value = add("Div", value, m.row(d, i))
        return put(m, x, i, value), value, near

    return m.loop(step, b, nothing, nothing)[0]
