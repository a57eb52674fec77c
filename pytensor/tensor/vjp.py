"""The gradient of a symbolic Op as one node."""

from pytensor.gradient import DisconnectedType, disconnected_type, grad
from pytensor.graph.facts import Layout, layout, precision
from pytensor.tensor.basic import cast
from pytensor.tensor.batching import batch_rule, leading_batch, own_batch_axes, shifted
from pytensor.tensor.symbolic import TensorSymbolicOp


class SymbolicPullback(TensorSymbolicOp):
    """Vector-Jacobian product of a `TensorSymbolicOp`, kept as one node.

    Inputs are the Op's input and the gradient of its output; the output is the gradient of the
    input.  The inner graph differentiates the Op's inner graph, so that every backend can run it;
    a backend with a native kernel for the Op may differentiate that instead.

    Where the Op is linear, or linear in pieces, its method ``derivative(x, tangent)`` gives the
    change of the output by a change of the input: that is the pullback of the gradient.  Of other
    Ops the gradient's gradient is a `SymbolicPullback` again, of an Op of two inputs.
    """

    __props__ = ("op",)

    @property
    def n_inputs(self):
        """How many of the inputs are the Op's; the others are gradients of its outputs."""
        if isinstance(self.op, SymbolicPullback):
            return self.op.n_inputs + self.op.n_cotangents
        return 1

    @property
    def n_cotangents(self):
        return self.op.n_inputs if isinstance(self.op, SymbolicPullback) else 1

    def build_inner_graph(self, *inputs):
        arguments, cotangents = list(inputs[: self.n_inputs]), inputs[self.n_inputs :]
        outputs = self.op.build_inner_graph(*arguments)
        gradients = grad(
            None,
            arguments,
            known_grads=dict(zip(outputs, cotangents, strict=True)),
            disconnected_inputs="ignore",
        )
        # That of a cast keeps the wider dtype.
        return [cast(g, v.type.dtype) for g, v in zip(gradients, arguments, strict=True)]

    def infer_shape(self, node, shapes):
        return shapes[: self.n_inputs]

    def connection_pattern(self, node):
        return [[True] * len(node.outputs) for _ in node.inputs]

    def pullback(self, inputs, outputs, cotangents):
        if all(isinstance(c.type, DisconnectedType) for c in cotangents):
            return [disconnected_type() for _ in inputs]
        if hasattr(self.op, "derivative"):
            x, _ = inputs
            return [x.zeros_like(), self.op.derivative(x, cotangents[0])]
        cotangents = [
            out.zeros_like() if isinstance(c.type, DisconnectedType) else c
            for c, out in zip(cotangents, outputs, strict=True)
        ]
        return SymbolicPullback(op=self)(*inputs, *cotangents, return_list=True)


@shifted.register(SymbolicPullback)
def _(op, n):
    inner = shifted(op.op, n)
    return inner and SymbolicPullback(op=inner)


batch_rule(SymbolicPullback)(leading_batch)
own_batch_axes.register(SymbolicPullback, lambda op, ndim: own_batch_axes(op.op, ndim))
layout.register(SymbolicPullback, lambda op: Layout())


@precision.register(SymbolicPullback)
def _(op):
    return "cheap" if precision(op.op) in ("view", "cheap") else "single"
