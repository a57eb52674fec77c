"""What a function of `jax_mode` calls, with arguments and results as the host has them."""

import jax

import pytensor.link.jax.dispatch  # noqa: F401 (it sets JAX's numbers of 64 bits by floatX)
from pytensor.link.jax.host_arrays import own, with_all_bits, with_wide_numbers

__all__ = ["HostCall", "wants_wide_numbers"]


def wants_wide_numbers(fgraph):
    """Return whether a graph's numbers need 64 bits where JAX has 32."""
    if jax.config.jax_enable_x64:
        return False
    from pytensor.link.jax.mode.wide_numbers import has_wide_numbers

    return has_wide_numbers(fgraph)


class HostCall:
    """A jitted function whose arguments may be written to once it has returned.

    Its other attributes are the function's.  With `wide_numbers` it is traced and called with JAX's
    types of 64 bits.  The first `returned` results go to the caller, others to shared variables.
    """

    def __init__(self, function, wide_numbers, returned):
        self._function, self._wide, self._returned = function, wide_numbers, returned

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __call__(self, *args):
        args = map(own, args)
        if not self._wide:
            return self._function(*args)
        with with_wide_numbers(True):
            results = self._function(*args)
        returned = tuple(map(with_all_bits, results[: self._returned]))
        return returned + tuple(results[self._returned :])

    def lower(self, *args):
        """Lower as `jax.jit`."""
        with with_wide_numbers(self._wide):
            return self._function.lower(*args)

    def trace(self, *args):
        """Trace as `jax.jit`."""
        with with_wide_numbers(self._wide):
            return self._function.trace(*args)
