"""Where Theano had `conv2d`; see `pytensor.tensor.conv.abstract_conv`."""

from pytensor.tensor.conv.abstract_conv import conv2d

__all__ = ["conv2d"]
