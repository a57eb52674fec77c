"""Random graphs as short programs, from which PyTensor's variables are built.

A graph's number is the seed that it is drawn from, so any of them can be made again alone.  Sizes
have names ("b" is a batch's, "m" and "n" are a matrix's): the shrinker can make one smaller
wherever it stands, leave steps out or change the dtype, and build the graph again.

Numba takes seconds to compile a program, so each is used at several sizes: numbers that follow one
another are graphs of one program.  The first graph of every fourth program has static shapes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product

import numpy as np

import pytensor
import pytensor.tensor as pt

# Where faults of fused products begin is between 16 and 60; odd lengths aren't multiples of any
# vector's.
LENGTHS = (16, 17, 20, 24, 32, 33, 48, 60, 64, 80)
BATCHES = (5, 6, 7, 8)
LARGEST = 60_000  # elements of a result
SIZES = 40  # graphs of one program


@dataclass(frozen=True)
class Step:
    """One operation; operands count the inputs first, then the steps before this one."""

    operation: str
    operands: tuple[int, ...]
    settings: tuple = ()

    def __str__(self):
        arguments = [f"v{k}" for k in self.operands] + [repr(s) for s in self.settings]
        return f"{self.operation}({', '.join(arguments)})"


@dataclass(frozen=True)
class Graph:
    """A program of a few steps, and which of its derivatives are asked for.

    Attributes
    ----------
    number : int
        The seed of the program and of its inputs' values.
    dtype : str
        Of all inputs.
    static : bool
        Whether the inputs' types know their lengths.
    sizes : dict of str to int
    inputs : tuple of tuple of (str or int)
        Shapes; a name is looked up in `sizes`.
    steps : tuple of Step
    order : int
        0 for values only, 1 with gradients, 2 with gradients of the gradients' squares too.
    cost : str
        How a scalar is made of the results before they are differentiated.
    """

    number: int
    dtype: str
    static: bool
    sizes: dict[str, int]
    inputs: tuple[tuple, ...]
    steps: tuple[Step, ...] = ()
    order: int = 0
    cost: str = "sum"

    def shapes(self):
        return [tuple(self.sizes.get(length, length) for length in shape) for shape in self.inputs]

    def known_shapes(self):
        """What the inputs' types know; what is broadcast has to be known."""
        return [
            tuple(length if self.static or length == 1 else None for length in shape)
            for shape in self.shapes()
        ]

    def values(self):
        """The inputs' values: of float32 in either dtype, so that both compute the same."""
        rng = np.random.default_rng([self.number, 1])
        draws = [rng.uniform(-1, 1, shape).astype("float32") for shape in self.shapes()]
        return [np.asarray(draw, self.dtype) for draw in draws]

    def __str__(self):
        lines = [f"graph {self.number}: {self.dtype}, static shapes: {self.static}"]
        for k, (names, shape) in enumerate(zip(self.inputs, self.shapes(), strict=True)):
            lines.append(f"  v{k} = input {shape}  {'x'.join(map(str, names))}")
        for k, step in enumerate(self.steps, start=len(self.inputs)):
            lines.append(f"  v{k} = {step}")
        unused = ", ".join(f"v{k}" for k in self.results())
        if self.order == 0:
            lines.append(f"  results: {unused}")
        else:
            lines.append(f"  results: {unused}, and derivatives 1 to {self.order} ({self.cost})")
        return "\n".join(lines)

    def results(self):
        """Numbers of the steps that no other step takes."""
        taken = {k for step in self.steps for k in step.operands}
        everything = range(len(self.inputs), len(self.inputs) + len(self.steps))
        return [k for k in everything if k not in taken]


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
    """Settings: one of several, of which each is a tuple."""
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
    "gelu": lambda x: pt.gelu(x),
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
    """One axis, two or all of them."""
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


