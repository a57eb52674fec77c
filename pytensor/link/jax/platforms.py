"""The kind of device that functions are compiled for, on which the form of conversions depends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["PLATFORMS", "call_for", "compiling_for", "target_platform"]

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
