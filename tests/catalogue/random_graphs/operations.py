"""What a step of a random graph can be: elementwise functions, products and reductions.

Those of this file and of `operations_of_shapes` can be taken at values of any kind, as long as they
are floats of one dtype.  `operations_of_values` has those that depend on values: integers, indices,
masks, logarithms.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product, zip_longest

import numpy as np

import pytensor.tensor as pt


def anything(*items):
    return True


def no_settings(source, *items):
    return ()


@dataclass(frozen=True)
class Operation:
    """What a step can be.

    Attributes
    ----------
    build : callable
        Takes as many variables as `arity` says, then a step's settings.
    fits : callable
        Whether these items can be the operands.
    settings : callable
        Draws a step's settings, given a source of choices (`items.Seeded`) and the operands.
    first : callable
        Whether an item can be the first operand, if there are others that fit.
    moves : bool
        Only moves values about, or computes without rounding, so that what was exact stays exact.
    exact : bool
        Jumps (in value or in slope), so that its operands must be the same in every linker to the
        last bit: the inputs' values, moved about.
    weight : float
        How often it is drawn.
    shape : callable, optional
        The result's shape for the operands', where PyTensor's type doesn't know it.
    of_values : bool
        Whether it depends on values, so that only a graph that is drawn with them can have it.
    """

    build: Callable
    fits: Callable = anything
    settings: Callable = no_settings
    arity: int = 1
    first: Callable = anything
    moves: bool = False
    exact: bool = False
    weight: float = 1.0
    shape: Callable | None = None
    of_values: bool = False

    def allows(self, item):
        """Return whether an item can be an operand, as far as it depends on no other."""
        if self.of_values:
            return True
        # What is bounded stays far from where float32 has less than four digits behind the point.
        usable = item.value is None or (item.size > 0 and item.within(-4, 4))
        return item.kind == "f" and usable and (item.exact or not self.exact)

    def begins_with(self, item):
        """Return whether an item can be the first operand."""
        return self.allows(item) and (self.fits if self.arity == 1 else self.first)(item)

    def candidates(self, items):
        """Return operands that can be taken, as tuples of numbers."""
        # The inputs, and what was computed last: three operands of thirty would be too many.
        near = [k for k in range(len(items)) if k < 3 or k >= len(items) - 6]
        numbers = [k for k in near if self.allows(items[k])]
        firsts = [k for k in numbers if self.begins_with(items[k])]
        found = []
        for chosen in product(firsts, *[numbers] * (self.arity - 1)):
            operands = [items[k] for k in chosen]
            of_one_dtype = self.of_values or len({item.dtype for item in operands}) == 1
            if of_one_dtype and self.fits(*operands):
                found.append(chosen)
        return found


OPERATIONS: dict[str, Operation] = {}


@dataclass(frozen=True)
class Step:
    """One operation; operands count the inputs first, then the steps before this one."""

    operation: str
    operands: tuple[int, ...]
    settings: tuple = ()

    def __str__(self):
        arguments = [f"v{k}" for k in self.operands] + [repr(s) for s in self.settings]
        return f"{self.operation}({', '.join(arguments)})"

    def apply(self, variables):
        """Return the variable that the step computes of those before it."""
        operands = [variables[k] for k in self.operands]
        return OPERATIONS[self.operation].build(*operands, *self.settings)

    def is_exact(self, items):
        """Return whether the result is the same in every backend to the last bit."""
        return OPERATIONS[self.operation].moves and all(items[k].exact for k in self.operands)


def draw_step(source, items, names, unused=()):
    """Draw a step that fits what there is, or None if the operation drawn fits nothing.

    Parameters
    ----------
    source : Seeded or Drawn
    items : list of Item
    names : list of str
        Of the operations.
    unused : collection of int
        Items that nothing has taken yet: they, and what was computed last, are taken more often.
    """
    name = source.choice(names, [OPERATIONS[name].weight for name in names])
    found = OPERATIONS[name].candidates(items)
    if not found:
        return None
    recent = len(items) - 2
    liking = [1 + sum(10 * (k in unused) + (k >= recent) for k in set(c)) for c in found]
    chosen = source.choice(found, liking)
    return Step(name, chosen, OPERATIONS[name].settings(source, *(items[k] for k in chosen)))


def operation(fits, settings=no_settings, arity=1, **attributes):
    def register(build):
        name = build.__name__.rstrip("_")
        OPERATIONS[name] = Operation(build, fits, settings, arity, **attributes)
        return build

    return register


def of_shapes(condition):
    """Return a condition on items that one on their shapes is."""
    return lambda *items: condition(*(item.shape for item in items))


def at_least(ndim):
    return lambda *items: all(item.ndim >= ndim for item in items)


def same(*items):
    return len({item.shape for item in items}) == 1


def broadcasts(*items, last=0):
    """Return whether PyTensor combines items element by element.

    It broadcasts along an axis only if its type says that there is one element.

    Parameters
    ----------
    *items : Item
    last : int
        How many axes at the end are something else's.
    """
    lengths = [list(zip(i.shape, i.known, strict=True))[: max(i.ndim - last, 0)] for i in items]
    axes = zip_longest(*map(reversed, lengths), fillvalue=(1, 1))
    return all(len({length for length, known in axis if known != 1}) <= 1 for axis in axes)


def one_of(*choices):
    """Return a setting: one of several, of which each is a tuple."""
    return lambda source, *items: source.choice(choices)


def one_name_of(names):
    return lambda source, *items: (source.choice(list(names)),)


def an_axis(source, item, *others):
    axis = source.integer(0, item.ndim - 1)
    return (axis - (item.ndim if source.chance() else 0),)


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


@operation(anything, one_name_of(UNARY), weight=5)
def elementwise(x, name):
    return UNARY[name](x)


@operation(broadcasts, one_name_of(BINARY), arity=2, weight=7)
def elementwise2(x, y, name):
    return BINARY[name](x, y)


@operation(broadcasts, arity=3)
def multiply_add(x, y, z):
    return x * y + z


@operation(anything, one_name_of(JUMPING), exact=True)
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


@operation(lambda x, c: x.ndim > 0 and c.ndim == 0, arity=2, weight=1.5)
def filled_with(x, c):
    return pt.full_like(x, c)


@operation(
    lambda x, y: (
        x.ndim > y.ndim and broadcasts(x, y) and np.broadcast_shapes(x.shape, y.shape) == x.shape
    ),
    arity=2,
    moves=True,
)
def broadcast_to(x, y):
    return pt.broadcast_to(y, x.shape)


# Products
def can_multiply(x, y):
    if min(x.ndim, y.ndim) < 1 or max(x.ndim, y.ndim) < 2:
        return False
    rows = y.shape[-2] if y.ndim > 1 else y.shape[0]
    return x.shape[-1] == rows and broadcasts(x, y, last=2)


@operation(can_multiply, arity=2, weight=8)
def matmul(x, y):
    return x @ y


@operation(
    lambda x, y: (
        x.ndim > 1 and y.ndim > 1 and x.shape[-1] == y.shape[-1] and broadcasts(x, y, last=2)
    ),
    arity=2,
    weight=4,
)
def matmul_transposed(x, y):
    return x @ pt.swapaxes(y, -1, -2)


@operation(
    of_shapes(
        lambda x, y: (
            1 <= len(x) <= 2 and 1 <= len(y) <= 2 and x[-1] == (y[0] if len(y) == 1 else y[-2])
        )
    ),
    arity=2,
    weight=2,
)
def dot(x, y):
    return pt.dot(x, y)


@operation(
    of_shapes(lambda x, y: len(x) == len(y) == 3 and x[0] == y[0] and x[2] == y[1]),
    arity=2,
    weight=2,
)
def batched_dot(x, y):
    return pt.vectorize(pt.dot, signature="(i,j),(j,k)->(i,k)")(x, y)


@operation(
    of_shapes(lambda x, y: len(x) == len(y) == 3 and x[1:] == y[1:]),
    one_of((1,), (2,)),
    arity=2,
)
def tensordot(x, y, axis):
    return pt.tensordot(x, y, axes=[[axis], [axis]]).sum(axis=-1)


@operation(lambda x, y: x.ndim == y.ndim == 1, arity=2)
def outer(x, y):
    return pt.outer(x, y)


@operation(of_shapes(lambda x: len(x) >= 2 and x[-2] == x[-1]), one_of((2,), (3,)))
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


def fitting_einsums(*items):
    shapes = [item.shape for item in items]
    return [text for text in EINSUMS if lengths_agree(text, shapes)]


@operation(
    lambda x, y: bool(fitting_einsums(x, y)),
    lambda source, *items: (source.choice(fitting_einsums(*items)),),
    arity=2,
    weight=5,
)
def einsum(x, y, specification):
    with warnings.catch_warnings():
        # PyTensor's advice where one operand says that an axis has one element, and one doesn't.
        warnings.filterwarnings("ignore", "The same einsum subscript")
        return pt.einsum(specification, x, y)


# Reductions
def axes(source, item):
    """Draw one axis, two or all of them."""
    count = source.choice((1, 2, None), (6, 2, 2))
    if count == 1:
        return an_axis(source, item)
    if count == 2 and item.ndim > 1:
        return (tuple(sorted(source.sample(item.ndim, 2))),)
    return (None,)


def axes_and(*choices):
    return lambda source, item: (*axes(source, item), source.choice(choices))


REDUCTIONS = {
    "sum": pt.sum,
    "mean": pt.mean,
    "var": pt.var,
    "logsumexp": pt.logsumexp,
    "norm": lambda x, axis, keepdims: pt.sqrt(pt.sum(x * x, axis, keepdims=keepdims) + 1),
}


@operation(
    at_least(1),
    lambda source, item: (
        source.choice(list(REDUCTIONS), (6, 1, 1, 1, 1)),
        *axes(source, item),
        source.chance(0.3),
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


@operation(at_least(2))
def standardized(x):
    return (x - x.mean(axis=-1, keepdims=True)) / pt.sqrt(x.var(axis=-1, keepdims=True) + 0.1)
