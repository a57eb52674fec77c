"""Keep images channels-last between convolutions, for XLA on CPUs.

XLA's CPU code for convolutions and matrix products wants channels last, and transposes every
operand and result where a graph has them second; its reductions over batch and positions are
several times slower too when the channels aren't last.  Graphs stay as users write them: this
rewrite runs for mode JAX on a CPU only, late, and over the whole graph at once.  Each variable of
four axes that a convolution touches gets a version with the channels last, operations between such
variables are repeated on these versions, and transpositions remain where one meets anything else.
"""

from pytensor.graph.basic import Apply
from pytensor.graph.facts import layout
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.link.jax.target import target_platform
from pytensor.tensor.basic import Join, Split
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.type import TensorType

TO_LAST = (0, 2, 3, 1)
TO_FIRST = (0, 3, 1, 2)
# where each axis of the usual order goes
AXIS = {0: 0, 1: 3, 2: 1, 3: 2}


class ChannelsLast(Op):
    """Another Op on images with the channels last.  Only JAX has the code for it.

    `image_inputs` are the numbers of inputs with the channels last; `image_outputs` says whether
    the outputs have them there.
    """

    __props__ = ("op", "image_inputs", "image_outputs", "output_types")

    def __init__(self, op, image_inputs, image_outputs, output_types):
        self.op = op
        self.image_inputs = image_inputs
        self.image_outputs = image_outputs
        self.output_types = output_types

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [type_() for type_ in self.output_types])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError("channels-last Ops are made for mode JAX, and run there only")

    def __str__(self):
        return f"ChannelsLast{{{self.op}}}"


def is_image(op):
    """Return whether outputs of four axes are images."""
    facts = layout(op)
    return facts is None or facts.out


def _last_type(type_):
    return TensorType(type_.dtype, shape=tuple(type_.shape[a] for a in TO_LAST))


class _ChannelsLastVariables:
    """The channels-last versions of a graph's variables, made node by node."""

    def __init__(self):
        self.of = {}
        self.replaced = {}  # other results of converted nodes: statistics, filters' gradients

    def _take(self, variable):
        """Return the version of a variable; a transposition where it has none."""
        return self.of[variable] if variable in self.of else variable.dimshuffle(TO_LAST)

    def _knows(self, variables):
        return any(v in self.of for v in variables)

    def convert(self, node):
        """Return the node's outputs from such versions, channels last where they have 4 axes.

        None where the node isn't one that is converted.
        """
        op, facts = node.op, layout(node.op)
        if facts is not None and facts.by_axes:
            return self._over_axes(node) if self._knows(node.inputs) else None
        if facts is not None and node.inputs[0].type.ndim == 4:
            images = range(len(node.inputs)) if facts.images is None else facts.images
            if facts.gains or self._knows(node.inputs[i] for i in images):
                return self._wrap(node, tuple(images), facts.out)
        if not self._knows(node.inputs):
            return None
        if isinstance(op, Elemwise):
            # every input of a node of 4 axes has 4 axes
            return op.make_node(*map(self._take, node.inputs)).outputs
        if isinstance(op, CAReduce):
            if op.axis is not None and tuple(sorted(op.axis)) != (0, 2, 3):
                return None
            axis = None if op.axis is None else (0, 1, 2)
            return op.clone(axis=axis).make_node(self._take(node.inputs[0])).outputs
        if isinstance(op, Join):
            return Join(AXIS[op.axis]).make_node(*map(self._take, node.inputs)).outputs
        if isinstance(op, Split):
            x, sizes = node.inputs
            return Split(op.len_splits, AXIS[op.axis]).make_node(self._take(x), sizes).outputs
        return None

    def _wrap(self, node, positions, image_outputs):
        inputs = [
            self._take(v) if i in positions else self.replaced.get(v, v)
            for i, v in enumerate(node.inputs)
        ]
        types = [_last_type(v.type) if image_outputs else v.type for v in node.outputs]
        return ChannelsLast(node.op, positions, image_outputs, tuple(types))(
            *inputs, return_list=True
        )

    def _over_axes(self, node):
        # With other axes the parameters' own axes would change their order.
        if node.op.axes != (0, 2, 3) or node.inputs[0].type.ndim != 4:
            return None
        op = node.op.over((0, 1, 2))
        inputs = [
            self._take(v) if v.type.ndim == 4 else self.replaced.get(v, v) for v in node.inputs
        ]
        return op(*inputs, return_list=True)


class ChannelsLastRewriter(GraphRewriter):
    """Convert a whole graph; see the module's docstring."""

    def apply(self, fgraph):
        facts = [layout(node.op) for node in fgraph.apply_nodes]
        if not any(known is not None and known.gains for known in facts):
            return
        if target_platform() != "cpu":
            return
        converted, replacements = _ChannelsLastVariables(), []
        for node in fgraph.toposort():
            outputs = converted.convert(node)
            if outputs is None:
                continue
            copy_stack_trace(node.outputs, outputs)
            for old, new in zip(node.outputs, outputs, strict=True):
                if old.type.ndim == 4 and is_image(node.op):
                    converted.of[old] = new
                    new = new.dimshuffle(TO_FIRST)
                else:
                    # Nodes made later must not bring the old one back.
                    converted.replaced[old] = new
                replacements.append((old, new))
        fgraph.replace_all(
            [(old, new) for old, new in replacements if old in fgraph.variables],
            reason="channels_last",
        )


keep_channels_last = ChannelsLastRewriter()


def undo_channels_last(fgraph):
    """Give the Ops of a rewritten graph their usual form back, between transpositions.

    For readers of compiled graphs.  PyTensor's own rewrites then lift the transpositions through
    elementwise Ops, where they cancel.  Without a `ChannelsLast` the graph is as the user wrote it.
    """
    if not any(isinstance(node.op, ChannelsLast) for node in fgraph.apply_nodes):
        return
    for node in fgraph.toposort():
        op = node.op
        if isinstance(op, ChannelsLast):
            inputs = [
                v.dimshuffle(TO_FIRST) if i in op.image_inputs else v
                for i, v in enumerate(node.inputs)
            ]
            outputs = op.op(*inputs, return_list=True)
        elif (facts := layout(op)) is not None and facts.by_axes and op.axes == (0, 1, 2):
            if node.inputs[0].type.ndim != 4:
                continue
            inputs = [v.dimshuffle(TO_FIRST) if v.type.ndim == 4 else v for v in node.inputs]
            outputs = op.over((0, 2, 3))(*inputs, return_list=True)
        else:
            continue
        moved = op.image_outputs if isinstance(op, ChannelsLast) else True
        outputs = [v.dimshuffle(TO_LAST) if moved and v.type.ndim == 4 else v for v in outputs]
        fgraph.replace_all(list(zip(node.outputs, outputs, strict=True)), reason="undo")
