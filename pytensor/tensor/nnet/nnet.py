"""Theano's name of `pytensor.tensor.nnet.basic`."""

from pytensor.tensor.nnet.basic import *  # noqa: F403
from pytensor.tensor.nnet.basic import __all__ as __all__
