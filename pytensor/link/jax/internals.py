"""Uses of JAX beyond its public interface: what for, and which versions have it.

No other module of this package imports `jax._src`, `jax.experimental` or what is inside of jaxlib,
so a new version of JAX breaks only this module.  All of it is in jax and jaxlib 0.11.0, the lowest
that pyproject.toml admits, and in 0.12.0.1.  JAX is imported when a function here is called, for
`import pytensor` must not do so.
"""

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

__all__ = [
    "all_settings", "backend_has_started", "cache_hits", "coordinator_address",
    "deserialize_program", "forget_compilation_cache", "jaxlib_version", "make_lapack_known",
    "meet", "publish", "published", "serialize_program", "xla_version",
]  # fmt: skip


def jaxlib_version() -> tuple[int, ...]:
    """Return the numbers of jaxlib's version, without JAX: it must not start yet.

    Which of XLA's faults there are depends on it.  jaxlib 0.11.0 to 0.12.0.1; the public
    ``jaxlib.__version__`` is a text.
    """
    from jaxlib.version import __version_info__

    return __version_info__


def backend_has_started() -> bool:
    """Return whether JAX has read ``XLA_FLAGS`` and taken memory: both can't be changed then.

    `jax.default_backend` and the like would start it.  jax 0.11.0 to 0.12.0.1.
    """
    from jax._src.xla_bridge import backends_are_initialized

    return backends_are_initialized()


def forget_compilation_cache() -> None:
    """Have JAX look at the settings of its compilation cache again, which it does once.

    jax 0.11.0 to 0.12.0.1, experimental.
    """
    from jax.experimental.compilation_cache.compilation_cache import reset_cache

    reset_cache()


@cache
def cache_hits() -> list[None]:
    """Return a list that grows whenever JAX finds a program in its compilation cache.

    A program that XLA has read can't be written again.  The event's name isn't documented; jax
    0.11.0 to 0.12.0.1.
    """
    import jax

    hits: list[None] = []
    jax.monitoring.register_event_listener(
        lambda event, **_: hits.append(None) if event.endswith("/cache_hits") else None
    )
    return hits


def serialize_program(program: Any) -> Any:
    """Return a compiled program in parts that can be pickled.

    jax 0.11.0 to 0.12.0.1, experimental.
    """
    from jax.experimental.serialize_executable import serialize

    return serialize(program)


def deserialize_program(parts: Sequence[Any], device: Any) -> Any:
    """Return the program of these parts, for one device.

    The device's XLA client reads it, which a device has as ``client``.  jax 0.11.0 to 0.12.0.1,
    experimental.
    """
    from jax.experimental.serialize_executable import deserialize_and_load

    serialized, in_tree, out_tree = parts
    return deserialize_and_load(
        serialized, in_tree, out_tree, backend=device.client, execution_devices=[device]
    )


def make_lapack_known() -> None:
    """Tell XLA where LAPACK's functions are, for programs from disk that call them.

    JAX does so when it lowers such a function; without that, the program ends the process.  jaxlib
    0.11.0 to 0.12.0.1.
    """
    import numpy as np
    from jaxlib.lapack import prepare_lapack_call

    prepare_lapack_call("potrf_ffi", np.dtype("float64"))


def xla_version(device: Any) -> str:
    """Return what a device's XLA client says of its version, with that of CUDA and the like.

    jax 0.11.0 to 0.12.0.1.
    """
    return device.client.platform_version


def all_settings() -> list[tuple[str, str]]:
    """Return the names and values of all of JAX's settings, on which programs may depend.

    ``jax.config`` lists none of them publicly.  jax 0.11.0 to 0.12.0.1.
    """
    import jax

    return [(name, str(getattr(jax.config, name, None))) for name in sorted(jax.config.values)]


def coordinator_address() -> str:
    """Return ``HOST:PORT`` of process 0, as this process reaches it.

    After `jax.distributed.initialize`, which may have found it out.  jax 0.11.0 to 0.12.0.1.
    """
    from jax._src.distributed import global_state

    return str(global_state.coordinator_address)


def publish(key: str, text: str) -> None:
    """Let all processes of `jax.distributed` know a text.

    Multi-process JAX has a store for such things, not a public one.  jax 0.11.0 to 0.12.0.1.
    """
    from jax._src.distributed import global_state

    client: Any = global_state.client
    client.key_value_set(f"pytensor/{key}", text)


def published(key: str, seconds: float) -> str:
    """Wait for a text that a process publishes.  jax 0.11.0 to 0.12.0.1."""
    from jax._src.distributed import global_state

    client: Any = global_state.client
    return client.blocking_key_value_get(f"pytensor/{key}", int(seconds * 1000))


_meetings = itertools.count()


def meet(seconds: float = 24 * 3600) -> None:
    """Wait until all processes of `jax.distributed` have called this as often as this one.

    jax 0.11.0 to 0.12.0.1.
    """
    from jax._src.distributed import global_state

    client: Any = global_state.client
    client.wait_at_barrier(f"pytensor/meeting/{next(_meetings)}", int(seconds * 1000))
