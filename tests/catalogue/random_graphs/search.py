"""Strategy for whole graphs: 1 to 30 operations over a few inputs, with values for them.

Every operation is carried out while the graph is drawn, so that the next one can be chosen to fit:
indices within bounds, positive numbers for a logarithm.  Values that went through a function which
rounds are marked inexact, and nothing discontinuous (rounding, comparing, sorting) is done to them:
a difference in the last digit would become a difference in kind.
"""

from math import prod

import numpy as np
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor import ifelse, scan
from tests.catalogue.random_graphs.items import DTYPES, FLOATS, LARGE, Item, RandomGraph

# name -> (condition on an item, function of draw, graph and item that returns a variable, exact)
STEPS = {}


def step(condition=lambda item: True, exact=True):
    """Register an operation; `exact` False marks results that are rounded."""

    def register(build):
        STEPS[build.__name__] = (condition, build, exact)
        return build

    return register


def simple(name, function, condition=lambda item: True, exact=True):
    STEPS[name] = (condition, lambda draw, graph, item: function(item.variable), exact)


def is_float(item):
    return item.kind == "f"


def is_number(item):
    return item.kind != "b"


def is_exact(item):
    return item.exact


def is_exact_number(item):
    return item.exact and is_number(item)


def has_axes(item):
    return item.ndim > 0


def is_filled(item):
    return item.ndim > 0 and item.value.size > 0


def is_wide(item):
    # Of narrower ones: thoughts/upstream/cumsum-of-small-integers.md
    return item.ndim > 0 and item.dtype in ("int64", "uint64", *FLOATS)


for name in ("floor", "ceil", "trunc", "sign", "round"):
    simple(name, getattr(pt, name), lambda item: is_float(item) and item.exact)
# PyTensor's own rewrite of the negation of unsigned integers fails.
simple("neg", lambda x: -x, lambda item: item.kind in "if")
simple("abs", pt.abs, is_number)
simple("sqr", pt.sqr, lambda item: is_number(item) and item.within(-1000, 1000))
simple("invert", lambda x: ~x, lambda item: item.kind in "biu")
simple("exp", pt.exp, lambda item: is_float(item) and item.within(-5, 5), exact=False)
simple("log", pt.log, lambda item: is_float(item) and item.within(0.1, LARGE), exact=False)
simple("sqrt", pt.sqrt, lambda item: is_float(item) and item.within(0.01, LARGE), exact=False)
simple("log1p", pt.log1p, lambda item: is_float(item) and item.within(-0.5, LARGE), exact=False)
simple("expm1", pt.expm1, lambda item: is_float(item) and item.within(-5, 5), exact=False)
for name in ("tanh", "sigmoid", "sin", "cos", "erf", "softplus", "arctan", "silu"):
    bounded = lambda item: is_float(item) and item.within(-20, 20)  # noqa: E731
    simple(name, getattr(pt, name), bounded, exact=False)
simple("gammaln", pt.gammaln, lambda item: is_float(item) and item.within(0.1, 50), exact=False)
simple("shape", lambda x: x.shape, has_axes)
simple("ravel", pt.flatten)
simple("transpose", lambda x: x.T)
simple("unsqueeze", lambda x: x[None])
simple("argmax", lambda x: x.argmax(axis=-1), lambda i: is_filled(i) and i.shape[-1] and i.exact)
simple("sort", lambda x: pt.sort(x, axis=-1), lambda item: has_axes(item) and item.exact)
simple(
    "argsort",
    lambda x: pt.argsort(x, axis=0, stable=True),
    lambda item: has_axes(item) and item.exact,
)
simple("cumsum", lambda x: pt.cumsum(x, axis=0), is_wide)
simple("unique", lambda x: pt.unique(x), lambda item: item.exact and item.kind in "iuf")
simple("nonzero", lambda x: pt.nonzero(x)[0], lambda item: has_axes(item) and item.exact)
simple(
    "scan",
    lambda x: scan(lambda row, total: total + row, x, pt.zeros_like(x[0]), return_updates=False),
    lambda item: is_filled(item) and item.kind in "if",
)
for axis in (-1, None):
    simple(
        f"softmax_{axis}",
        lambda x, axis=axis: pt.special.softmax(x, axis=axis),
        lambda item: is_float(item) and is_filled(item),
        exact=False,
    )
