"""Theano's name of `pytensor.tensor.conv.abstract_conv`."""

from pytensor.tensor.conv.abstract_conv import *  # noqa: F403
from pytensor.tensor.conv.abstract_conv import __all__ as __all__
