"""Random graphs as short programs, from which PyTensor's variables are built.

A graph's number is the seed that it is drawn from, so any of them can be made again alone.  Sizes
have names ("b" is a batch's, "m" and "n" are a matrix's): the shrinker can make one smaller
wherever it stands, leave steps out or change the dtype, and build the graph again.

Numba takes seconds to compile a program, so each is used at several sizes: numbers that follow one
another are graphs of one program.  The first graph of every fourth program has static shapes.
"""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

import pytensor
import pytensor.tensor as pt
import tests.catalogue.random_graphs.operations_of_shapes  # noqa: F401
from tests.catalogue.random_graphs.items import Item, Seeded
from tests.catalogue.random_graphs.operations import OPERATIONS, Step, draw_step

# Where faults of fused products begin is between 16 and 60; odd lengths aren't multiples of any
# vector's.
LENGTHS = (16, 17, 20, 24, 32, 33, 48, 60, 64, 80)
BATCHES = (5, 6, 7, 8)
LARGEST = 60_000  # elements of a result
SIZES = 40  # graphs of one program
PUBLISHED = 10_000 // SIZES  # programs


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
        """Return what the inputs' types know; what is broadcast has to be known."""
        return [
            tuple(length if self.static or length == 1 else None for length in shape)
            for shape in self.shapes()
        ]

    def values(self):
        """Return the inputs' values: of float32 in either dtype, so that both compute the same."""
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
        """Return the numbers of the steps that no other step takes."""
        taken = {k for step in self.steps for k in step.operands}
        everything = range(len(self.inputs), len(self.inputs) + len(self.steps))
        return [k for k in everything if k not in taken]


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


def apply_known(step, values):
    """Return what a step computes, with a static shape in any case."""
    value, operation = step.apply(values), OPERATIONS[step.operation]
    if operation.shape:
        shape = operation.shape(*(values[k].type.shape for k in step.operands))
        value = pt.specify_shape(value, shape)
    return value


def build(graph, dtype=None):
    """Return PyTensor's variables of a graph.

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
            built.values.append(step.apply(built.values))
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
    """Return the sizes that inputs have."""
    return {name: length for name, length in sizes.items() if any(name in i for i in inputs)}


def draw_inputs(rng):
    if rng.random() < 0.12:
        others = rng.choice(len(FILTERS), int(rng.integers(1, 3)), replace=False)
        return (*IMAGES, *(FILTERS[k] for k in others))
    count = int(rng.integers(1, 4))
    first = MATRICES[rng.integers(3)]
    return (first, *(MATRICES[k] for k in rng.integers(len(MATRICES), size=count)))


def names_of(seed):
    """Return the names of the operations that a program can have.

    Numbers below 10,000 are the graphs of `docs/wrong_numbers_from_xla.md`; programs after
    them have the catalogue's operators, too.
    """
    left_out = () if seed >= PUBLISHED else ("catalogued",)
    return [n for n, operation in OPERATIONS.items() if not (operation.of_values or n in left_out)]


@cache
def random_program(seed):
    """Draw a graph of the given seed's program, at the sizes that it was drawn at."""
    rng = np.random.default_rng([seed, 2])
    sizes, inputs = draw_sizes(rng), draw_inputs(rng)
    sizes = of_inputs(sizes, inputs)
    dtype = "float32" if rng.random() < 0.6 else "float64"
    wanted, steps, source = int(rng.integers(2, 6)), [], Seeded(rng)
    graph = Graph(seed, dtype, True, sizes, inputs)
    items = [Item(variable) for variable in start(graph).values]
    with pytensor.config.change_flags(floatX=dtype):
        while len(steps) < wanted:
            taken = {k for step in steps for k in step.operands}
            step = draw_step(source, items, names_of(seed), set(range(len(items))) - taken)
            if step is None:
                continue
            value = apply_known(step, [item.variable for item in items])
            if not is_small(value):
                continue
            steps.append(step)
            items.append(Item(value, exact=step.is_exact(items)))
    order, cost = int(rng.choice(3, p=[0.5, 0.38, 0.12])), str(rng.choice(list(COSTS)))
    return replace(graph, steps=tuple(steps), order=order, cost=cost)


def is_small(value):
    shape = value.type.shape
    return None not in shape and len(shape) <= 4 and np.prod(shape) <= LARGEST


def fits(graph):
    """Return whether a graph's steps can be taken at its sizes."""
    known = replace(graph, static=True)
    values = start(known).values
    with pytensor.config.change_flags(floatX=graph.dtype):
        for step in graph.steps:
            operation = OPERATIONS[step.operation]
            if not operation.fits(*(Item(values[k]) for k in step.operands)):
                return False
            try:
                values.append(apply_known(step, values))
            except (IndexError, TypeError, ValueError):  # its settings don't fit
                return False
            if not is_small(values[-1]):
                return False
    return True


def random_graph(number):
    """Return the graph of a number.

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
