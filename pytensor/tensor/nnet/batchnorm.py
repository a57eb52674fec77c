"""PyTensor 2's name of `pytensor.tensor.nnet.bn`."""

from pytensor.tensor.nnet.bn import *  # noqa: F403
from pytensor.tensor.nnet.bn import __all__ as __all__
