"""Convolution and transposed convolution by the arguments of Theano."""

import pytensor.tensor.rewriting.batchnorm  # noqa: F401  # it registers a rewrite
from pytensor.tensor.conv.basic import conv, conv2d, conv_transpose

__all__ = ["conv", "conv2d", "conv_transpose"]