simple(
    "logsumexp",
    lambda x: (
        pt.special.logsumexp(x, axis=-1)
        if hasattr(pt.special, "logsumexp")
        else pt.logsumexp(x, axis=-1)
    ),
    lambda item: is_float(item) and is_filled(item),
    exact=False,
)


@step(is_exact)
def cast(draw, graph, item):
    dtypes = [d for d in DTYPES if d in ("bool", *FLOATS) or _fits(item, d)]
    return pt.cast(item.variable, draw(st.sampled_from(dtypes)))


def _fits(item, dtype):
    info = np.iinfo(dtype)
    return item.kind == "b" or item.within(info.min, info.max)


@step()
def cast_to_float(draw, graph, item):
    return pt.cast(item.variable, draw(st.sampled_from(FLOATS)))


def _partners(graph, item):
    """Return items that can be combined with `item` element by element.

    PyTensor broadcasts along an axis only if its type says that there is one element.
    """

    def fits(other):
        sizes = zip(item.shape[::-1], other.shape[::-1], strict=False)
        known = zip(item.variable.type.shape[::-1], other.variable.type.shape[::-1], strict=False)
        return all(a == b or 1 in pair for (a, b), pair in zip(sizes, known, strict=True))

    return [other for other in graph.items if fits(other)]


def _pair(draw, graph, item, condition=lambda other: True):
    # PyTensor's rewrite of any(x == x) is wrong for an x without elements.
    others = [o for o in _partners(graph, item) if condition(o) and (o is not item or o.value.size)]
    return draw(st.sampled_from(others)) if others else None


def binary(name, function, condition=lambda item: True, other=None, exact=True):
    def build(draw, graph, item):
        partner = _pair(draw, graph, item, other or condition)
        if partner is None:
            return None
        variable = function(item.variable, partner.variable)
        return variable, exact and item.exact and partner.exact

    STEPS[name] = (condition, build, exact)


binary("add", lambda x, y: x + y)
binary("sub", lambda x, y: x - y, is_number)
binary("mul", lambda x, y: x * y, lambda item: item.kind in "bf" or item.within(-1000, 1000))
binary("maximum", pt.maximum)
binary("minimum", pt.minimum)
binary(
    "true_div",
    lambda x, y: x / y,
    is_number,
    lambda item: is_number(item) and bool((np.abs(item.value.astype(float)) > 0.05).all()),
    exact=False,
)
binary(
    "int_div",
    lambda x, y: x // y,
    is_exact_number,
    lambda item: is_exact_number(item) and bool((item.value != 0).all()),
)
binary(
    "mod",
    lambda x, y: x % y,
    is_exact_number,
    lambda item: is_exact_number(item) and bool((item.value != 0).all()),
)
for name in ("lt", "le", "gt", "ge", "eq", "neq"):
    binary(name, getattr(pt, name), is_exact)


def of_one_dtype(function):
    def apply(x, y):
        # PyTensor has no bit operation of a boolean and an integer, or of int64 and uint64.
        if x.type.dtype != y.type.dtype:
            x, y = pt.neq(x, 0), pt.neq(y, 0)
        return function(x, y)

    return apply


for name in ("and_", "or_", "xor"):
    exact_bits = lambda item: item.kind in "biu" and item.exact  # noqa: E731
    binary(name, of_one_dtype(getattr(pt, name)), exact_bits)


@step(lambda item: item.kind == "b")
def switch(draw, graph, item):
    yes = _pair(draw, graph, item)
    no = None if yes is None else _pair(draw, graph, yes)
    if no is None or no not in _partners(graph, item):
        return None
    return pt.switch(item.variable, yes.variable, no.variable), yes.exact and no.exact


