"""The devices of a data-parallel training, all driven by one process.

The rows of every batch are spread over the devices, and all else is on each of them: see
`pytensor.link.jax.sharding`, and for the step `pytensor.link.jax.parallel`.

    devices = Devices(8)
    step = pytensor.function(..., mode=jax_mode(mesh=devices.mesh), trust_input=True)
    devices.check_batch_size(batch_size)
    devices.replicate(variables)             # all that the step reads or updates
    for batch in batches:
        step(*devices.shard(batch))
"""

from collections.abc import Iterable
from typing import Any

import jax
from numpy.typing import ArrayLike

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.jax.sharding import data_parallel_mesh, replicate, shard_batch

__all__ = ["Devices", "ParallelError"]


class ParallelError(Exception):
    """The devices asked for aren't there, or can't share a batch."""


class Devices:
    """The devices of a run.  With one device every method leaves what it is given as it is.

    Parameters
    ----------
    count : int, optional
        The first ones of the machine; all if not given.

    Attributes
    ----------
    count : int
    mesh : jax.sharding.Mesh or None
        None with one device.

    Raises
    ------
    ParallelError
        If there are fewer.
    """

    def __init__(self, count: int | None = None) -> None:
        there = jax.devices()
        self.count = len(there) if count is None else count
        if not 1 <= self.count <= len(there):
            raise ParallelError(
                f"{self.count} devices asked for; it can be 1 to {len(there)} "
                f"({jax.default_backend()}; for trying it out, a CPU has as many as "
                "XLA_FLAGS=--xla_force_host_platform_device_count says)"
            )
        self.mesh = data_parallel_mesh(there[: self.count]) if self.count > 1 else None

    def check_batch_size(self, batch_size: int) -> None:
        """Raise a `ParallelError` if the devices can't share a batch equally."""
        if batch_size % self.count:
            raise ParallelError(
                f"{self.count} devices can't share a batch of {batch_size} equally; the batch size "
                f"must be a multiple of {self.count}"
            )

    def replicate(self, shared_variables: Iterable[SharedVariable]) -> None:
        """Copy shared variables to all devices; again after their `set_value`."""
        if self.mesh is not None:
            replicate(shared_variables, self.mesh)

    def shard(self, arrays: Iterable[ArrayLike]) -> list[Any]:
        """Spread the rows of arrays over the devices; see `shard_batch`."""
        return list(arrays) if self.mesh is None else shard_batch(arrays, self.mesh)
