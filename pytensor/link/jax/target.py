"""The kind of device that functions are compiled for, on which the form of conversions depends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["PLATFORMS", "call_for", "compiling_for", "in_one_kernel", "target_platform"]

# JAX's names, and what `jax.default_backend` calls them.
PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}
_chosen: ContextVar[str | None] = ContextVar("platform", default=None)


def target_platform() -> str:
    """Return "cpu", "gpu" or "tpu": what `compiling_for` says, or else JAX's default backend."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    import jax  # asking it starts JAX

    return jax.default_backend()


@contextmanager
def compiling_for(platform: str | None) -> Iterator[None]:
    """Rewrite, convert and trace in here for a platform of `PLATFORMS`; None changes nothing."""
    token = _chosen.set(_chosen.get() if platform is None else PLATFORMS[platform])
    try:
        yield
    finally:
        _chosen.reset(token)


def call_for(platform: str | None, function: Callable[[], object]) -> None:
    """Call a function in a block of `compiling_for`."""
    with compiling_for(platform):
        function()


def in_one_kernel(value: Any) -> Any:
    """Return an array times 1: on GPUs XLA makes one loop of those of the same shape.

    It does so only if they read a common vector, and not where it knows what is in it.
    """
    if target_platform() == "cpu":
        return value
    import jax

    return value * jax.lax.optimization_barrier(jax.numpy.ones(2, value.dtype))[0]
