"""Neural network functions where users of Theano and PyTensor before 2.37 look for them.

What is called differently now, or left out, is listed in ``pytensor/tensor/docs/migration.md``.
"""

from pytensor.tensor.nnet import abstract_conv, basic, batchnorm, bn, conv, neighbours, nnet, sigm
from pytensor.tensor.nnet.abstract_conv import *  # noqa: F403
from pytensor.tensor.nnet.basic import *  # noqa: F403
from pytensor.tensor.nnet.bn import *  # noqa: F403

__all__ = [
    *abstract_conv.__all__,
    *basic.__all__,
    *bn.__all__,
    "abstract_conv",
    "basic",
    "batchnorm",
    "bn",
    "conv",
    "neighbours",
    "nnet",
    "sigm",
]

_LEFT_OUT = {
    "ultra_fast_sigmoid": "it approximates; use sigmoid, or hard_sigmoid for a piecewise line",
    "abstract_conv2d": "use conv2d",
    "conv3d2d": "use conv3d, which takes (batch, channels, depth, height, width)",
    "ctc": "connectionist temporal classification isn't offered",
}


def __getattr__(name):
    advice = f": {_LEFT_OUT[name]}" if name in _LEFT_OUT else ""
    raise AttributeError(f"module 'pytensor.tensor.nnet' has no attribute {name!r}{advice}")
