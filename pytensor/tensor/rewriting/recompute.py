"""Compute normalized images again in the backward pass, instead of keeping them: for mode JAX.

The gradients of a batch normalization and of an activation after it read what the forward pass has
computed on the way: the centred image, and the activation's inner values.  XLA keeps all of them,
each as large as the image.  But they follow from the convolution's output, which is kept in any
case, and from a mean and a variance of each channel, by a few operations that cost less than
reading them from memory.  XLA would notice that both passes compute the same, and compute it once;
so the backward pass gets the statistics through a barrier.
"""

from pytensor.compile import optdb
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.scalar.activations import Activation
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
)
from pytensor.tensor.elemwise import Elemwise


class Barrier(Op):
    """The inputs themselves, which no optimization of XLA sees through."""

    __props__ = ()

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [v.type() for v in inputs])

    def perform(self, node, inputs, output_storage):
        for storage, value in zip(output_storage, inputs, strict=True):
            storage[0] = value.copy()

    def infer_shape(self, node, shapes):
        return shapes


barrier = Barrier()


def _is_activation(node):
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Activation)


def _backward_clients(fgraph, node):
    """Clients of a normalization that belong to its backward pass, as pairs (node, input).

    Those of the normalized image are elementwise operations beside an activation; those of the mean
    and the variance are the normalization's own gradient.
    """
    image, *statistics = node.outputs[:3]
    clients = [(n, i) for n, i in fgraph.clients[image] if isinstance(n.op, Elemwise)]
    of_image = [(n, i) for n, i in clients if not _is_activation(n)]
    if len(of_image) == len(clients):
        of_image = []
    of_statistics = [
        (n, i)
        for v in statistics
        for n, i in fgraph.clients[v]
        if isinstance(n.op, BatchNormalizationTrainGrad)
    ]
    return of_image, of_statistics


class RecomputeNormalized(GraphRewriter):
    """See the module's docstring."""

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if isinstance(node.op, BatchNormalizationTrain):
                self._rewrite(fgraph, node)

    def _rewrite(self, fgraph, node):
        of_image, of_statistics = _backward_clients(fgraph, node)
        # Without its gradient there is nothing to save.
        if not of_statistics:
            return
        x, gamma, beta = node.inputs[:3]
        mean, variance = barrier(*node.outputs[1:3])
        hidden = dict(zip(node.outputs[1:3], (mean, variance), strict=True))
        again = BatchNormalization(axes=node.op.axes, epsilon=node.op.epsilon)(
            x, gamma, beta, mean, variance
        )
        copy_stack_trace(node.outputs[0], again)
        for client, i in of_image:
            fgraph.change_node_input(client, i, again, reason="recompute_normalized")
        for client, i in of_statistics:
            new = hidden[client.inputs[i]]
            fgraph.change_node_input(client, i, new, reason="recompute_normalized")


# Before the channels-last rewrite, which knows these Ops.
optdb.register("jax_recompute_normalized", RecomputeNormalized(), "jax", position=3.4)
