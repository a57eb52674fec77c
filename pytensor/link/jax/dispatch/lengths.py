"""Lengths and shapes that are computed while JAX traces, where they are still numbers.

thoughts/upstream/jax-arithmetic-of-lengths.md
"""

import warnings

import jax
import numpy as np

from pytensor.compile.maker import function
from pytensor.compile.mode import Mode
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.replace import clone_replace
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.dispatch.shape import JAXShapeTuple
from pytensor.printing import pprint
from pytensor.tensor.known_lengths import KnownLength
from pytensor.tensor.type import TensorType

UNCHECKED = (
    "mode JAX can't check the shape {shape} that a reshape is given: it is known only when the "
    "function runs, so the length that fits is taken. Give -1 for it, or a length that is known "
    "while JAX traces: a number, that of an array, or a scalar input that is used for shapes alone."
)


class LengthsTuple(JAXShapeTuple):
    """The shape for a reshape, from lengths of arrays and scalar inputs.

    JAX would trace the arithmetic, and a traced value can't serve as a shape.  PyTensor's linker
    makes an input that only such nodes read a static argument.  The variable `shape` is computed
    from the variables `lengths`; `static` is what the type of the reshape's output says.
    """

    def __init__(self, lengths, shape, static):
        self.lengths, self.shape, self.static = lengths, shape, static

    def make_node(self, *lengths):
        out = TensorType(self.shape.type.dtype, shape=(len(self.static),))()
        return Apply(self, list(lengths), [out])

    def computed_from(self, *lengths):
        """Return the shape as a graph of other lengths."""
        replace = dict(zip(self.lengths, lengths, strict=True))
        return clone_replace(self.shape, replace)


@jax_funcify.register(KnownLength)
def jax_funcify_KnownLength(op, **kwargs):
    graph = op.fgraph.unfreeze()
    nodes, (out,) = graph.toposort(), graph.outputs

    def known_length(*lengths):
        arrays = [np.asarray(n, v.type.dtype) for v, n in zip(graph.inputs, lengths, strict=True)]
        values = dict(zip(graph.inputs, arrays, strict=True))
        for node in nodes:
            inputs = [v.data if isinstance(v, Constant) else values[v] for v in node.inputs]
            results = [[None] for _ in node.outputs]
            node.op.perform(node, inputs, results)
            values |= {v: cell[0] for v, cell in zip(node.outputs, results, strict=True)}
        return values[out] if out.type.ndim else int(values[out])

    return known_length


@jax_funcify.register(LengthsTuple)
def jax_funcify_LengthsTuple(op, **kwargs):
    lengths = [v.type() for v in op.lengths]  # for shared variables are no inputs
    shape = op.computed_from(*lengths)
    shape = function(lengths, shape, mode=Mode("py", None), on_unused_input="ignore")

    def lengths_tuple(*lengths):
        try:
            values = [
                np.asarray(length, dtype=v.type.dtype)
                for length, v in zip(lengths, op.lengths, strict=True)
            ]
        except jax.errors.TracerArrayConversionError:
            if op.static.count(None) > 1 or (None in op.static and 0 in op.static):
                raise
            warnings.warn(UNCHECKED.format(shape=pprint(op.shape)), stacklevel=2)
            return tuple(-1 if n is None else n for n in op.static)
        return tuple(shape(*values).tolist())

    return lengths_tuple
