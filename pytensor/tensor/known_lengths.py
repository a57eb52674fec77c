"""Lengths that are computed from arrays' lengths, and known to JAX while it traces."""

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import Assert
from pytensor.tensor.basic import arange, cast
from pytensor.tensor.math import floor
from pytensor.tensor.type import lscalar

cells_are_left = Assert("resize: the scale leaves no cell of an axis; use a larger one")


class KnownLength(OpFromGraph):
    """Integers that are computed from lengths of arrays by more than Python's arithmetic.

    JAX would trace them, and a traced value can't serve as a length.  Elsewhere it is its graph.
    """


def numbers_below(length):
    """Return the integers from 0 to a length, which is a variable."""
    n = lscalar()
    return KnownLength([n], [arange(n)])(length)


def scaled_length(length, factor):
    """Return the variable ``floor(length * factor)``, at least 1, for the length of an axis."""
    n = lscalar()
    scaled = cast(floor(n * np.float64(factor)), "int64")
    return KnownLength([n], [cells_are_left(scaled, scaled >= 1)])(length)


def length_by(formula, length):
    """Return a formula of a length, such as a quotient; of an integer, which is known, itself."""
    if isinstance(length, int):
        return formula(length)
    n = lscalar()
    return KnownLength([n], [formula(n)])(length)
