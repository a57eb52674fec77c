"""The gradient of a symbolic Op as one node."""

from pytensor.gradient import grad
from pytensor.tensor.symbolic import TensorSymbolicOp


class SymbolicPullback(TensorSymbolicOp):
    """Vector-Jacobian product of a one-input, one-output `TensorSymbolicOp`, kept as one node.

    Inputs are the Op's input and the gradient of its output.  The inner graph differentiates the
    Op's inner graph, so that every backend can run it; a backend with a native kernel for the Op
    may differentiate that instead (JAX: `jax.vjp`).
    """

    __props__ = ("op",)

    def build_inner_graph(self, x, cotangent):
        (out,) = self.op.build_inner_graph(x)
        return [grad(None, x, known_grads={out: cotangent})]

    def infer_shape(self, node, shapes):
        return [shapes[0]]