# Indexing
SLICES = {
    "[1:]": lambda x: x[1:],
    "[:-1]": lambda x: x[:-1],
    "[::-1]": lambda x: x[::-1],
    "[::2]": lambda x: x[::2],
    "[..., ::-1]": lambda x: x[..., ::-1],
    "[..., 1:]": lambda x: x[..., 1:],
    "[..., :-2]": lambda x: x[..., :-2],
    "[..., 3::3]": lambda x: x[..., 3::3],
    "[2]": lambda x: x[2],
    "[-1]": lambda x: x[-1],
    "[..., 0]": lambda x: x[..., 0],
    "[[0, 2, 2, 1]]": lambda x: x[np.array([0, 2, 2, 1])],
    "[..., [3, 1, 4, 1, 5]]": lambda x: x[..., np.array([3, 1, 4, 1, 5])],
    "[[0, 1, 1], [2, 0, 3]]": lambda x: x[np.array([0, 1, 1]), np.array([2, 0, 3])],
}
OF_MATRICES = ("[[0, 1, 1], [2, 0, 3]]",)


@operation(
    lambda x: len(x) >= 1 and min(x) > 5,
    lambda rng, shape: (
        str(rng.choice([k for k in SLICES if len(shape) > 1 or k not in OF_MATRICES])),
    ),
    moves=True,
    weight=4,
)
def indexed(x, name):
    return SLICES[name](x)


@operation(
    lambda x, y: len(x) >= 2 and min(x) > 3 and y == x[1:],
    one_of(("set",), ("inc",)),
    arity=2,
    weight=3,
)
def row_changed(x, y, how):
    return x[2].set(y) if how == "set" else x[2].inc(y)


@operation(
    lambda x, y: len(x) >= 2 and min(x) > 3 and y == x[1:],
    one_of(("set",), ("inc",)),
    arity=2,
)
def rows_changed(x, y, how):
    if how == "set":
        return x[np.array([0, 3])].set(y)
    return x[np.array([0, 3, 0])].inc(y)


@operation(lambda x: len(x) >= 1 and min(x) > 3, one_of((0.0,), (1.5,)))
def part_filled(x, value):
    return x[..., 1:-1].set(value)


@operation(lambda x: len(x) >= 2 and x[-1] == x[-2], one_of(("tril",), ("triu",), ("diagonal",)))
def triangle(x, name):
    if name == "diagonal":
        return pt.diagonal(x, axis1=-2, axis2=-1)
    return getattr(pt, name)(x, 1)


# Shapes
@operation(
    lambda x, y: len(x) > 0 and len(x) == len(y) and same(x, y), an_axis, 2, moves=True, weight=2
)
def join(x, y, axis):
    return pt.concatenate([x, y], axis=axis)


@operation(lambda x, y: same(x, y) and len(x) < 4, arity=2, moves=True, weight=1)
def stack(x, y):
    return pt.stack([x, y], axis=0)


@operation(
    at_least(2),
    lambda rng, shape: (tuple(int(k) for k in rng.permutation(len(shape))),),
    moves=True,
    weight=3,
)
def transpose(x, order):
    return pt.transpose(x, order)


@operation(at_least(2), one_of(("first",), ("last",), ("all",)), moves=True, weight=2)
def merged(x, which):
    shape = list(x.shape)
    if which == "first":
        return x.reshape((-1, *shape[2:]), ndim=x.ndim - 1)
    if which == "last":
        return x.reshape((*shape[:-2], -1), ndim=x.ndim - 1)
    return x.flatten()


@operation(lambda x: 1 <= len(x) < 4 and x[-1] % 4 == 0, moves=True)
def parted(x):
    return x.reshape((*list(x.shape)[:-1], 4, -1), ndim=x.ndim + 1)


@operation(at_least(1), one_of((0,), (-1,), (1,)), moves=True, weight=2)
def expanded(x, axis):
    return pt.expand_dims(x, axis)


