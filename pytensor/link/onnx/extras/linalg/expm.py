from math import log

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.extras.linalg.lu import lu, solve_lu
from pytensor.link.onnx.write.batched import register_batched
from pytensor.tensor.linalg.products import Expm

# Numerator of the (13, 13) Pade approximant of exp, and the largest norm for which it is exact to
# double precision (Higham, "The Scaling and Squaring Method for the Matrix Exponential
# Revisited", 2005, table 2.3 and equation 2.2).
PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
        129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800,
        960960, 16380, 182, 1)  # fmt: skip
LARGEST_NORM = 5.371920351148152


@register_batched(Expm)
def onnx_funcify_Expm(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    add = m.add
    halvings = count_halvings(m, x)
    scale = add("Pow", m.constant(2), add("Neg", halvings))
    result = pade(m, add("Mul", x, scale))
    most = add("ReduceMax", halvings, keepdims=0)
    # The maximum of no matrices at all is minus infinity.
    most = add("Max", most, m.constant(0))

    def step(k, y):
        is_halved = add("Less", builder.cast(k, "int64", m.dtype), halvings)
        return add("Where", is_halved, add("MatMul", y, y), y)

    return m.loop(step, result, count=builder.cast(most, m.dtype, "int64"))[0]


def count_halvings(m, x):
    """Return how often to halve each matrix, as matrices of one entry of its own dtype."""
    add, axes = m.add, [m.builder.int64s([axis]) for axis in (m.ndim - 2, m.ndim - 1)]
    columns = add("ReduceSum", add("Abs", x), axes[0])
    # The zero is for matrices without entries, which have no largest column.
    norm = add("ReduceMax", add("Concat", columns, zero_like_norm(m, x), axis=m.ndim - 1), axes[1])
    # What isn't finite stays so however often it is halved.
    is_finite = add("Less", norm, m.constant(float("inf")))
    norm = add("Where", is_finite, norm, m.constant(1))
    ratio = add("Div", norm, m.constant(LARGEST_NORM))
    ratio = add("Where", add("Greater", ratio, m.constant(1)), ratio, m.constant(1))
    return add("Ceil", add("Div", add("Log", ratio), m.constant(log(2))))


def zero_like_norm(m, x):
    shape = m.add("Concat", m.add("Shape", x, end=-2), m.builder.int64s([1, 1]), axis=0)
    return m.add("Expand", m.constant(0), shape)


def pade(m, x):
    """Return the approximant, by equations 2.11 and 2.12 of the paper above."""
    add = m.add
    x2 = add("MatMul", x, x)
    x4 = add("MatMul", x2, x2)
    x6 = add("MatMul", x4, x2)
    powers = (m.identity(), x2, x4, x6)

    def polynomial(coefficients):
        terms = [
            add("Mul", power, m.constant(c)) for power, c in zip(powers, coefficients, strict=True)
        ]
        total = terms[0]
        for term in terms[1:]:
            total = add("Add", total, term)
        return total

    def half(first):
        high = add("MatMul", x6, polynomial((0, *PADE[first + 8 :: 2])))
        return add("Add", high, polynomial(PADE[first : first + 8 : 2]))

    odd, even = add("MatMul", x, half(1)), half(0)
    factors, _, order = lu(m, add("Sub", even, odd))
    return solve_lu(m, factors, order, add("Add", even, odd))
