"""Choosing among tensors element by element."""

import numpy as np

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.tensor_basic import bring_inside
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.term import concat, where
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
def onnx_funcify_Choose(op, node, index, choices):
    if choices is None:
        raise ConversionError("ONNX chooses from tensors; make the list of them in the graph")
    return choose(op.mode, node, index, choices, choices.ndim)


@onnx_funcify.register(ChooseAmong)
def onnx_funcify_ChooseAmong(op, node, index, *choices):
    variable, *choice_variables = node.inputs
    # thoughts/upstream/choose-from-list-shape.md
    if any(is_larger(choice.type.shape, variable.type.shape) for choice in choice_variables):
        raise ConversionError(
            "PyTensor takes the index's shape for the result's shape, but here the choices in the "
            "list are larger; stack them to one tensor with pt.stack"
        )
    shape = index.sizes()
    stacked = concat([choice.expand(shape).unsqueeze(0) for choice in choices])
    return choose(op.mode, node, index, stacked, index.ndim + 1)


def is_larger(shape, than):
    """Return whether a static shape has axes that another one lacks, or has with size 1."""
    extra = len(shape) - len(than)
    pairs = zip(shape[max(extra, 0) :], than[max(-extra, 0) :], strict=True)
    return extra > 0 or any(b == 1 and a != 1 for a, b in pairs)


def choose(mode, node, index, choices, ndim):
    """Return entries of `choices`, of `ndim` axes, that integers choose along the first axis."""
    missing, end = ndim - 1 - index.ndim, node.outputs[0].type.ndim + 1
    can_be_negative = mode == "raise" and not index.dtype.startswith("u")
    n = choices.size(0)
    index = bring_inside(index.cast("int64"), n, mode)
    if can_be_negative:
        # What is negative is an error too, but GatherElements counts it from the end.
        index = where(index < 0, n, index)
    index = index.unsqueeze(*range(max(missing, 0) + 1))
    if missing < 0:
        choices = choices.unsqueeze(*range(1, 1 - missing))
    # Only the index broadcasts along the choices, which are as many as there are.
    index = index.expand(choices.sizes(1, end))
    choices = choices.expand([1, index.sizes(1, end)])
    return choices.gather_elements(index, axis=0).squeeze(0)
