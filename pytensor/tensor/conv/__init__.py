"""Convolution."""

from pytensor.tensor.conv.basic import conv2d

__all__ = ["conv2d"]
