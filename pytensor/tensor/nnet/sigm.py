"""Theano's module of sigmoids."""

from pytensor.tensor.math import sigmoid, softplus
from pytensor.tensor.nn import hard_sigmoid

__all__ = ["hard_sigmoid", "sigmoid", "softplus"]