@operation(at_least(1), an_axis, moves=True)
def rolled(x, axis):
    return pt.roll(x, 2, axis=axis)


@operation(at_least(1), an_axis, moves=True)
def repeated(x, axis):
    return pt.repeat(x, 2, axis=axis)


@operation(lambda x: 1 <= len(x) <= 3, one_of(("constant",), ("edge",), ("reflect",)), weight=0.5)
def padded(x, mode):
    return pt.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 2)], mode=mode)


# Loops
@operation(lambda x: len(x) >= 2, weight=1, shape=lambda x: x)
def recurrence(x):
    return pytensor.scan(
        lambda row, before: pt.tanh(before * 0.5 + row),
        sequences=[x],
        outputs_info=[pt.zeros_like(x[0])],
        return_updates=False,
    )


@operation(
    lambda x, w: len(x) == 3 and len(w) == 2 and x[2] == w[0] == w[1],
    arity=2,
    weight=4,
    shape=lambda x, w: x,
)
def recurrent_network(x, w):
    return pytensor.scan(
        lambda rows, before, w: pt.tanh(before @ w / 4 + rows),
        sequences=[x],
        outputs_info=[pt.zeros_like(x[0])],
        non_sequences=[w],
        return_updates=False,
    )


@operation(lambda x, y: len(x) >= 2 and same(x, y), arity=2, weight=2, shape=lambda x, y: x[:-1])
def mapped(x, y):
    return pytensor.scan(
        lambda a, b: (a * b).sum(axis=-1) + a.mean(), sequences=[x, y], return_updates=False
    )


# Images
def is_image(*shapes):
    x, *filters = shapes
    if len(x) != 4 or min(x[2:]) < 8:
        return False
    return all(len(w) == 4 and w[1] == x[1] and max(w[2:]) <= 5 for w in filters)


@operation(
    is_image,
    one_of(
        ("valid", (1, 1), (1, 1)),
        ("half", (1, 1), (1, 1)),
        ("half", (2, 2), (1, 1)),
        ("full", (1, 1), (1, 1)),
        (((1, 0), (0, 2)), (2, 1), (1, 2)),
    ),
    arity=2,
    weight=20,
)
def conv2d(x, w, border_mode, stride, dilation):
    return pt.conv2d(x, w, border_mode, stride, dilation)


@operation(
    lambda x, w: len(x) == len(w) == 4 and min(x[2:]) >= 8 and w[0] == x[1] and max(w[2:]) <= 5,
    one_of((0, 1), (1, 2)),
    arity=2,
    weight=10,
)
def conv2d_transpose(x, w, border_mode, stride):
    return pt.conv2d_transpose(x, w, border_mode, stride)


@operation(
    lambda x, w: len(x) == len(w) == 3 and w[1] == x[1] and x[2] >= 8 and w[2] <= 5,
    one_of(("valid", 1), ("half", 2)),
    arity=2,
    weight=10,
)
def conv1d(x, w, border_mode, stride):
    return pt.conv1d(x, w, border_mode, stride)


@operation(is_image, one_of(("half",), ("valid",)), exact=True, weight=4)
def max_pool2d(x, border_mode):
    return pt.max_pool2d(x, 3, 2, 1 if border_mode == "half" else 0)


@operation(is_image, one_of((2, 2, 0), (3, 1, 1)), weight=4)
def avg_pool2d(x, window, stride, padding):
    return pt.avg_pool2d(x, window, stride, padding)


@operation(is_image, weight=2)
def lp_pool2d(x):
    return pt.lp_pool2d(x * x + 0.1, 2, 2)


@operation(is_image, one_of(("nearest",), ("linear",)), weight=2)
def resize(x, mode):
    return pt.resize(x, scale=2, mode=mode)


@operation(is_image, weight=4)
def batch_normalization(x):
    scale = pt.ones((x.shape[1],), dtype=x.dtype)
    return pt.batch_normalization_train(x, scale * 2, scale, "spatial")[0]


