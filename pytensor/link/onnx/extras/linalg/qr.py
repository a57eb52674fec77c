"""QR factors, by reflections."""

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.sizes import count_to, length, scalar, size
from pytensor.tensor.linalg.decomposition.qr import QR


@register_batched(QR)
def onnx_funcify_QR(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    shorter = builder.add("ReduceMin", builder.add("Shape", x, start=-2), keepdims=1)
    qr, q, tau, order = Householder(m, x, pivoting=op.pivoting).run(shorter)
    r = m.triangle(qr, lower=False)
    pivots = []
    if op.pivoting:
        pivots = [builder.cast(m.vectors(order, axis=-2), "int64", "int32")]
    if op.mode == "r":
        return r, *pivots
    if op.mode == "raw":
        return qr, m.vectors(first(m, tau, shorter, -1), axis=-2), first(m, r, shorter, -2), *pivots
    if op.mode == "economic":
        q, r = first(m, q, shorter, -1), first(m, r, shorter, -2)
    return q, r, *pivots


def first(m, x, count, axis):
    """Return as many rows or columns as `count`, a vector of one entry, says."""
    bounds = (m.builder.int64s([0]), count, m.builder.int64s([axis]))
    return m.add("Slice", x, *bounds)


class Householder:
    """Reflections that make matrices triangular, as LAPACK's geqrf and geqp3 choose them.

    `m` writes nodes for matrices of as many rows as `x`.  Pivoting takes the longest remaining
    column at each step.
    """

    def __init__(self, m, x, *, pivoting):
        self.m, self.x, self.pivoting = m, x, pivoting
        builder = m.builder
        self.columns = count_to(builder, size(builder, x, -1))
        self.of_rows = builder.int64s([m.ndim - 2])

    def run(self, count):
        """Return the factored matrix, Q, the reflections' factors and the order of the columns."""
        m, add = self.m, self.m.add
        batch = add("Shape", self.x, end=-2)
        height = length(m.builder, self.x, -2)
        identity = add("Expand", m.identity(), add("Concat", batch, height, height, axis=0))
        shape = (batch, m.builder.int64s([1]), length(m.builder, self.x, -1))
        order = add("Expand", self.columns, add("Concat", *shape, axis=0))
        tau = m.builder.cast(order, "int64", m.dtype)
        count = scalar(m.builder, count)
        return m.loop(self.step, self.x, identity, tau, (order, "int64"), count=count)

    def step(self, k, qr, q, tau, order):
        m, add = self.m, self.m.add
        if self.pivoting:
            qr, order = self.pivoted(k, qr, order)
        column = m.column(qr, k)
        v, factor, head = self.reflection(k, column)
        is_kept = add("Less", m.rows, k)
        row = self.sum(add("Mul", v, qr), self.of_rows)
        rest = add("Sub", qr, add("Mul", add("Mul", factor, v), row))
        done = add("Where", add("Equal", m.rows, k), head, v)
        is_now = add("Equal", self.columns, k)
        changed = add("Where", is_now, done, rest)
        is_kept = add("Or", is_kept, add("Less", self.columns, k))
        turned = add("Mul", add("MatMul", q, v), m.transpose(add("Mul", factor, v)))
        tau = add("Where", is_now, factor, tau)
        return add("Where", is_kept, qr, changed), add("Sub", q, turned), tau, order

    def reflection(self, k, column):
        """Return v and factor of ``I - factor v v'``, and what `column` becomes in row k."""
        m, add = self.m, self.m.add
        zero, one = m.constant(0), m.constant(1)
        alpha = m.row(column, k)
        tail = add("Where", add("Greater", m.rows, k), column, zero)
        below = add("Where", add("Less", m.rows, k), zero, column)
        is_done = add("Equal", self.largest(tail), zero)
        size = self.norm(below)
        beta = add("Where", add("Less", alpha, zero), size, add("Neg", size))
        beta = add("Where", is_done, alpha, beta)
        change = add("Sub", beta, alpha)
        factor = add("Where", is_done, zero, add("Div", change, beta))
        divisor = add("Where", is_done, one, add("Neg", change))
        v = add("Where", add("Equal", m.rows, k), one, add("Div", tail, divisor))
        return v, factor, beta

    def norm(self, column):
        """Return Euclidean norms, computed so that squares neither overflow nor vanish."""
        add, zero = self.m.add, self.m.constant(0)
        scale = self.largest(column)
        scale = add("Where", add("Equal", scale, zero), self.m.constant(1), scale)
        ratio = add("Div", column, scale)
        return add("Mul", scale, add("Sqrt", self.sum(add("Mul", ratio, ratio), self.of_rows)))

    def pivoted(self, k, qr, order):
        """Swap column k with the one from k on that is longest in the rows from k on."""
        m, add = self.m, self.m.add
        rest = add("Where", add("Less", m.rows, k), m.constant(0), qr)
        norms = add("Where", add("Less", self.columns, k), m.constant(-1), self.norm(rest))
        longest = add("Max", add("ArgMax", norms, axis=m.ndim - 1, keepdims=1), k)
        swap = add("Where", add("Equal", self.columns, longest), k, self.columns)
        swap = add("Where", add("Equal", self.columns, k), longest, swap)
        index = add("Expand", swap, add("Shape", qr))
        axis = m.ndim - 1
        qr = add("GatherElements", qr, index, axis=axis)
        return qr, add("GatherElements", order, swap, axis=axis)

    def largest(self, x):
        return self.m.add("ReduceMax", self.m.add("Abs", x), self.of_rows)

    def sum(self, x, axis):
        return self.m.add("ReduceSum", x, axis)
