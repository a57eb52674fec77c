"""Compute normalized images again in the backward pass, instead of keeping them: for mode JAX.

The gradients of a batch normalization and of an activation after it read what the forward pass has
computed on the way: the centred image, and the activation's inner values.  XLA keeps all of them,
each as large as the image.  But they follow from the convolution's output, which is kept in any
case, and from a mean and a variance of each channel, by a few operations that cost less than
reading them from memory.  XLA would notice that both passes compute the same, and compute it once;
so the backward pass gets the statistics through a barrier.

For a GPU the passes over images decide.  There a normalization is taken apart, such that XLA reads
a convolution's output once for the statistics, once for the normalized activation, once for the
sums of the gradient, and once for the gradient of the image.
"""

import numpy as np

from pytensor.graph.basic import Apply, Constant
from pytensor.graph.facts import precision
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.link.jax.target import shares_statistics, sharing_devices, target_platform
from pytensor.scalar.activations import Activation
from pytensor.tensor.basic import Split, constant
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
    _OverAxes,
)
from pytensor.tensor.conv.ops import ConvGradFilters
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import mul, sigmoid
from pytensor.tensor.moments import at_least_one, count, expand, inverse_std, moments, total
from pytensor.tensor.nn import silu
from pytensor.tensor.symbolic import TensorSymbolicOp


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


class Moments(_OverAxes, TensorSymbolicOp):
    """The mean, the biased variance, and gamma over the standard deviation: for JAX in one pass.

    Inputs are the image, gamma, and optionally a number near the mean for each channel.  JAX takes
    the variance from sums of differences to that number, or else to one of the channel's elements:
    the mean of their squares less the square of their mean.  The relative error of the variance is
    that of a sum in this dtype times ``1 + d ** 2``, where the number lies d standard deviations
    from the mean.
    """

    def build_inner_graph(self, x, gamma, *near):
        mean, _, variance = moments(x, self.axes, count(x, self.axes))
        return [mean, variance, gamma * inverse_std(variance, self.epsilon)]


class Scaled(_OverAxes, TensorSymbolicOp):
    """The normalized image, from what `Moments` returns."""

    def build_inner_graph(self, x, mean, scale, beta):
        mean, scale, beta = (expand(v, self.axes, x.type.ndim) for v in (mean, scale, beta))
        return [(x - mean) * scale + beta]


class GradientSums(_OverAxes, TensorSymbolicOp):
    """The gradients for gamma and beta, and what the image's needs of them: for JAX in one pass."""

    def build_inner_graph(self, x, mean, variance, cotangent):
        axes, ndim = self.axes, x.type.ndim
        inverse, divisor = inverse_std(variance, self.epsilon), at_least_one(count(x, axes))
        g_gamma = total(cotangent * (x - expand(mean, axes, ndim)), axes) * inverse
        g_beta = total(cotangent, axes)
        return [g_gamma, g_beta, inverse * g_gamma / divisor, g_beta / divisor]


class ImageGradient(_OverAxes, TensorSymbolicOp):
    """The gradient for x, from what `Moments` and `GradientSums` return."""

    def build_inner_graph(self, x, mean, scale, cotangent, *sums):
        channel = (expand(v, self.axes, x.type.ndim) for v in (mean, scale, *sums))
        mean, scale, slope, offset = channel
        return [scale * (cotangent - offset - (x - mean) * slope)]


class NormalizedSiLU(BatchNormalization):
    """SiLU of the normalized image; `pytensor.link.jax.kernels.normalization` makes it."""

    def build_inner_graph(self, *inputs):
        return [silu(super().build_inner_graph(*inputs)[0])]


class SiLUNormalizationGrad(BatchNormalizationTrainGrad):
    """The gradients for x, gamma and beta from that of `NormalizedSiLU`; made there too."""

    def gradients(self, x, gamma, beta, mean, variance, cotangent):
        normalize = BatchNormalization(axes=self.axes, epsilon=self.epsilon)
        cotangent = cotangent * mul(*silu_slope(normalize(x, gamma, beta, mean, variance)))
        return super().gradients(x, gamma, mean, variance, cotangent)


def silu_slope(x):
    """Return the factors of SiLU's derivative, as its gradient has them."""
    one, s = np.ones((1,) * x.type.ndim, dtype=x.type.dtype), sigmoid(x)
    return s, one + x * (one - s)


barrier = Barrier()
precision.register(Barrier, lambda op: "view")
REASON = "recompute_normalized"


def _is_activation(node):
    return isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Activation)


def _backward_clients(fgraph, node):
    """Return a normalization's clients in its backward pass, as pairs (node, input).

    Clients of the normalized image are elementwise operations next to an activation; clients of the
    mean and the variance are the normalization's own gradient, without which there are none.
    """
    image, *statistics = node.outputs[:3]
    of_image = [(n, i) for n, i in fgraph.clients[image] if isinstance(n.op, Elemwise)]
    backward = [(n, i) for n, i in of_image if not _is_activation(n)]
    if len(of_image) == len(backward):
        backward = []
    of_statistics = [
        (n, i)
        for v in statistics
        for n, i in fgraph.clients[v]
        if isinstance(n.op, BatchNormalizationTrainGrad)
    ]
    return backward + of_statistics if of_statistics else []