@operation(lambda x: len(x) >= 2, weight=0.5)
def layer_normalization(x):
    return pt.layer_normalization(x)


COSTS = {
    "sum": lambda r: r.sum(),
    "mean of squares": lambda r: (r * r).mean(),
    "sum of sines": lambda r: pt.sin(r).sum(),
}


@dataclass
class Built:
    """PyTensor's variables of a graph."""

    inputs: list
    values: list = field(default_factory=list)  # of every input and step
    outputs: list = field(default_factory=list)
    names: list = field(default_factory=list)  # of the outputs


def start(graph, dtype=None):
    built = Built([])
    for k, shape in enumerate(graph.known_shapes()):
        built.inputs.append(pt.tensor(f"v{k}", shape=shape, dtype=dtype or graph.dtype))
    built.values = list(built.inputs)
    return built


def apply(step, values):
    """The variable that a step computes."""
    operands = [values[k] for k in step.operands]
    return OPERATIONS[step.operation].build(*operands, *step.settings)


def apply_known(step, values):
    """As `apply`, with a static shape in any case."""
    value, operation = apply(step, values), OPERATIONS[step.operation]
    if operation.shape:
        shape = operation.shape(*(values[k].type.shape for k in step.operands))
        value = pt.specify_shape(value, shape)
    return value


def build(graph, dtype=None):
    """PyTensor's variables of a graph.

    Parameters
    ----------
    graph : Graph
    dtype : str, optional
        Instead of the graph's own.

    Returns
    -------
    Built
    """
    with pytensor.config.change_flags(floatX=dtype or graph.dtype):
        built = start(graph, dtype)
        for step in graph.steps:
            built.values.append(apply(step, built.values))
        built.names = [f"v{k}" for k in graph.results()]
        outputs = [built.values[k] for k in graph.results()]
        costs = [COSTS[graph.cost](output) for output in outputs]
        for order in range(1, graph.order + 1):
            gradients = pt.grad(
                sum(costs), built.inputs, disconnected_inputs="ignore", return_disconnected="zero"
            )
            outputs += gradients
            built.names += [f"derivative {order} by v{k}" for k in range(len(gradients))]
            costs = [(gradient * gradient).sum() for gradient in gradients]
        # Mode JAX forgets the dtype of a scalar that is constant, as a gradient of zero is: see
        # thoughts/upstream/jax-scalar-constant-dtype.md
        built.outputs = [pt.expand_dims(o, 0) if o.type.ndim == 0 else o for o in outputs]
    return built


# What inputs look like. Filters have lengths of their own, which the shrinker leaves.
MATRICES = (
    ("b", "n", "n"), ("b", "m", "n"), ("b", "n", "m"), ("n", "n"), ("m", "n"), ("n",), ("b",), (),
    ("b", "n"), ("b", 1, "n"),
)  # fmt: skip
IMAGES = (("b", "c", "h", "w"),)
FILTERS = (("o", "c", 3, 3), ("c", "o", 3, 2), ("c", "c", 1, 1), ("c",), ())


def draw_sizes(rng):
    m, n, h, w = (int(k) for k in rng.choice(LENGTHS, 4, replace=False))
    return {
        "b": int(rng.choice(BATCHES)),
        "m": m,
        "n": n,
        "h": min(h, 20 + h % 5),
        "w": min(w, 20 + w % 5),
        "c": int(rng.integers(2, 5)),
        "o": int(rng.integers(2, 5)),
    }


def of_inputs(sizes, inputs):
    """The sizes that inputs have."""
    return {name: length for name, length in sizes.items() if any(name in i for i in inputs)}


def draw_inputs(rng):
    if rng.random() < 0.12:
        others = rng.choice(len(FILTERS), int(rng.integers(1, 3)), replace=False)
        return (*IMAGES, *(FILTERS[k] for k in others))
    count = int(rng.integers(1, 4))
    first = MATRICES[rng.integers(3)]
    return (first, *(MATRICES[k] for k in rng.integers(len(MATRICES), size=count)))


