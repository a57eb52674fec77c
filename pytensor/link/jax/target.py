"""The kind of device, and the number of devices, that functions are compiled for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

__all__ = [
    "AXIS", "PLATFORMS", "compiling_for", "in_one_kernel", "shares_statistics", "sharing_devices",
    "target_platform",
]  # fmt: skip

AXIS = "data"  # of meshes, along which devices share a batch
# JAX's names, and what `jax.default_backend` calls them.
PLATFORMS = {"cpu": "cpu", "gpu": "gpu", "cuda": "gpu", "rocm": "gpu", "tpu": "tpu"}


class Target(NamedTuple):
    """The choice of `compiling_for`; a platform of None is JAX's default one."""

    platform: str | None = None
    devices: int = 1
    sync_batchnorm: bool = False


DEFAULT = Target()
_target: ContextVar[Target] = ContextVar("target", default=DEFAULT)


def target_platform() -> str:
    """Return "cpu", "gpu" or "tpu": what `compiling_for` says, or else JAX's default backend."""
    chosen = _target.get().platform
    if chosen is not None:
        return chosen
    import jax  # asking it starts JAX

    return jax.default_backend()


def sharing_devices() -> int:
    """Return how many devices share each batch; each computes on its rows, if it is more than 1."""
    return _target.get().devices


def shares_statistics() -> bool:
    """Return whether devices share the statistics of batch normalizations."""
    return _target.get().sync_batchnorm


@contextmanager
def compiling_for(
    platform: str | None, devices: int = 1, sync_batchnorm: bool = False
) -> Iterator[None]:
    """Rewrite, convert and trace in here for a platform of `PLATFORMS`, and for several devices.

    None, and one device, change nothing.
    """
    target = _target.get()
    if platform is not None:
        target = target._replace(platform=PLATFORMS[platform])
    if devices > 1:
        target = target._replace(devices=devices, sync_batchnorm=sync_batchnorm)
    token = _target.set(target)
    try:
        yield
    finally:
        _target.reset(token)


def in_one_kernel(value: Any) -> Any:
    """Return an array times 1: on GPUs XLA makes one loop of arrays with the same shape.

    It does so only if they read a common vector, and not where it knows what is in it.
    """
    if target_platform() == "cpu":
        return value
    import jax

    return value * jax.lax.optimization_barrier(jax.numpy.ones(2, value.dtype))[0]
