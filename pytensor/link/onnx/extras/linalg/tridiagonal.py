"""Tridiagonal systems, in the steps of LAPACK's gttrf and gttrs."""

from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.triangular import right_sides, solution
from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.link.onnx.write.term import concat, where
from pytensor.tensor.linalg.solvers.tridiagonal import (
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)


def columns(node, inputs, *, missing, first=()):
    """Return vectors as columns of the matrix's order, with zeros for the entries that are missing.

    They are missing at the end, or at the start for the inputs in `first`.
    """
    result = []
    for i, count in enumerate(missing):
        vector = expand_batch(node, inputs, i)
        x = vector.cast(node.outputs[0].type.dtype).column()
        if count:
            zeros = x.lift(0).expand([vector.sizes(end=-1), count, 1])
            x = concat((zeros, x) if i in first else (x, zeros), axis=-2)
        result.append(x)
    return result


def vector(column, *, missing):
    """Return a column without its last entries, as a vector."""
    return (column.slice(0, -missing, -2) if missing else column).squeeze(-1)


def one_less(m):
    """Return the steps between rows, negative for no rows; a Loop then takes none."""
    return m.order - 1


def put(m, x, k, value):
    """Replace row k of `x`."""
    return where(m.rows == k, value, x)


def choose(condition, x, y):
    """Return the two, exchanged where the condition doesn't hold."""
    return where(condition, x, y), where(condition, y, x)


@register_batched(LUFactorTridiagonal)
def onnx_funcify_LUFactorTridiagonal(op, node, *inputs):
    dl, d, du = columns(node, inputs, missing=(1, 0, 1))
    m = Matrices(d, batch_ndim(node) + 2)

    def step(k, dl, d, du, du2, pivots):
        after = k + 1
        swapped = ~(abs(m.row(d, k)) >= abs(m.row(dl, k)))
        pivot, other = choose(swapped, m.row(dl, k), m.row(d, k))
        factor = other / where(pivot == 0, 1, pivot)
        upper, lower = choose(swapped, m.row(d, after), m.row(du, k))
        far = m.row(du, after)
        d = put(m, d, k, pivot)
        d = put(m, d, after, lower - factor * upper)
        du2 = put(m, du2, k, where(swapped, far, 0))
        du = put(m, du, k, upper)
        du = put(m, du, after, where(swapped, -(factor * far), far))
        pivots = put(m, pivots, k, where(swapped, after, k))
        return put(m, dl, k, factor), d, du, du2, pivots

    state = dl, d, du, m.zeros_like(d), m.row_numbers(d)
    dl, d, du, du2, pivots = m.loop(step, *state, count=one_less(m))
    # LAPACK counts rows from one.
    pivots = vector(pivots + 1, missing=0).cast("int32")
    diagonals = (vector(x, missing=n) for x, n in ((dl, 1), (d, 0), (du, 1), (du2, 2)))
    return *diagonals, pivots


@register_batched(SolveLUFactorTridiagonal)
def onnx_funcify_SolveLUFactorTridiagonal(op, node, *inputs):
    first = (2, 3) if op.transposed else ()
    dl, d, du, du2 = columns(node, inputs, missing=(1, 0, 1, 2), first=first)
    m = Matrices(d, batch_ndim(node) + 2)
    pivots = expand_batch(node, inputs, 4).cast("int64").column()
    # LAPACK counts rows from one.
    swapped = pivots > m.rows + 1
    b = right_sides(op, expand_batch(node, inputs, 5).cast(m.dtype))
    if op.transposed:
        b = solve_upper(m, d, du, du2, b, transposed=True)
        b = solve_lower(m, dl, swapped, b, transposed=True)
    else:
        b = solve_lower(m, dl, swapped, b, transposed=False)
        b = solve_upper(m, d, du, du2, b, transposed=False)
    return solution(op, b)


def solve_lower(m, dl, swapped, b, *, transposed):
    def step(k, b):
        if transposed:
            k = one_less(m) - 1 - k
        after = k + 1
        is_swapped, factor = m.row(swapped, k), m.row(dl, k)
        first, second = m.row(b, k), m.row(b, after)
        if transposed:
            first = first - factor * second
            first, second = choose(is_swapped, second, first)
        else:
            first, second = choose(is_swapped, second, first)
            second = second - factor * first
        return put(m, put(m, b, k, first), after, second)

    return m.loop(step, b, count=one_less(m))[0]


def solve_upper(m, d, du, du2, b, *, transposed):
    """Substitute with two diagonals next to the main one, from the last row if not transposed."""
    nothing = b.lift(0).expand([b.sizes(end=-2), 1, b.sizes(-1)])

    def step(k, x, near, far):
        i = k if transposed else one_less(m) - k
        value = m.row(b, i) - m.row(du, i) * near
        value = (value - m.row(du2, i) * far) / m.row(d, i)
        return put(m, x, i, value), value, near

    return m.loop(step, b, nothing, nothing)[0]
