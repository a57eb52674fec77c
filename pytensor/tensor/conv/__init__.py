"""Convolution and transposed convolution by the arguments of Theano."""

from pytensor.tensor.conv.basic import conv, conv2d, conv_transpose

__all__ = ["conv", "conv2d", "conv_transpose"]
