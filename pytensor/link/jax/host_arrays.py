"""Arrays of the host that XLA would read after the call that they are given to has returned.

On a CPU, JAX hands XLA a NumPy array where it is if its address is a multiple of 64, and copies all
others.  XLA computes when the call has returned: then it would read what was written meanwhile.
Memory maps, shared memory and PyTorch's arrays have such addresses, and others by chance.
"""

from typing import Any

import jax
import numpy as np

__all__ = ["OwnArguments", "own"]


def own(value: Any) -> Any:
    """Copy a NumPy array that XLA would read where it is; return all else as it is."""
    if not isinstance(value, np.ndarray) or value.__array_interface__["data"][0] % 64:
        return value
    # Other devices get a copy anyhow.
    return np.array(value) if jax.default_backend() == "cpu" else value


class OwnArguments:
    """A jitted function whose arguments may be written to once it has returned.

    Its other attributes are those of the function.
    """

    def __init__(self, function):
        self._function = function

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __call__(self, *args):
        return self._function(*map(own, args))
