"""Whole graphs that are drawn with values: 1 to 30 operations over a few inputs.

Every operation is carried out while the graph is drawn, so that the next one can be chosen to fit:
indices within bounds, positive numbers for a logarithm.  Values that went through a function which
rounds are marked inexact, and nothing discontinuous (rounding, comparing, sorting) is done to them:
a difference in the last digit would become a difference in kind.
"""

from dataclasses import dataclass, field
from math import prod

import numpy as np
from hypothesis import strategies as st

import pytensor.tensor as pt
import tests.catalogue.random_graphs.operations_of_shapes  # noqa: F401
from pytensor import function
from pytensor.graph.basic import Constant
from pytensor.graph.op import _NoPythonOp
from pytensor.graph.traversal import toposort
from tests.catalogue.random_graphs.items import Item
from tests.catalogue.random_graphs.operations import OPERATIONS, draw_step
from tests.catalogue.random_graphs.operations_of_values import DTYPES, FLOATS, LARGE
from tests.utils import REFERENCE_MODE

MAX_SIZE = 64


class Drawn:
    """Choices by Hypothesis; the methods are those of `items.Seeded`."""

    def __init__(self, draw):
        self.draw = draw

    def integer(self, low, high):
        return self.draw(st.integers(low, high))

    def choice(self, options, weights=None):
        if weights is not None:
            # the lowest weight of an operation is a half
            counts = [round(2 * weight) for weight in weights]
            options = [o for o, count in zip(options, counts, strict=True) for _ in range(count)]
        return self.draw(st.sampled_from(options))

    def chance(self, probability=0.5):
        return self.draw(st.booleans())

    def sample(self, count, size):
        numbers = st.integers(0, count - 1)
        return tuple(self.draw(st.lists(numbers, min_size=size, max_size=size, unique=True)))

    def permutation(self, count):
        return tuple(self.draw(st.permutations(range(count))))


def perform(node, inputs):
    """Return results of one node, in Python."""
    with np.errstate(all="ignore"):
        if isinstance(node.op, _NoPythonOp):
            # A lazy Op.
            given = {
                variable: value
                for variable, value in zip(node.inputs, inputs, strict=True)
                if not isinstance(variable, Constant)
            }
            return function(list(given), node.outputs, mode=REFERENCE_MODE)(*given.values())
        storage = [[None] for _ in node.outputs]
        node.op.perform(node, inputs, storage)
        return [result for (result,) in storage]


@dataclass
class RandomGraph:
    """A graph with its values.

    Attributes
    ----------
    inputs : list of TensorVariable
    items : list of Item
        The inputs, and the results that are small enough to go on with.
    computed : dict of Variable to numpy.ndarray
        Values of all variables.
    steps : list of Step
    possible : set of str
        Names of operations for which there is a first operand.
    """

    inputs: list = field(default_factory=list)
    items: list = field(default_factory=list)
    computed: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)
    possible: set = field(default_factory=set)

    def __str__(self):
        inputs = [f"v{k} = {x.type}" for k, x in enumerate(self.inputs)]
        return "; ".join([*inputs, *map(str, self.steps)])

    def add(self, variable, exact):
        """Carry out what computes `variable` and keep it, unless it is too large to go on with."""
        for node in toposort([variable], list(self.computed)):
            inputs = [self.computed.get(v, getattr(v, "data", None)) for v in node.inputs]
            self.computed.update(zip(node.outputs, perform(node, inputs), strict=True))
        value = np.asarray(self.computed.get(variable, getattr(variable, "data", None)))
        usable = value.size <= MAX_SIZE and value.ndim <= 4
        if value.dtype.kind == "f":
            usable = usable and np.isfinite(value).all() and (np.abs(value) < LARGE).all()
        if usable:
            self.keep(Item(variable, value, exact))
        return usable

    def keep(self, item):
        self.items.append(item)
        others = OPERATIONS.keys() - self.possible
        self.possible |= {name for name in others if OPERATIONS[name].begins_with(item)}


def add_input(source, graph, dtypes):
    dtype = source.choice(dtypes)
    shape = [source.integer(0, 4) for _ in range(source.integer(0, 3))]
    known = [size if source.chance() else None for size in shape]
    low, high = (0 if dtype.startswith(("u", "b")) else -8), (1 if dtype == "bool" else 8)
    flat = [source.integer(low, high) for _ in range(prod(shape))]
    value = np.array(flat, dtype=dtype).reshape(shape)
    if dtype in FLOATS:
        value /= 4
    variable = pt.tensor(f"x{len(graph.inputs)}", dtype=dtype, shape=known)
    graph.inputs.append(variable)
    graph.computed[variable] = value
    graph.keep(Item(variable, value))


def draw_graph(source, max_steps=30):
    """Draw a graph with its values; half of them have inputs of floating point alone.

    Parameters
    ----------
    source : Drawn or Seeded
    max_steps : int

    Returns
    -------
    RandomGraph
    """
    graph, dtypes = RandomGraph(), source.choice((DTYPES, FLOATS))
    for _ in range(source.integer(1, 3)):
        add_input(source, graph, dtypes)
    for _ in range(source.integer(1, max_steps)):
        names = [name for name in OPERATIONS if name in graph.possible]
        step = draw_step(source, graph.items, names)
        if step is None:
            continue
        with np.errstate(all="ignore"):  # PyTensor divides by zero in shapes of no elements
            variable = step.apply([item.variable for item in graph.items])
        graph.steps.append(step)
        graph.add(variable, step.is_exact(graph.items))
    return graph


@st.composite
def graphs(draw):
    """Draw a graph by Hypothesis."""
    return draw_graph(Drawn(draw))
