from functools import reduce
from math import inf, log
from operator import add

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.extras.linalg.lu import lu, solve_lu
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.formula import ceil
from pytensor.link.onnx.write.formula import log as ln
from pytensor.link.onnx.write.term import concat, where
from pytensor.tensor.linalg.products import Expm

# Numerator of the (13, 13) Pade approximant of exp, and the largest norm for which it is exact to
# double precision (Higham, "The Scaling and Squaring Method for the Matrix Exponential
# Revisited", 2005, table 2.3 and equation 2.2).
PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
        129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800,
        960960, 16380, 182, 1)  # fmt: skip
LARGEST_NORM = 5.371920351148152


@register_batched(Expm)
def onnx_funcify_Expm(op, node, x):
    m, x = matrices_of(node, x)
    halvings = count_halvings(m, x)
    result = pade(m, x * 2**-halvings)
    # The maximum of no matrices at all is minus infinity.
    most = halvings.reduce_max().node("Max", 0)

    def step(k, y):
        return where(k.cast(m.dtype) < halvings, y @ y, y)

    return m.loop(step, result, count=most.cast("int64"))[0]


def count_halvings(m, x):
    """Return how often to halve each matrix, as matrices of one entry of its own dtype."""
    columns = abs(x).reduce_sum(m.ndim - 2, keepdims=True)
    # The zero is for matrices without entries, which have no largest column.
    zeros = x.lift(0).expand([x.sizes(end=-2), 1, 1])
    norm = concat([columns, zeros], axis=m.ndim - 1).reduce_max(m.ndim - 1, keepdims=True)
    # What isn't finite stays so however often it is halved.
    ratio = where(norm < inf, norm, 1) / LARGEST_NORM
    return ceil(ln(where(ratio > 1, ratio, 1)) / log(2))


def pade(m, x):
    """Return the approximant, by equations 2.11 and 2.12 of the paper above."""
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    powers = (m.identity(), x2, x4, x6)

    def polynomial(coefficients):
        terms = [power * c for power, c in zip(powers, coefficients, strict=True)]
        return reduce(add, terms)

    def half(first):
        high = x6 @ polynomial((0, *PADE[first + 8 :: 2]))
        return high + polynomial(PADE[first : first + 8 : 2])

    odd, even = x @ half(1), half(0)
    factors, _, order = lu(m, even - odd)
    return solve_lu(m, factors, order, even + odd)
