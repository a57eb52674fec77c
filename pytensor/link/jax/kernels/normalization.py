"""Batch normalization with SiLU behind it, in the form that kernels compute on a CPU.

XLA takes six passes over an image for a normalization with SiLU, and eleven or more for their
gradient.  `pytensor.link.jax.kernels.cpu_kernels` has code that takes three and five: this rewrite
makes the nodes for it.  They have inner graphs, so anything else computes them as well.
"""

from pytensor.graph.basic import equal_computations
from pytensor.graph.facts import layout
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.link.jax.rewriting.recompute import (
    Moments,
    NormalizedSiLU,
    Scaled,
    SiLUNormalizationGrad,
    replace_outputs,
    silu_slope,
)
from pytensor.link.jax.target import shares_statistics
from pytensor.scalar.activations import SiLU
from pytensor.tensor.batchnorm import BatchNormalizationTrain, BatchNormalizationTrainGrad
from pytensor.tensor.math import mul
from pytensor.tensor.moments import count


class NormalizeByKernels(GraphRewriter):
    """See the module's docstring."""

    def apply(self, fgraph):
        from pytensor.link.jax.kernels.cpu_kernels import load_kernels  # imports JAX

        if shares_statistics():
            return
        layers = [n for n in fgraph.toposort() if isinstance(n.op, BatchNormalizationTrain)]
        layers = [n for n in layers if _has_channels_last(n)]
        if layers and load_kernels() is not None:
            for node in layers:
                _convert(fgraph, node)


def _has_channels_last(node):
    """Return whether the image of a normalization is one of float32, of a convolution's shape."""
    x = node.inputs[0]
    facts = x.owner and layout(x.owner.op)
    on_images = x.type.ndim == 4 and node.op.axes == (0, 2, 3)
    return x.type.dtype == "float32" and on_images and facts is not None and facts.gains


def _convert(fgraph, node):
    """Replace a normalization, SiLU of its image, and the gradient of both, if all are there."""
    op, (x, gamma, beta, *running) = node.op, node.inputs
    image, of_mean = (fgraph.clients[v] for v in node.outputs[:2])
    activations = [n for n, _ in image if isinstance(getattr(n.op, "scalar_op", None), SiLU)]
    gradients = [n for n, _ in of_mean if isinstance(n.op, BatchNormalizationTrainGrad)]
    if len(activations) != 1 or len(gradients) != 1:
        return
    (activation,), (gradient,) = activations, gradients
    cotangent = _cotangent(gradient.inputs[4], node.outputs[0])
    if cotangent is None:
        return
    options = {"axes": op.axes, "epsilon": op.epsilon}
    mean, variance, scale = Moments(**options)(x, gamma, *running[: op.running_mean])
    known = x, gamma, beta, mean, variance
    backward = SiLUNormalizationGrad(**options, wanted=gradient.op.wanted)
    replace_outputs(fgraph, gradient, backward(*known, cotangent, return_list=True))
    replace_outputs(fgraph, activation, [NormalizedSiLU(**options)(*known)])
    new = op.new_running(count(x, op.axes), mean, variance, *running)
    image = Scaled(**options)(x, mean, scale, beta)
    replace_outputs(fgraph, node, [image, mean, variance, *new])


def _cotangent(gradient, image):
    """Return what is multiplied by SiLU's derivative at an image; None if nothing is."""
    node = gradient.owner
    if node is None or node.op != mul:
        return None
    others = list(node.inputs)
    for factor in silu_slope(image):
        same = [v for v in others if equal_computations([v], [factor])]
        if not same:
            return None
        others.remove(same[0])
    cotangent = mul(*others) if len(others) > 1 else others[0] if others else None
    whole = cotangent is not None and cotangent.type.broadcastable == image.type.broadcastable
    return cotangent if whole else None


normalize_by_kernels = NormalizeByKernels()