@step(lambda item: item.kind in "iu" and item.exact and item.dtype != "uint64")
def choose(draw, graph, item):
    # The remainder of an uint64 and an int8 is a float64, which is no index.
    # A list's elements have one type, and the export refuses lengths that only the index knows.
    known = item.variable.type.shape
    same = [i for i in graph.items if i.shape == item.shape and i.variable.type.shape == known]
    other = draw(st.sampled_from(same))
    mode = draw(st.sampled_from(["wrap", "clip"]))
    choices = [other.variable, pt.zeros_like(other.variable), other.variable]
    return pt.choose(item.variable % 5, choices, mode=mode), other.exact


@step(lambda item: item.kind in "biu" and item.exact and has_axes(item))
def unique_slices(draw, graph, item):
    return pt.unique(item.variable, axis=draw(st.integers(0, item.ndim - 1)))


@step(lambda item: item.kind in "iu" and item.within(-1000, 1000))
def power(draw, graph, item):
    return item.variable ** np.float64(draw(st.integers(2, 3)))


@step(lambda item: item.kind == "b" and item.ndim == 0)
def if_else(draw, graph, item):
    yes = draw(st.sampled_from(graph.items))
    same = [i for i in graph.items if i.variable.type == yes.variable.type]
    no = draw(st.sampled_from(same))
    return ifelse(item.variable, yes.variable, no.variable), yes.exact and no.exact


@step(lambda item: item.kind in "buif")
def reduce(draw, graph, item):
    names = ["any", "all"] if item.exact else []
    if is_number(item):
        names += ["sum"]
        names += ["max", "min"] if item.value.size else []
        names += ["prod"] if item.within(-2, 2) and item.value.size < 10 else []
    if not names:
        return None
    axes = draw(st.none() | st.sets(st.integers(0, item.ndim - 1))) if item.ndim else None
    axes = None if not axes else tuple(sorted(axes))
    return getattr(item.variable, draw(st.sampled_from(names)))(axis=axes)


@step(lambda item: item.value.size > 0)
def mean(draw, graph, item):
    return item.variable.mean(), False


@step()
def reshape(draw, graph, item):
    size = item.value.size
    if size == 0:
        return None
    shape, rest = [], size
    for _ in range(draw(st.integers(0, 3))):
        factor = draw(st.sampled_from([f for f in range(1, rest + 1) if rest % f == 0]))
        shape.append(factor)
        rest //= factor
    shape.append(rest)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return item.variable.reshape(shape)


@step(has_axes)
def dimshuffle(draw, graph, item):
    order = draw(st.permutations(range(item.ndim)))
    position = draw(st.integers(0, item.ndim))
    return item.variable.dimshuffle([*order[:position], "x", *order[position:]])


@step(has_axes)
def join(draw, graph, item):
    axis = draw(st.integers(0, item.ndim - 1))

    def fits(other):
        rest = [i for i in range(item.ndim) if i != axis]
        return other.ndim == item.ndim and all(other.shape[i] == item.shape[i] for i in rest)

    other = draw(st.sampled_from([o for o in graph.items if fits(o)]))
    return pt.join(axis, item.variable, other.variable), item.exact and other.exact


@step(lambda item: item.ndim > 0 and item.shape[0] > 1)
def split(draw, graph, item):
    first = draw(st.integers(0, item.shape[0]))
    parts = pt.split(item.variable, [first, item.shape[0] - first], n_splits=2, axis=0)
    return draw(st.sampled_from(parts))


def slices(size):
    # A step must be an int64; Hypothesis draws larger ones too.
    return st.slices(size).map(lambda s: slice(s.start, s.stop, s.step and _near_zero(s.step)))


def _near_zero(step):
    return step if abs(step) < 9 else 1 if step > 0 else -1


@step(has_axes)
def index(draw, graph, item):
    indices = []
    for size in item.shape:
        kinds = [slices(size)]
        if size:
            kinds.append(st.integers(-size, size - 1))
            kinds.append(st.lists(st.integers(-size, size - 1), min_size=1, max_size=3))
        indices.append(draw(st.one_of(kinds)))
    lists = [i for i in indices if isinstance(i, list)]
    if len({len(i) for i in lists}) > 1:
        indices = [i[0] if isinstance(i, list) else i for i in indices]
    return item.variable[tuple(indices)]


@step(has_axes)
def mask(draw, graph, item):
    masks = [
        other
        for other in graph.items
        if other.kind == "b" and other.ndim and other.shape == item.shape[: other.ndim]
    ]
    return item.variable[draw(st.sampled_from(masks)).variable] if masks else None


