"""Where Theano and PyTensor before 2.37 had `pool_2d`."""

from pytensor.tensor.pool import pool_2d

__all__ = ["pool_2d"]
