"""Values of a random graph, every operation of which is carried out while the graph is drawn."""

from dataclasses import dataclass, field

import numpy as np

from pytensor import function
from pytensor.graph.basic import Constant
from pytensor.graph.op import _NoPythonOp
from pytensor.graph.traversal import toposort
from tests.utils import REFERENCE_MODE

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
DTYPES = ("bool", *INTEGERS, *FLOATS)
MAX_SIZE = 64
LARGE = 1e6


@dataclass(eq=False)  # arrays have no one truth value
class Item:
    variable: object
    value: np.ndarray
    exact: bool = True

    @property
    def dtype(self):
        return self.variable.type.dtype

    @property
    def ndim(self):
        return self.value.ndim

    @property
    def shape(self):
        return self.value.shape

    @property
    def kind(self):
        return self.value.dtype.kind

    def within(self, low, high):
        return bool(((self.value >= low) & (self.value <= high)).all())


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
    inputs: list = field(default_factory=list)
    items: list = field(default_factory=list)
    computed: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)

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
            self.items.append(Item(variable, value, exact))
        return usable
