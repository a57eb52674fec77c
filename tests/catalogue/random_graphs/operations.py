"""What a step of a random graph can be: elementwise functions, products and reductions."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import pytensor.tensor as pt


@dataclass(frozen=True)
class Operation:
    """What a step can be.

    Attributes
    ----------
    build : callable
        Takes as many variables as `fits` takes shapes, then a step's settings.
    fits : callable
        Whether operands of these shapes can be taken.
    settings : callable
        Draws a step's settings, given a generator and the operands' shapes.
    moves : bool
        Only moves values about, so that what was exact stays exact.
    exact : bool
        Jumps (in value or in slope), so that its operands must be the same in every linker to the
        last bit: the inputs' values, moved about.
    weight : float
        How often it is drawn.
    shape : callable, optional
        The result's shape for the operands', where PyTensor's type doesn't know it.
    """

    build: Callable
    fits: Callable
    settings: Callable = lambda rng, *shapes: ()
    arity: int = 1
    moves: bool = False
    exact: bool = False
    weight: float = 1.0
    shape: Callable | None = None


OPERATIONS: dict[str, Operation] = {}


def operation(fits, settings=lambda rng, *shapes: (), arity=1, **attributes):
    def register(build):
        name = build.__name__.rstrip("_")
        OPERATIONS[name] = Operation(build, fits, settings, arity, **attributes)
        return build

    return register


def anything(*shapes):
    return True


def at_least(ndim):
    return lambda *shapes: all(len(shape) >= ndim for shape in shapes)


def same(*shapes):
    return len(set(shapes)) == 1


def broadcasts(*shapes):
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def one_of(*choices):
    """Return a setting: one of several, of which each is a tuple."""
    return lambda rng, *shapes: choices[rng.integers(len(choices))]


def an_axis(rng, shape, *others):
    return (int(rng.integers(len(shape))) - (len(shape) if rng.random() < 0.5 else 0),)


# Elementwise: bounded slopes, nothing that jumps.
UNARY = {
    "tanh": pt.tanh,
    "sigmoid": pt.sigmoid,
    "softplus": pt.softplus,
    "square": pt.sqr,
    "negate": lambda x: -x,
    "third": lambda x: x / 3,
    "shifted": lambda x: 1 - x,
    "root": lambda x: pt.sqrt(x * x + 1),
    "log1p": lambda x: pt.log1p(x * x),
    "bell": lambda x: pt.exp(-(x * x)),
    "sin": pt.sin,
    "cos": pt.cos,
    "arctan": pt.arctan,
    "erf": pt.erf,
    "power": lambda x: (x * x + 0.5) ** 1.5,
    "gelu": lambda x: pt.nn.gelu(x),
    "silu": lambda x: pt.silu(x),
}
BINARY = {
    "add": pt.add,
    "subtract": pt.sub,
    "multiply": pt.mul,
    "divide": lambda x, y: x / (y * y + 1),
    "ratio": lambda x, y: pt.sqr(x) / (pt.sqr(x) + pt.sqr(y) + 0.1),
    "softmaximum": pt.logaddexp,
}
JUMPING = {
    "absolute": abs,
    "relu": lambda x: pt.maximum(x, 0),
    "clip": lambda x: pt.clip(x, -0.5, 0.5),
    "sign": lambda x: pt.sign(x),
}


@operation(anything, lambda rng, *s: (str(rng.choice(list(UNARY))),), weight=5)
def elementwise(x, name):
    return UNARY[name](x)


@operation(broadcasts, lambda rng, *s: (str(rng.choice(list(BINARY))),), arity=2, weight=7)
def elementwise2(x, y, name):
    return BINARY[name](x, y)


@operation(broadcasts, arity=3)
def multiply_add(x, y, z):
    return x * y + z


@operation(anything, lambda rng, *s: (str(rng.choice(list(JUMPING))),), exact=True)
def jumping(x, name):
    return JUMPING[name](x)


@operation(broadcasts, arity=2, exact=True)
def larger(x, y):
    return pt.maximum(x, y)


@operation(broadcasts, arity=2, exact=True)
def where(x, y):
    return pt.where(x > y, x * 2, y - 1)


# Values from nowhere, and the same value many times: these are what compilers fold and fuse.
@operation(anything, one_of((1.0,), (0.25,), (0.0,), (-2.0,)), weight=0.7)
def filled(x, value):
    return pt.full_like(x, value, dtype=x.dtype)


@operation(lambda x, c: len(x) > 0 and c == (), arity=2, weight=1.5)
def filled_with(x, c):
    return pt.full_like(x, c)


@operation(
    lambda x, y: len(x) > len(y) and broadcasts(x, y) and np.broadcast_shapes(x, y) == x,
    arity=2,
    moves=True,
)
def broadcast_to(x, y):
    return pt.broadcast_to(y, x.shape)


# Products
def can_multiply(x, y):
    if min(len(x), len(y)) < 1 or max(len(x), len(y)) < 2:
        return False
    rows = y[-2] if len(y) > 1 else y[0]
    return x[-1] == rows and broadcasts(x[:-2], y[:-2])


@operation(can_multiply, arity=2, weight=8)
def matmul(x, y):
    return x @ y


@operation(
    lambda x, y: len(x) > 1 and len(y) > 1 and x[-1] == y[-1] and broadcasts(x[:-2], y[:-2]),
    arity=2,
    weight=4,
)
def matmul_transposed(x, y):
    return x @ pt.swapaxes(y, -1, -2)


@operation(
    lambda x, y: (
        1 <= len(x) <= 2 and 1 <= len(y) <= 2 and x[-1] == (y[0] if len(y) == 1 else y[-2])
    ),
    arity=2,
    weight=2,
)
def dot(x, y):
    return pt.dot(x, y)


@operation(lambda x, y: len(x) == len(y) == 3 and x[0] == y[0] and x[2] == y[1], arity=2, weight=2)
def batched_dot(x, y):
    return pt.vectorize(pt.dot, signature="(i,j),(j,k)->(i,k)")(x, y)


@operation(
    lambda x, y: len(x) == len(y) == 3 and x[1:] == y[1:],
    lambda rng, *s: (int(rng.integers(1, 3)),),
    arity=2,
)
def tensordot(x, y, axis):
    return pt.tensordot(x, y, axes=[[axis], [axis]]).sum(axis=-1)


@operation(lambda x, y: len(x) == len(y) == 1, arity=2)
def outer(x, y):
    return pt.outer(x, y)


@operation(lambda x: len(x) >= 2 and x[-2] == x[-1], one_of((2,), (3,)))
def matrix_power(x, times):
    result = x
    for _ in range(times - 1):
        result = result @ x
    return result


EINSUMS = (
    "bij,bjk->bik", "bij,bkj->bik", "bij,bij->b", "bij,bij->ij", "bij,bij->bi", "bij,bij->bj",
    "bij,jk->bik", "ij,bjk->bik", "bij,j->bi", "bij,bi->bj", "bij,b->ij", "ij,jk->ik", "ij,kj->ik",
    "ij,ij->", "ij,ij->j", "i,ij->j", "i,j->ij", "bij,bjk->ik", "bij,bik->bjk", "bij,bik->jk",
)  # fmt: skip


def lengths_agree(specification, shapes):
    terms = specification.split("->")[0].split(",")
    if any(len(term) != len(shape) for term, shape in zip(terms, shapes, strict=True)):
        return False
    lengths = {}
    for letter, length in zip("".join(terms), sum(shapes, ()), strict=True):
        if lengths.setdefault(letter, length) != length:
            return False
    return True


def fitting_einsums(*shapes):
    return [text for text in EINSUMS if lengths_agree(text, shapes)]


@operation(
    lambda x, y: bool(fitting_einsums(x, y)),
    lambda rng, *shapes: (str(rng.choice(fitting_einsums(*shapes))),),
    arity=2,
    weight=5,
)
def einsum(x, y, specification):
    return pt.einsum(specification, x, y)


# Reductions
def axes(rng, shape):
    """Draw one axis, two or all of them."""
    kind = rng.random()
    if kind < 0.6:
        return an_axis(rng, shape)
    if kind < 0.8 and len(shape) > 1:
        return (tuple(sorted(int(k) for k in rng.choice(len(shape), 2, replace=False))),)
    return (None,)


def axes_and(*choices):
    return lambda rng, shape: (*axes(rng, shape), choices[rng.integers(len(choices))])


REDUCTIONS = {
    "sum": pt.sum,
    "mean": pt.mean,
    "var": pt.var,
    "logsumexp": pt.logsumexp,
    "norm": lambda x, axis, keepdims: pt.sqrt(pt.sum(x * x, axis, keepdims=keepdims) + 1),
}


@operation(
    at_least(1),
    lambda rng, shape: (
        str(rng.choice(list(REDUCTIONS), p=[0.6, 0.1, 0.1, 0.1, 0.1])),
        *axes(rng, shape),
        bool(rng.random() < 0.3),
    ),
    weight=8,
)
def reduce(x, name, axis, keepdims):
    return REDUCTIONS[name](x, axis=axis, keepdims=keepdims)


@operation(same, arity=2, weight=2)
def multiply_and_sum(x, y):
    return (x * y).sum(axis=-1) if x.ndim else x * y


@operation(at_least(1), axes_and("max", "min"), exact=True)
def extremum(x, axis, name):
    return getattr(pt, name)(x, axis=axis)


@operation(at_least(1), an_axis)
def softmax(x, axis):
    return pt.special.softmax(x, axis=axis)


@operation(at_least(1), an_axis)
def cumsum(x, axis):
    return pt.cumsum(x, axis=axis)


@operation(at_least(1), an_axis, exact=True, moves=True, weight=0.5)
def sort(x, axis):
    return pt.sort(x, axis=axis)


@operation(lambda x: len(x) >= 2)
def standardized(x):
    return (x - x.mean(axis=-1, keepdims=True)) / pt.sqrt(x.var(axis=-1, keepdims=True) + 0.1)
