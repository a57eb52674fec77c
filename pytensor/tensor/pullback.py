"""Gradients of a symbolic Op as one node."""

from pytensor.gradient import DisconnectedType, disconnected_type, grad
from pytensor.graph.facts import Layout, layout, precision
from pytensor.graph.rewriting.basic import copy_stack_trace, node_rewriter
from pytensor.tensor.basic import cast
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    own_batch_axes,
    shifted,
    written_out,
)
from pytensor.tensor.rewriting.basic import register_canonicalize, register_specialize
from pytensor.tensor.symbolic import TensorSymbolicOp


class GradientsOp(TensorSymbolicOp):
    """Gradients for several inputs as one node, which needn't compute all of them.

    The property `wanted` holds the positions of those that are its outputs; None stands for all.
    `local_drop_unread_gradients` drops those that nobody reads.
    """

    wanted = None

    def gradients(self, *inputs):
        """Return the gradients for all inputs."""
        raise NotImplementedError

    def build_inner_graph(self, *inputs, **of_backend):
        return self.select(self.gradients(*inputs, **of_backend))

    def select(self, of_all):
        """Return the entries that belong to this Op's outputs."""
        return list(of_all) if self.wanted is None else [of_all[i] for i in self.wanted]

    def only(self, positions):
        """Return the Op with only the outputs at these positions."""
        everything = range(len(self.output_types)) if self.wanted is None else self.wanted
        props = {name: getattr(self, name) for name in self.__props__}
        return type(self)(**props | {"wanted": tuple(everything[i] for i in positions)})

    def pullback(self, inputs, outputs, cotangents):
        return pullback_as_node(self, inputs, cotangents)


@register_canonicalize
@register_specialize
@node_rewriter([GradientsOp])
def local_drop_unread_gradients(fgraph, node):
    """Compute only those gradients that something reads.

    Nobody reads the gradient for the input of a network's first layer, or for parameters that
    aren't trained.
    """
    read = [i for i, out in enumerate(node.outputs) if fgraph.clients[out]]
    if len(read) == len(node.outputs):
        return None
    outputs = node.op.only(read)(*node.inputs, return_list=True)
    replaced = [node.outputs[i] for i in read]
    copy_stack_trace(replaced, outputs)
    return dict(zip(replaced, outputs, strict=True))


class SymbolicPullback(GradientsOp):
    """Gradients for the inputs of a symbolic Op, from its inputs and the gradients of its outputs.

    PyTensor's own node for such gradients carries checks of shapes that JAX can't evaluate; this
    one doesn't.  `connected` holds the positions of the outputs that have a gradient.  The inner
    graph differentiates the Op's inner graph, so that every backend can run it; a backend with a
    native kernel for the Op's gradient may call that instead.

    An Op of one input that is linear, or linear in pieces, may have two methods.
    ``derivative(x, tangent)`` returns the change of its output by a change of its input, which is
    also the pullback of its gradient.  ``gradient(x, cotangent)`` builds the graph of its gradient,
    where that is better than the derivative of its inner graph.
    """

    __props__ = ("op", "connected", "wanted")
    connected = (0,)

    def gradients(self, *inputs, **of_backend):
        if hasattr(self.op, "gradient"):
            return [self.op.gradient(*inputs, **of_backend)]
        return self.gradients_through(self.op.build_inner_graph, inputs)

    def gradients_through(self, build, inputs):
        """Return the gradients for all inputs; `build` makes the Op's outputs of its inputs."""
        inputs, cotangents = self.split(inputs)
        # Copies, because an output may be an input or computed from another one: a gradient that
        # is known stands for all that flows into a variable
        outputs = [out.copy() for out in build(*inputs)]
        known = {outputs[i]: c for i, c in zip(self.connected, cotangents, strict=True)}
        gradients = grad(None, list(inputs), known_grads=known, disconnected_inputs="ignore")
        # The gradient of a cast keeps the wider dtype
        return [cast(g, v.type.dtype) for g, v in zip(gradients, inputs, strict=True)]

    def split(self, inputs):
        """Return the Op's inputs, and the gradients of its outputs."""
        n = len(inputs) - len(self.connected)
        return inputs[:n], inputs[n:]

    def infer_shape(self, node, shapes):
        return self.select(self.split(shapes)[0])

    def connection_pattern(self, node):
        if hasattr(self.op, "derivative"):
            # Where the gradient doesn't change with the input, its derivative is zero, not missing
            return [[True], [True]]
        return super().connection_pattern(node)

    def pullback(self, inputs, outputs, cotangents):
        cotangent, *others = cotangents
        if others or not hasattr(self.op, "derivative"):
            return super().pullback(inputs, outputs, cotangents)
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        x, _ = inputs
        return [x.zeros_like(), self.op.derivative(x, cotangent)]


@shifted.register(SymbolicPullback)
def _(op, n):
    inner = shifted(op.op, n)
    return inner and SymbolicPullback(op=inner, connected=op.connected, wanted=op.wanted)


@written_out.register(SymbolicPullback)
def _(op, *inputs):
    return op.select(op.gradients_through(lambda *own: written_out(op.op, *own), inputs))


batch_rule(SymbolicPullback)(leading_batch)
own_batch_axes.register(SymbolicPullback, lambda op, ndim: own_batch_axes(op.op, ndim))


@layout.register(SymbolicPullback)
def _(op):
    return Layout() if layout(op.op) == Layout() else None


@precision.register(SymbolicPullback)
def _(op):
    of_op = precision(op.op)
    return {"view": "cheap", "cheap": "cheap", "normalization": of_op}.get(of_op, "single")


def pullback_as_node(op, inputs, cotangents):
    """Return the gradients for the inputs of a symbolic Op, as outputs of one node."""
    connected = [i for i, c in enumerate(cotangents) if not isinstance(c.type, DisconnectedType)]
    # Where no gradient flows the node would compute zeros
    pattern = op.connection_pattern(None)
    wanted = [n for n, row in enumerate(pattern) if any(row[i] for i in connected)]
    results = [disconnected_type() for _ in inputs]
    if wanted:
        backward = SymbolicPullback(op=op, connected=tuple(connected), wanted=tuple(wanted))
        gradients = backward(*inputs, *(cotangents[i] for i in connected), return_list=True)
        for n, gradient in zip(wanted, gradients, strict=True):
            results[n] = gradient
    return results
