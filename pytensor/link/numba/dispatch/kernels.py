"""Numba functions that are compiled once per dtype, and kept in PyTensor's Numba cache."""

from functools import cache
from hashlib import sha256
from inspect import getfile

import numba
import numpy as np
from numba.np.unsafe.ndarray import to_fixed_tuple

from pytensor import config
from pytensor.link.numba.cache import CACHED_SRC_FUNCTIONS
from pytensor.link.numba.dispatch.basic import numba_njit
from pytensor.tensor.conv import lengths


def source_key(*parts):
    """Return a key for the Numba cache, from the `repr` of what a function depends on."""
    return sha256(repr(parts).encode()).hexdigest()


def props_key(op):
    """Return the properties of an Op, and of the Ops among them."""
    values = [getattr(op, name) for name in op.__props__]
    return type(op).__name__, *(props_key(v) if hasattr(v, "__props__") else v for v in values)


@cache
def module_key(path):
    """Return a key that changes with the code of a module of kernels, or of what all share."""
    # The loader reads from a zip file, too.
    sources = [__loader__.get_data(str(file)) for file in (path, __file__, lengths.__file__)]
    return source_key(*sources, numba.__version__)


def kernel(function):
    """Compile a function of module level, and find it again in the cache of later processes.

    The key is that of the whole module, for kernels call one another.
    """
    CACHED_SRC_FUNCTIONS[function] = source_key(
        function.__qualname__, module_key(getfile(function))
    )
    # Infinity and NaN have their meaning, and a sum is added up in the order that is written.
    return numba_njit(
        function, cache=config.numba__cache, error_model="numpy", fastmath=False
    )


@kernel
def flat(x):
    """Return the entries of an array as a vector, and its shape as one."""
    return np.ascontiguousarray(x).ravel(), np.array(x.shape)


@numba.extending.register_jitable
def with_shape(x, shape, ndim):
    """Give a vector a shape; `ndim` must be known when this is compiled."""
    return x.reshape(to_fixed_tuple(shape, ndim))


@kernel
def split(shape, axis):
    """Return how many entries there are before an axis, along it, and after it."""
    before = after = 1
    for i in range(len(shape)):
        if i < axis:
            before *= shape[i]
        elif i > axis:
            after *= shape[i]
    return before, shape[axis], after
