"""Steps of random graphs that depend on values, and take all dtypes: numbers, indices, masks.

What is drawn with its values is of multiples of 1/4, with which sums and products are exact.
"""

import numpy as np

import pytensor.tensor as pt
from pytensor import ifelse, scan
from tests.catalogue.random_graphs.operations import (
    OPERATIONS,
    Operation,
    an_axis,
    anything,
    at_least,
    broadcasts,
    no_settings,
    one_name_of,
    one_of,
    operation,
    same,
)

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
LARGE = 1e6


def simple(name, function, fits=anything, moves=True):
    OPERATIONS[name] = Operation(function, fits, moves=moves, of_values=True)


def step(fits=anything, settings=no_settings, arity=1, moves=True, **attributes):
    """Register a step whose result is exact where its operands are, unless `moves` is False."""
    return operation(fits, settings, arity, moves=moves, of_values=True, **attributes)


def is_float(item):
    return item.kind == "f"


def is_number(item):
    return item.kind != "b"


def is_exact_number(item):
    return item.exact and is_number(item)


def is_exact_with_axes(item):
    return item.exact and item.ndim > 0


def is_filled(item):
    return item.ndim > 0 and item.size > 0


def is_filled_float(item):
    return is_float(item) and is_filled(item)


def is_wide(item):
    # Of narrower ones: thoughts/upstream/cumsum-of-small-integers.md
    return item.ndim > 0 and item.dtype in ("int64", "uint64", *FLOATS)


# Functions of one variable
for name in ("floor", "ceil", "trunc", "sign", "round"):
    simple(name, getattr(pt, name), lambda x: is_float(x) and x.exact)
# PyTensor's own rewrite of the negation of unsigned integers fails.
simple("neg", lambda x: -x, lambda x: x.kind in "if")
simple("abs", pt.abs, is_number)
simple("sqr", pt.sqr, lambda x: is_number(x) and x.within(-1000, 1000))
simple("invert", lambda x: ~x, lambda x: x.kind in "biu")
# Where functions that round are far from their poles
for name, bounds in {
    "exp": (-5, 5),
    "expm1": (-5, 5),
    "log": (0.1, LARGE),
    "sqrt": (0.01, LARGE),
    "log1p": (-0.5, LARGE),
    "gammaln": (0.1, 50),
    **dict.fromkeys(
        ("tanh", "sigmoid", "sin", "cos", "erf", "softplus", "arctan", "silu"), (-20, 20)
    ),
}.items():
    simple(name, getattr(pt, name), lambda x, b=bounds: is_float(x) and x.within(*b), moves=False)
simple("shape", lambda x: x.shape, at_least(1))
simple("ravel", pt.flatten)
simple("unsqueeze", lambda x: x[None])
simple("reversed_axes", lambda x: x.T)
simple("argmax", lambda x: x.argmax(axis=-1), lambda x: is_filled(x) and x.exact)
simple("sort_rows", lambda x: pt.sort(x, axis=-1), is_exact_with_axes)
simple("argsort", lambda x: pt.argsort(x, axis=0, stable=True), is_exact_with_axes)
simple("cumsum_of_rows", lambda x: pt.cumsum(x, axis=0), is_wide)
simple("unique", pt.unique, lambda x: is_exact_number(x))
simple("nonzero", lambda x: pt.nonzero(x)[0], is_exact_with_axes)
simple(
    "scan",
    lambda x: scan(lambda row, total: total + row, x, pt.zeros_like(x[0]), return_updates=False),
    lambda x: is_filled(x) and x.kind in "if",
)
for axis in (-1, None):
    simple(
        f"softmax_{axis}",
        lambda x, axis=axis: pt.special.softmax(x, axis=axis),
        is_filled_float,
        moves=False,
    )
simple(
    "logsumexp",
    lambda x: (
        pt.special.logsumexp(x, axis=-1)
        if hasattr(pt.special, "logsumexp")
        else pt.logsumexp(x, axis=-1)
    ),
    is_filled_float,
    moves=False,
)


def castable(source, x):
    """Draw a dtype that holds all values."""
    whole = [d for d in INTEGERS if x.kind == "b" or x.within(np.iinfo(d).min, np.iinfo(d).max)]
    return (source.choice(["bool", *FLOATS, *whole]),)


@step(lambda x: x.exact, castable)
def cast(x, dtype):
    return pt.cast(x, dtype)


