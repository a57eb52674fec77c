"""Choosing among tensors element by element."""

import numpy as np

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.dispatch.tensor_basic import bring_inside
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.sizes import size
from pytensor.tensor.basic import Choose


class ChooseAmong(Op):
    """`Choose` from several tensors, which takes a typed list of them, that ONNX doesn't have."""

    __props__ = ("mode", "output_type")

    def __init__(self, mode, output_type):
        self.mode = mode
        self.output_type = output_type

    def make_node(self, index, *choices):
        return Apply(self, [index, *choices], [self.output_type()])

    def perform(self, node, inputs, output_storage):
        index, *choices = inputs
        output_storage[0][0] = np.choose(index, choices, mode=self.mode)


@onnx_funcify.register(Choose)
def onnx_funcify_Choose(op, node, builder, index, choices):
    ndim = getattr(node.inputs[1].type, "ndim", None)
    if ndim is None:
        raise ConversionError("ONNX chooses from tensors; make the list of them in the graph")
    return choose(builder, op.mode, node, index, choices, ndim)


@onnx_funcify.register(ChooseAmong)
def onnx_funcify_ChooseAmong(op, node, builder, index, *choices):
    variable, *choice_variables = node.inputs
    # thoughts/upstream/choose-from-list-shape.md
    if any(is_larger(choice.type.shape, variable.type.shape) for choice in choice_variables):
        raise ConversionError(
            "PyTensor takes the index's shape for that of what is chosen from a list, but here the "
            "choices are larger; stack them to one tensor with pt.stack"
        )
    shape, first = builder.add("Shape", index), builder.int64s([0])
    rows = [builder.add("Unsqueeze", builder.add("Expand", c, shape), first) for c in choices]
    stacked = builder.add("Concat", *rows, axis=0)
    return choose(builder, op.mode, node, index, stacked, variable.type.ndim + 1)


def is_larger(shape, than):
    """Return whether a static shape has axes that another one lacks, or has with size 1."""
    extra = len(shape) - len(than)
    pairs = zip(shape[max(extra, 0) :], than[max(-extra, 0) :], strict=True)
    return extra > 0 or any(b == 1 and a != 1 for a, b in pairs)


def choose(builder, mode, node, index, choices, ndim):
    """Return entries of `choices`, of `ndim` axes, that integers choose along the first axis."""
    variable = node.inputs[0]
    index = builder.cast(index, variable.type.dtype, "int64")
    n = size(builder, choices, 0)
    index = bring_inside(builder, index, n, mode)
    if mode == "raise" and not variable.type.dtype.startswith("u"):
        # What is negative is an error too, but GatherElements counts it from the end.
        negative = builder.add("Less", index, builder.constant(0, "int64"))
        index = where(builder, "int64", negative, n, index)
    missing = ndim - 1 - variable.type.ndim
    index = builder.add("Unsqueeze", index, builder.int64s(range(max(missing, 0) + 1)))
    if missing < 0:
        choices = builder.add("Unsqueeze", choices, builder.int64s(range(1, 1 - missing)))
    # Only the index broadcasts along the choices, which are as many as there are.
    entries = builder.add("Shape", choices, start=1, end=node.outputs[0].type.ndim + 1)
    index = builder.add("Expand", index, entries)
    inner = builder.add("Shape", index, start=1, end=node.outputs[0].type.ndim + 1)
    choices = builder.add(
        "Expand", choices, builder.add("Concat", builder.int64s([1]), inner, axis=0)
    )
    return builder.add(
        "Squeeze", builder.add("GatherElements", choices, index, axis=0), builder.int64s([0])
    )