class RecomputeNormalized(GraphRewriter):
    """See the module's docstring."""

    def apply(self, fgraph):
        layers = [n for n in fgraph.toposort() if isinstance(n.op, BatchNormalizationTrain)]
        if not layers:
            return
        shared = shares_statistics()
        in_passes = target_platform() != "cpu" or shared
        for node in layers:
            if shared and not _can_share(fgraph, node):
                continue
            # float16 stays whole: its sums are float32, but not as outputs of a node.
            if in_passes and node.inputs[0].type.dtype != "float16":
                _split_passes(fgraph, node)
            elif backward := _backward_clients(fgraph, node):
                hidden = barrier(*node.outputs[1:3])
                infer = BatchNormalization(axes=node.op.axes, epsilon=node.op.epsilon)
                _compute_again(fgraph, node, backward, infer(*node.inputs[:3], *hidden), hidden)
        if in_passes:
            _fuse_split_parts(fgraph)


def _can_share(fgraph, node):
    """Return whether devices can share the statistics of a normalization.

    They can where these serve only its image and running statistics, and have no gradients of
    their own.  `pytensor.link.jax.parallel.sharding.check_results` refuses what stays.
    """
    return node.inputs[0].type.dtype != "float16" and all(
        isinstance(n.op, BatchNormalizationTrainGrad)
        for v in node.outputs[1:3]
        for n, _ in fgraph.clients[v]
    )


def _compute_again(fgraph, node, backward, again, hidden):
    """Let the backward pass read another image, and statistics behind a barrier."""
    copy_stack_trace(node.outputs[0], again)
    new = dict(zip(node.outputs, (again, *hidden), strict=False))
    for client, i in backward:
        fgraph.change_node_input(client, i, new[client.inputs[i]], reason=REASON)


def _split_passes(fgraph, node):
    """Give each pass over images a node of its own, forward and backward."""
    op, (x, gamma, beta, *running) = node.op, node.inputs
    options = {"axes": op.axes, "epsilon": op.epsilon}
    mean, variance, scale = Moments(**options)(x, gamma, *running[: op.running_mean])
    if backward := _backward_clients(fgraph, node):
        hidden = barrier(mean, variance, scale)
        again = Scaled(**options)(x, hidden[0], hidden[2], beta)
        _compute_again(fgraph, node, backward, again, hidden[:2])
        for gradient in dict.fromkeys(n for n, _ in backward):
            if isinstance(gradient.op, BatchNormalizationTrainGrad):
                _differentiate_in_passes(fgraph, node, gradient, again, hidden[2])
    new = op.new_running(_number_of_all(x, op.axes), mean, variance, *running)
    replace_outputs(fgraph, node, [Scaled(**options)(x, mean, scale, beta), mean, variance, *new])


def _number_of_all(x, axes):
    """Count the elements that statistics are over, on all devices."""
    number = count(x, axes)
    if not shares_statistics():
        return number
    devices = np.asarray(sharing_devices(), dtype=number.type.dtype)
    return constant(number.data * devices) if isinstance(number, Constant) else number * devices


def _differentiate_in_passes(fgraph, node, gradient, again, scale):
    """Replace a normalization's gradient: sums over images, then the image.

    The activation's gradient belongs to both.  It is computed in each, from what is in memory in
    any case, or else it would be written and read as an image of its own.
    """
    x, gamma, mean, variance, cotangent = gradient.inputs
    options = {"axes": node.op.axes, "epsilon": node.op.epsilon}
    sums = GradientSums(**options)(x, mean, variance, cotangent)
    mean, scale, *means = barrier(mean, scale, *sums[2:])
    image = Scaled(**options)(x, mean, scale, node.inputs[2])
    cotangent = _repeated(cotangent, {again: image})
    _recompute_activation(fgraph, node, image)
    g_x = ImageGradient(**options)(x, mean, scale, cotangent, *means)
    g_x.name = sums[0].name = gamma.name  # for profiles
    replace_outputs(fgraph, gradient, gradient.op.select([g_x, *sums[:2]]))


def _recompute_activation(fgraph, node, image):
    """Let the gradients of filters read the activation of this image, which is computed then.

    XLA computes it in the loop of the image's gradient, which reads all that it takes: another
    image is written, and one less kept from the forward pass on.
    """
    for activation, _ in list(fgraph.clients[node.outputs[0]]):
        if _is_activation(activation):
            for user, i in list(fgraph.clients[activation.outputs[0]]):
                if isinstance(user.op, ConvGradFilters):
                    (new,) = activation.clone_with_new_inputs([image]).outputs
                    fgraph.change_node_input(user, i, new, reason=REASON)


def _fuse_split_parts(fgraph):
    """Let XLA compute the parts of a split activation in one loop, and not the whole before."""
    for node in fgraph.toposort():
        whole = node.inputs[0].owner if isinstance(node.op, Split) else None
        if whole is not None and _is_activation(whole):
            replace_outputs(fgraph, node, barrier(*node.clone().outputs))


def _repeated(variable, new):
    """Return a variable whose elementwise functions of those in `new` are computed from these."""
    if variable not in new:
        node, new[variable] = variable.owner, variable
        if node is not None and isinstance(node.op, Elemwise):
            inputs = [_repeated(v, new) for v in node.inputs]
            if inputs != node.inputs:
                (new[variable],) = node.clone_with_new_inputs(inputs).outputs
    return new[variable]


def replace_outputs(fgraph, node, outputs):
    """Replace a node's outputs, as far as the graph has them."""
    copy_stack_trace(node.outputs, outputs)
    pairs = [
        pair for pair in zip(node.outputs, outputs, strict=True) if pair[0] in fgraph.variables
    ]
    fgraph.replace_all(pairs, reason=REASON)


recompute_normalized = RecomputeNormalized()