@step(settings=one_name_of(FLOATS))
def cast_to_float(x, dtype):
    return pt.cast(x, dtype)


# Functions of two variables and of three
def binary(name, function, first=anything, second=None, moves=True):
    def fits(x, y):
        # PyTensor's rewrite of any(x == x) is wrong for an x without elements.
        return broadcasts(x, y) and (second or first)(y) and (x is not y or x.size > 0)

    OPERATIONS[name] = Operation(function, fits, arity=2, first=first, moves=moves, of_values=True)


def divides(item):
    return is_exact_number(item) and bool((item.value != 0).all())


def is_far_from_zero(item):
    return is_number(item) and bool((np.abs(item.value.astype(float)) > 0.05).all())


binary("add", lambda x, y: x + y)
binary("sub", lambda x, y: x - y, is_number)
binary("mul", lambda x, y: x * y, lambda x: x.kind in "bf" or x.within(-1000, 1000))
binary("maximum", pt.maximum)
binary("minimum", pt.minimum)
binary("true_div", lambda x, y: x / y, is_number, is_far_from_zero, moves=False)
binary("int_div", lambda x, y: x // y, is_exact_number, divides)
binary("mod", lambda x, y: x % y, is_exact_number, divides)
for name in ("lt", "le", "gt", "ge", "eq", "neq"):
    binary(name, getattr(pt, name), lambda x: x.exact)


def of_one_dtype(function):
    def apply(x, y):
        # PyTensor has no bit operation of a boolean and an integer, or of int64 and uint64.
        if x.type.dtype != y.type.dtype:
            x, y = pt.neq(x, 0), pt.neq(y, 0)
        return function(x, y)

    return apply


for name in ("and_", "or_", "xor"):
    binary(name, of_one_dtype(getattr(pt, name)), lambda x: x.kind in "biu" and x.exact)


@step(broadcasts, arity=3, first=lambda x: x.kind == "b")
def switch(condition, yes, no):
    return pt.switch(condition, yes, no)


# A list's elements have one type, and the export refuses lengths that only the index knows.
@step(
    lambda x, y: same(x, y) and x.known == y.known,
    one_of(("wrap",), ("clip",)),
    arity=2,
    # The remainder of an uint64 and an int8 is a float64, which is no index.
    first=lambda x: x.kind in "iu" and x.exact and x.dtype != "uint64",
)
def choose(x, y, mode):
    return pt.choose(x % 5, [y, pt.zeros_like(y), y], mode=mode)


@step(
    lambda condition, yes, no: yes.variable.type == no.variable.type,
    arity=3,
    first=lambda condition: condition.kind == "b" and condition.ndim == 0,
)
def if_else(condition, yes, no):
    return ifelse(condition, yes, no)


@step(lambda x: x.kind in "iu" and x.within(-1000, 1000), one_of((2,), (3,)))
def power(x, exponent):
    return x ** np.float64(exponent)


# Reductions and products
def axes_and_name(source, x):
    names = ["any", "all"] if x.exact else []
    if is_number(x):
        names += ["sum"]
        names += ["max", "min"] if x.size else []
        names += ["prod"] if x.within(-2, 2) and x.size < 10 else []
    axes = tuple(axis for axis in range(x.ndim) if source.chance())
    return axes or None, source.choice(names)


@step(lambda x: x.exact or is_number(x), axes_and_name)
def reduced(x, axes, name):
    return getattr(x, name)(axis=axes)


@step(lambda x: x.size > 0, moves=False)
def mean(x):
    return x.mean()


def is_small_matrix(item):
    return item.ndim in (1, 2) and is_number(item) and item.within(-1000, 1000)


@step(
    lambda x, y: is_small_matrix(y) and y.shape[0] == x.shape[-1],
    arity=2,
    first=is_small_matrix,
)
def dot_of_numbers(x, y):
    return pt.dot(x, y)


@step(lambda x: x.ndim >= 2 and is_float(x))
def batched_matmul(x):
    return x @ x.swapaxes(-1, -2)


@step(lambda x: x.ndim == 0 and x.kind in "iu" and x.within(0, 10))
def arange(x):
    return pt.arange(x)


# Shapes
def a_shape(source, x):
    shape, rest = [], x.size
    for _ in range(source.integer(0, 3)):
        factor = source.choice([f for f in range(1, rest + 1) if rest % f == 0])
        shape.append(factor)
        rest //= factor
    shape.append(rest)
    if source.chance():
        shape[source.integer(0, len(shape) - 1)] = -1
    return (tuple(shape),)


@step(lambda x: x.size > 0, a_shape)
def reshape(x, shape):
    return x.reshape(shape)


def an_order(source, x):
    order, place = list(source.permutation(x.ndim)), source.integer(0, x.ndim)
    return ((*order[:place], "x", *order[place:]),)


@step(at_least(1), an_order)
def dimshuffle(x, order):
    return x.dimshuffle(order)


def joining_axes(x, y):
    """Return the axes along which two items can be joined."""
    if x.ndim != y.ndim:
        return []
    differing = [axis for axis in range(x.ndim) if x.shape[axis] != y.shape[axis]]
    return differing if len(differing) == 1 else [] if differing else list(range(x.ndim))


@step(
    lambda x, y: bool(joining_axes(x, y)),
    lambda source, x, y: (source.choice(joining_axes(x, y)),),
    arity=2,
    first=at_least(1),
)
def joined(x, y, axis):
    return pt.join(axis, x, y)


@step(
    lambda x: x.ndim > 0 and x.shape[0] > 1,
    lambda source, x: (x.shape[0], source.integer(0, x.shape[0]), source.integer(0, 1)),
)
def split(x, length, first, which):
    return pt.split(x, [first, length - first], n_splits=2, axis=0)[which]


@step(
    lambda x: x.ndim > 0 and x.kind in "if",
    lambda source, x: (tuple((source.integer(0, 2), source.integer(0, 2)) for _ in x.shape),),
)
def padded_with_ones(x, widths):
    return pt.pad(x, list(widths), mode="constant", constant_values=1)


# PyTensor's rewrites of what is repeated 0 times fail.
@step(
    lambda x: x.ndim > 0 and x.dtype != "uint64",
    lambda source, x: (source.integer(1, 3), source.integer(0, x.ndim - 1)),
)
def repeat(x, times, axis):
    return pt.repeat(x, times, axis=axis)


# Indices
def a_slice(source, length):
    """Draw a slice, with bounds on both sides of an axis's ends."""
    bounds = [None if source.chance(0.3) else source.integer(-length - 1, length + 1)]
    bounds += [None if source.chance(0.3) else source.integer(-length - 1, length + 1)]
    return slice(*bounds, source.choice([None, 1, 2, 3, 8, -1, -2, -3, -8]))


def an_index(source, x):
    """Draw an index of slices, integers and lists of one length, which broadcast."""
    count, entries = source.integer(1, 3), []
    for length in x.shape:
        kind = source.choice(["slice", "integer", "list"] if length else ["slice"])
        if kind == "slice":
            entries.append(a_slice(source, length))
        elif kind == "integer":
            entries.append(source.integer(-length, length - 1))
        else:
            entries.append([source.integer(-length, length - 1) for _ in range(count)])
    return tuple(entries)


@step(at_least(1), an_index)
def index(x, *entries):
    return x[entries]


@step(
    lambda x, mask: mask.kind == "b" and mask.ndim > 0 and mask.shape == x.shape[: mask.ndim],
    arity=2,
    first=at_least(1),
)
def masked(x, mask):
    return x[mask]


def a_place(source, x):
    axis = source.integer(0, x.ndim - 1)
    adds = is_number(x) and source.chance()
    return axis, a_slice(source, x.shape[axis]), source.integer(0, 3), "inc" if adds else "set"


@step(at_least(1), a_place)
def written(x, axis, where, value, how):
    target = x[(slice(None),) * axis + (where,)]
    value = np.asarray(value, dtype=x.type.dtype)
    return pt.inc_subtensor(target, value) if how == "inc" else pt.set_subtensor(target, value)


@step(lambda x: x.kind in "biu" and x.exact and x.ndim > 0, an_axis)
def unique_slices(x, axis):
    return pt.unique(x, axis=axis)


# Images
@step(lambda x: x.ndim == 2 and x.size > 0 and is_float(x))
def network(x):
    """Convolve and pool a matrix as an image."""
    kernel = pt.constant(np.arange(1, 5, dtype=x.type.dtype).reshape(1, 1, 2, 2) / 8)
    image = pt.conv2d(x[None, None], kernel, border_mode="half")
    return pt.pool_2d(image, (2, 2), ignore_border=False)[0, 0]