def candidates(operation, shapes, exact):
    """Operands that an operation can take, as tuples of numbers."""
    allowed = [k for k in range(len(shapes)) if exact[k] or not operation.exact]
    return [
        chosen
        for chosen in product(allowed, repeat=operation.arity)
        if operation.fits(*(shapes[k] for k in chosen))
    ]


def draw_step(rng, shapes, exact, unused):
    """A step that fits what there is, or None if the operation drawn fits nothing."""
    names = list(OPERATIONS)
    weights = np.array([OPERATIONS[name].weight for name in names])
    name = str(rng.choice(names, p=weights / weights.sum()))
    operation = OPERATIONS[name]
    found = candidates(operation, shapes, exact)
    if not found:
        return None
    # what nothing has taken yet, and what was computed last, are taken more often
    liking = [1 + sum(10 * (k in unused) + (k >= len(shapes) - 2) for k in set(c)) for c in found]
    chosen = found[rng.choice(len(found), p=np.array(liking) / sum(liking))]
    return Step(name, chosen, operation.settings(rng, *(shapes[k] for k in chosen)))


@cache
def random_program(seed):
    """A graph of the given seed's program, at the sizes that it was drawn at."""
    rng = np.random.default_rng([seed, 2])
    sizes, inputs = draw_sizes(rng), draw_inputs(rng)
    sizes = of_inputs(sizes, inputs)
    dtype = "float32" if rng.random() < 0.6 else "float64"
    wanted, steps = int(rng.integers(2, 6)), []
    graph = Graph(seed, dtype, True, sizes, inputs)
    values = start(graph).values
    exact = [True] * len(inputs)
    with pytensor.config.change_flags(floatX=dtype):
        while len(steps) < wanted:
            shapes = [tuple(value.type.shape) for value in values]
            taken = {k for step in steps for k in step.operands}
            step = draw_step(rng, shapes, exact, set(range(len(values))) - taken)
            if step is None:
                continue
            value = apply_known(step, values)
            if not is_small(value):
                continue
            steps.append(step)
            values.append(value)
            exact.append(OPERATIONS[step.operation].moves and all(exact[k] for k in step.operands))
    order, cost = int(rng.choice(3, p=[0.5, 0.38, 0.12])), str(rng.choice(list(COSTS)))
    return replace(graph, steps=tuple(steps), order=order, cost=cost)


def is_small(value):
    shape = value.type.shape
    return None not in shape and len(shape) <= 4 and np.prod(shape) <= LARGEST


def fits(graph):
    """Whether a graph's steps can be taken at its sizes."""
    shapes = graph.shapes()
    known = replace(graph, static=True)
    values = start(known).values
    with pytensor.config.change_flags(floatX=graph.dtype):
        for step in graph.steps:
            operation = OPERATIONS[step.operation]
            if not operation.fits(*(shapes[k] for k in step.operands)):
                return False
            try:
                values.append(apply_known(step, values))
            except (IndexError, TypeError, ValueError):  # its settings don't fit
                return False
            shapes.append(tuple(values[-1].type.shape))
            if not is_small(values[-1]):
                return False
    return True


def random_graph(number):
    """The graph of a number.

    Parameters
    ----------
    number : int
        ``SIZES`` numbers that follow one another are graphs of one program.

    Returns
    -------
    Graph
    """
    seed, which = divmod(number, SIZES)
    program = replace(random_program(seed), number=number, static=which == 0 and seed % 4 == 0)
    rng = np.random.default_rng([number, 3])
    for _ in range(20):
        graph = replace(program, sizes=of_inputs(draw_sizes(rng), program.inputs))
        if fits(graph):
            return graph
    # A step that fits by chance, as where two lengths were equal, keeps a program at its sizes.
    return program
