"""Batch normalization in training form, taken apart into passes over images: for GPUs."""

from pytensor.graph.facts import precision
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    _OverAxes,
    gradient_sums,
    image_gradient,
    normalize,
)
from pytensor.tensor.moments import count, moments
from pytensor.tensor.symbolic import TensorSymbolicOp


class Moments(_OverAxes, TensorSymbolicOp):
    """The mean and the biased variance, for which JAX reads the image once.

    Inputs are the image, and optionally a number near the mean for each channel.  JAX takes the
    variance from sums of differences to that number, or else to one of the channel's elements: the
    mean of their squares less the square of their mean.  The relative error of the variance is that
    of a sum in this dtype times ``1 + d ** 2``, where the number lies d standard deviations from
    the mean.
    """

    __props__ = ("axes",)

    def build_inner_graph(self, x, *near):
        mean, _, variance = moments(x, self.axes, count(x, self.axes))
        return [mean, variance]


class GradientSums(_OverAxes, TensorSymbolicOp):
    """The gradients for gamma and beta, for which JAX reads each image once."""

    def build_inner_graph(self, x, mean, variance, cotangent):
        _, normalized = normalize(x, mean, variance, self.axes, self.epsilon)
        return gradient_sums(cotangent, normalized, self.axes)


class ImageGradient(_OverAxes, TensorSymbolicOp):
    """The gradient for x, from those for gamma and beta."""

    def build_inner_graph(self, x, gamma, mean, variance, cotangent, g_gamma, g_beta):
        inverse, normalized = normalize(x, mean, variance, self.axes, self.epsilon)
        return [image_gradient(cotangent, normalized, gamma * inverse, g_gamma, g_beta, self.axes)]


# Their results are statistics, which are float32 beside images of any precision.
precision.register(Moments, lambda op: "single")
precision.register(GradientSums, lambda op: "single")


def train_in_passes(node):
    """The outputs of a `BatchNormalizationTrain`, normalized in a pass of its own."""
    op, (x, gamma, beta, *running) = node.op, node.inputs
    mean, variance = Moments(axes=op.axes)(x, *running[: op.running_mean])
    out = BatchNormalization(axes=op.axes, epsilon=op.epsilon)(x, gamma, beta, mean, variance)
    new = op.new_running(count(x, op.axes), mean, variance, *running)
    return [out, mean, variance, *new]