@step(has_axes)
def write(draw, graph, item):
    axis = draw(st.integers(0, item.ndim - 1))
    where = draw(slices(item.shape[axis]))
    target = item.variable[(slice(None),) * axis + (where,)]
    value = np.asarray(draw(st.integers(0, 3)), dtype=item.dtype)
    if draw(st.booleans()) and is_number(item):
        return pt.inc_subtensor(target, value)
    return pt.set_subtensor(target, value)


@step(lambda item: has_axes(item) and item.kind in "if")
def pad(draw, graph, item):
    widths = [(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in item.shape]
    return pt.pad(item.variable, widths, mode="constant", constant_values=1)


@step(lambda item: has_axes(item) and item.dtype != "uint64")
def repeat(draw, graph, item):
    axis = draw(st.integers(0, item.ndim - 1))
    # PyTensor's rewrites of what is repeated 0 times fail.
    return pt.repeat(item.variable, draw(st.integers(1, 3)), axis=axis)


@step(lambda item: item.ndim in (1, 2) and is_number(item) and item.within(-1000, 1000))
def dot(draw, graph, item):
    others = [
        o
        for o in graph.items
        if o.ndim in (1, 2)
        and is_number(o)
        and o.shape[0] == item.shape[-1]
        and o.within(-1000, 1000)
    ]
    if not others:
        return None
    other = draw(st.sampled_from(others))
    return pt.dot(item.variable, other.variable), item.exact and other.exact


@step(lambda item: item.ndim >= 2 and item.kind == "f")
def batched_matmul(draw, graph, item):
    return item.variable @ item.variable.swapaxes(-1, -2)


@step(lambda item: item.ndim == 0 and item.kind in "iu" and item.within(0, 10))
def arange(draw, graph, item):
    return pt.arange(item.variable)


@step(lambda item: item.ndim == 2 and item.value.size > 0 and item.kind == "f")
def network(draw, graph, item):
    """Convolve and pool the matrix as an image."""
    kernel = pt.constant(np.arange(1, 5, dtype=item.dtype).reshape(1, 1, 2, 2) / 8)
    image = pt.conv2d(item.variable[None, None], kernel, border_mode="half")
    return pt.pool_2d(image, (2, 2), ignore_border=False)[0, 0], item.exact


def variables(dtype, shape, static):
    return pt.tensor(
        dtype=dtype, shape=[n if s else None for n, s in zip(shape, static, strict=True)]
    )


@st.composite
def graphs(draw, max_steps=30, dtypes=DTYPES):
    graph = RandomGraph()
    for number in range(draw(st.integers(1, 3))):
        dtype = draw(st.sampled_from(dtypes))
        shape = draw(st.lists(st.integers(0, 4), max_size=3))
        static = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        low = 0 if dtype.startswith(("u", "b")) else -8
        numbers = st.integers(low, 1 if dtype == "bool" else 8)
        flat = draw(st.lists(numbers, min_size=prod(shape), max_size=prod(shape)))
        value = np.array(flat, dtype=dtype).reshape(shape)
        if dtype in FLOATS:
            value /= 4
        known = [size if s else None for size, s in zip(shape, static, strict=True)]
        variable = pt.tensor(f"x{number}", dtype=dtype, shape=known)
        graph.inputs.append(variable)
        graph.computed[variable] = value
        graph.items.append(Item(variable, value))
    for _ in range(draw(st.integers(1, max_steps))):
        # Recent results more often: deep graphs rather than broad ones.
        item = draw(st.sampled_from(graph.items[-3:]) | st.sampled_from(graph.items))
        names = [name for name, (condition, _, _) in STEPS.items() if condition(item)]
        name = draw(st.sampled_from(names))
        _, build, exact = STEPS[name]
        with np.errstate(all="ignore"):  # PyTensor divides by zero in shapes of no elements
            built = build(draw, graph, item)
        if built is None:
            continue
        variable, exact = built if isinstance(built, tuple) else (built, exact and item.exact)
        graph.steps.append(name)
        graph.add(variable, exact)
    return graph
