"""QR factors, by reflections."""

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.formula import sqrt
from pytensor.link.onnx.write.term import maximum, where
from pytensor.tensor.linalg.decomposition.qr import QR


@register_batched(QR)
def onnx_funcify_QR(op, node, x):
    m, x = matrices_of(node, x)
    shorter = x.sizes(-2).reduce_min(keepdims=True)
    qr, q, tau, order = Householder(m, x, pivoting=op.pivoting).run(shorter)
    r = m.triangle(qr, lower=False)
    pivots = [order.squeeze(-2).cast("int32")] if op.pivoting else []
    if op.mode == "r":
        return r, *pivots
    if op.mode == "raw":
        return qr, tau.slice(0, shorter, -1).squeeze(-2), r.slice(0, shorter, -2), *pivots
    if op.mode == "economic":
        q, r = q.slice(0, shorter, -1), r.slice(0, shorter, -2)
    return q, r, *pivots


class Householder:
    """Reflections that make matrices triangular, as LAPACK's geqrf and geqp3 choose them.

    `m` writes nodes for matrices of as many rows as `x`.  Pivoting takes the longest remaining
    column at each step.
    """

    def __init__(self, m, x, *, pivoting):
        self.m, self.x, self.pivoting = m, x, pivoting
        self.columns = m.builder.arange(x.size(-1))

    def run(self, count):
        """Return the factored matrix, Q, the reflections' factors and the order of the columns."""
        m, x = self.m, self.x
        batch, height = x.sizes(end=-2), x.length(-2)
        identity = m.identity().expand([batch, height, height])
        order = self.columns.expand([batch, 1, x.length(-1)])
        tau = order.cast(m.dtype)
        return m.loop(self.step, x, identity, tau, order, count=count.squeeze(0))

    def step(self, k, qr, q, tau, order):
        m = self.m
        if self.pivoting:
            qr, order = self.pivoted(k, qr, order)
        v, factor, head = self.reflection(k, m.column(qr, k))
        is_kept = m.rows < k
        rest = qr - factor * v * self.sum_rows(v * qr)
        done = where(m.rows == k, head, v)
        is_now = self.columns == k
        changed = where(is_now, done, rest)
        is_kept = is_kept | (self.columns < k)
        turned = (q @ v) * m.transpose(factor * v)
        return where(is_kept, qr, changed), q - turned, where(is_now, factor, tau), order

    def reflection(self, k, column):
        """Return v and factor of ``I - factor v v'``, and what `column` becomes in row k."""
        m = self.m
        alpha = m.row(column, k)
        tail = where(m.rows > k, column, 0)
        below = where(m.rows < k, 0, column)
        is_done = self.largest(tail) == 0
        size = self.norm(below)
        beta = where(is_done, alpha, where(alpha < 0, size, -size))
        change = beta - alpha
        factor = where(is_done, 0, change / beta)
        divisor = where(is_done, 1, -change)
        return where(m.rows == k, 1, tail / divisor), factor, beta

    def norm(self, column):
        """Return Euclidean norms, computed so that squares neither overflow nor vanish."""
        scale = self.largest(column)
        scale = where(scale == 0, 1, scale)
        ratio = column / scale
        return scale * sqrt(self.sum_rows(ratio * ratio))

    def pivoted(self, k, qr, order):
        """Swap column k with the one from k on that is longest in the rows from k on."""
        axis = self.m.ndim - 1
        rest = where(self.m.rows < k, 0, qr)
        norms = where(self.columns < k, -1, self.norm(rest))
        longest = maximum(norms.node("ArgMax", axis=axis, keepdims=1), k)
        swap = where(self.columns == longest, k, self.columns)
        swap = where(self.columns == k, longest, swap)
        qr = qr.gather_elements(swap.expand_as(qr), axis=axis)
        return qr, order.gather_elements(swap, axis=axis)

    def largest(self, x):
        return abs(x).reduce_max(self.m.ndim - 2, keepdims=True)

    def sum_rows(self, x):
        return x.reduce_sum(self.m.ndim - 2, keepdims=True)
