"""The devices of a data-parallel training: of one process, or of all that train together.

Where there are several processes (`pytensor.link.jax.parallel.processes`), each has the same
variables, and its rows of each batch, `Devices.rows`.
"""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from numpy.typing import ArrayLike

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.jax.parallel.sharding import data_parallel_mesh, replicate, shard_batch

__all__ = ["Devices", "ParallelError"]


class ParallelError(Exception):
    """The devices asked for aren't there, or can't share a batch."""


def find_devices() -> list[Any]:
    """Return JAX's devices, of all processes; ParallelError where it finds none."""
    try:
        return jax.devices()
    except (AssertionError, RuntimeError) as error:  # JAX raises either, the first without a text
        raise ParallelError(
            f"JAX finds no device for JAX_PLATFORMS={jax.config.jax_platforms}: unset "
            "JAX_PLATFORMS, or install JAX for that platform"
        ) from error


class Devices:
    """The devices that share each batch; see `pytensor.link.jax.parallel` for a training.

    With one device every method leaves what it is given as it is.  ``trust_input=True`` is needed
    for functions of several: others turn their inputs into NumPy arrays.

    Parameters
    ----------
    count : int, optional
        The first ones of the machine; all if not given.  Several processes take all of theirs.

    Attributes
    ----------
    count : int
        Of all processes.
    mesh : jax.sharding.Mesh or None
        None with one device.
    process, processes : int
        This process's number, from 0 on, and how many there are.

    Raises
    ------
    ParallelError
        If there are fewer, or processes have different numbers of devices.
    """

    def __init__(self, count: int | None = None) -> None:
        found = find_devices()
        self.process, self.processes = jax.process_index(), jax.process_count()
        # A process's rows are next to each other.
        there = sorted(found, key=lambda device: (device.process_index, device.id))
        if self.processes > 1:
            self._check_processes(count, there)
        self._set(there, count)

    def _set(self, there: list[Any], count: int | None) -> None:
        self.count = len(there) if count is None else count
        if not 1 <= self.count <= len(there):
            raise ParallelError(
                f"{self.count} devices asked for; it can be 1 to {len(there)} "
                f"({jax.default_backend()}; for trying it out, a CPU has as many as "
                "XLA_FLAGS=--xla_force_host_platform_device_count says)"
            )
        self.mesh = data_parallel_mesh(there[: self.count]) if self.count > 1 else None

    def _check_processes(self, count: int | None, there: list[Any]) -> None:
        owners = np.bincount([device.process_index for device in there], minlength=self.processes)
        if len(set(owners.tolist())) > 1:
            raise ParallelError(
                f"the processes have {', '.join(map(str, owners))} devices; each must have as many "
                "as the others"
            )
        if count not in (None, len(there)):
            raise ParallelError(
                f"{count} devices asked for; {self.processes} processes share each batch on all "
                f"devices of theirs, which are {len(there)}"
            )
        # one device of each process, for what processes tell each other
        firsts = there[:: len(there) // self.processes]
        self._ring = data_parallel_mesh(firsts)
        whole = NamedSharding(self._ring, PartitionSpec())
        self._maximum = jax.jit(jnp.max, out_shardings=whole)
        self._whole = jax.jit(lambda parts: parts, out_shardings=whole)

    def local(self) -> "Devices":
        """Return only this process's devices, which know nothing of others."""
        if self.processes == 1:
            return self
        own = object.__new__(Devices)
        own.process, own.processes = 0, 1
        own._set(jax.local_devices(), None)
        return own

    def check_batch_size(self, batch_size: int) -> None:
        """Raise a `ParallelError` if the devices can't share a batch equally."""
        if batch_size % self.count:
            of = f" of {self.processes} processes" if self.processes > 1 else ""
            raise ParallelError(
                f"{self.count} devices{of} can't share a batch of {batch_size} equally; the batch "
                f"size must be a multiple of {self.count}"
            )

    def rows(self, count: int) -> range:
        """Return which of a batch's rows are this process's, perhaps one fewer than others'."""
        first, end = (count * k // self.processes for k in (self.process, self.process + 1))
        return range(first, end)

    def replicate(self, shared_variables: Iterable[SharedVariable]) -> None:
        """Copy shared variables to all devices; again after their `set_value`.

        They are all that a function reads or updates.

        Raises
        ------
        TypeError
            If a variable holds no array (a random generator, say); no variable is changed then.
        """
        if self.mesh is not None:
            replicate(shared_variables, self.mesh)

    def shard(self, arrays: Iterable[ArrayLike]) -> list[Any]:
        """Spread the rows of arrays, which are this process's, over the devices.

        A function without a mesh takes them, too, to infer: each device computes on its rows, as
        far as JAX's compiler can split the work.

        Raises
        ------
        ValueError
            If an array has no axis, or its rows can't be divided equally.
        """
        return list(arrays) if self.mesh is None else shard_batch(arrays, self.mesh)

    def maximum(self, number: int) -> Any:
        """Return the largest of the numbers that processes give; all must call it.

        It isn't waited for: `int` of the result does that.
        """
        if self.processes == 1:
            return number
        return self._maximum(self._of_each(np.int32(number)[None]))

    def gather(self, rows: np.ndarray) -> np.ndarray:
        """Join the rows of all processes, in their order; all must call it.

        They may have different numbers of rows, else shape and dtype must be the same; dtypes of
        64 bits are for processes where JAX has them.
        """
        if self.processes == 1:
            return rows
        lengths = np.asarray(self._whole(self._of_each(np.array([len(rows)], np.int32))))
        padded = np.zeros((1, max(lengths), *rows.shape[1:]), rows.dtype)
        padded[0, : len(rows)] = rows
        everything = np.asarray(self._whole(self._of_each(padded)))
        parts = [part[:length] for part, length in zip(everything, lengths, strict=True)]
        return np.concatenate(parts)

    def _of_each(self, row: np.ndarray) -> Any:
        sharding = NamedSharding(self._ring, PartitionSpec(self._ring.axis_names[0]))
        return jax.make_array_from_process_local_data(sharding, row)
