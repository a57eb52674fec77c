"""Arrays on their way to JAX and back: copies where XLA would read too late, and all bits.

On a CPU, JAX hands XLA a NumPy array where it is if its address is a multiple of 64, and copies all
others.  XLA computes when the call has returned: then it would read what was written meanwhile.
Memory maps, shared memory and PyTorch's arrays have such addresses, and others by chance.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
import numpy as np

__all__ = ["in_dtype", "own", "with_all_bits", "with_wide_numbers"]

WIDE = ("complex128", "float64", "int64", "uint64")


def own(value: Any) -> Any:
    """Copy a NumPy array that XLA would read where it is; return all else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    if not value.ndim:
        return value.copy()  # in a tenth of the time that it takes to ask for its address
    if value.__array_interface__["data"][0] % 64:
        return value
    # Other devices get a copy anyhow.
    return np.array(value) if jax.default_backend() == "cpu" else value


def with_all_bits(value: Any) -> Any:
    """Return an array in NumPy if JAX would halve its numbers in any arithmetic."""
    # Asking for a dtype's name takes ten times as long as for its size.
    if not isinstance(value, jax.Array) or value.dtype.itemsize < 8:
        return value
    # The dtype of a random key has a name of its own.
    wide = value.dtype.name in WIDE
    return np.asarray(value) if wide and not jax.config.jax_enable_x64 else value


def in_dtype(value: Any, dtype: Any) -> Any:
    """Return an array of JAX's in a dtype, as far as JAX has it; all else as it is."""
    if not isinstance(value, jax.Array) or value.dtype == dtype:
        return value
    return value.astype(jax.dtypes.canonicalize_dtype(dtype))


def with_wide_numbers(wide: bool) -> AbstractContextManager[object]:
    """Return the context in which JAX has numbers of 64 bits, if they are wanted."""
    return jax.enable_x64(True) if wide else nullcontext()
