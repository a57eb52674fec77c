"""Data-parallel execution of compiled functions on several JAX devices.

A function compiled by JAX runs on the devices on which its inputs lie.  Where the rows
of a batch are spread over devices and the shared variables are copied to all of them, JAX's
compiler splits the work, and adds the sums over the batch (a loss, gradients, the statistics of a
batch normalization) up over the devices.  The graph is that of one device: a mean over the batch is
one over the whole batch, wherever its rows lie.

::

    step = pytensor.function([x, y], loss, updates=updates, mode=jax_mode(), trust_input=True)
    mesh = data_parallel_mesh()
    replicate(variables, mesh)    # all that the function reads or updates
    for batch in batches:
        step(*shard_batch(batch, mesh))

``trust_input=True`` is needed: other functions turn their inputs into NumPy arrays.  Inputs without
a batch axis (a learning rate, say) are passed as they are.

A training step gets hundreds of small messages so; with ``jax_mode(mesh=mesh)`` it gets a few, and
each device computes on its own rows (`pytensor.link.jax.parallel.own_rows`).

Three operations get the whole batch on every device, which is right, but costs time and memory:
`topk`, indexing by two arrays (``x[rows, index]``), and convolutions whose groups have several
channels.
"""

from collections.abc import Iterable, Sequence

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from numpy.typing import ArrayLike

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.jax.host_arrays import own
from pytensor.link.jax.parallel.own_rows import AXIS

__all__ = ["data_parallel_mesh", "is_replicated", "replicate", "shard_batch"]


def data_parallel_mesh(devices: Sequence[jax.Device] | None = None) -> Mesh:
    """Arrange devices along one axis, ``"data"``, over which batches are split.

    Parameters
    ----------
    devices : sequence of jax.Device, optional
        All devices if not given.

    Returns
    -------
    jax.sharding.Mesh

    Raises
    ------
    ValueError
        If there is no device, or a device comes twice.
    """
    devices = jax.devices() if devices is None else list(devices)
    if not devices:
        raise ValueError("data_parallel_mesh: no device is given")
    if len(set(devices)) < len(devices):
        raise ValueError(f"data_parallel_mesh: a device comes twice in {devices}")
    return Mesh(np.array(devices), (AXIS,))


def replicate(shared_variables: Iterable[SharedVariable], mesh: Mesh) -> None:
    """Copy the values of shared variables to all devices of a mesh.

    `SharedVariable.set_value` brings a variable's value back to the host: replicate it again
    afterwards.  Values that lie on all devices already stay as they are.  Where other processes
    have devices of the mesh, all must have the same values.

    Parameters
    ----------
    shared_variables : iterable of shared variables with numeric arrays
        All that a function reads or updates.
    mesh : jax.sharding.Mesh

    Raises
    ------
    TypeError
        If a variable holds no array (a random generator, say); no variable is changed then.
    """
    shared_variables = list(shared_variables)
    for variable in shared_variables:
        value = variable.get_value(borrow=True)
        if not isinstance(value, np.ndarray | np.generic | jax.Array):
            raise TypeError(
                f"replicate: {variable} holds a {type(value).__name__}; leave it out, only arrays "
                "can be replicated"
            )
    sharding = NamedSharding(mesh, PartitionSpec())
    for variable in shared_variables:
        value = variable.container.storage[0]
        if not is_replicated(value, mesh):
            # Not set_value, which makes a NumPy array of what it is given.
            variable.container.storage[0] = copy_to_each(value, sharding)


def copy_to_each(value: ArrayLike, sharding: NamedSharding) -> jax.Array:
    """Copy a value to all devices of a sharding; each process to its own, if there are others."""
    value = own(value)
    with jax.enable_x64(True):  # else JAX would halve numbers of 64 bits
        if sharding.is_fully_addressable:
            return jax.device_put(value, sharding)
        # jax.device_put would first compare the values of all processes, array by array
        copies = [jax.device_put(value, device) for device in sharding.addressable_devices]
        return jax.make_array_from_single_device_arrays(np.shape(value), sharding, copies)


def is_replicated(value: object, mesh: Mesh) -> bool:
    """Return whether a value is a JAX array that lies whole on each device of a mesh."""
    sharding = NamedSharding(mesh, PartitionSpec())
    return isinstance(value, jax.Array) and value.sharding.is_equivalent_to(sharding, value.ndim)


def shard_batch(arrays: Iterable[ArrayLike], mesh: Mesh) -> list[jax.Array]:
    """Spread the rows of arrays over the devices of a mesh, in equal parts.

    Parameters
    ----------
    arrays : iterable of arrays
        Their first axis is that of the batch; where other processes have devices of the mesh, they
        are this process's own rows.  They are copied for CPUs, which would use them where they are.
    mesh : jax.sharding.Mesh

    Returns
    -------
    list of jax.Array

    Raises
    ------
    ValueError
        If an array has no axis, or its rows can't be divided equally.
    """
    sharding = NamedSharding(mesh, PartitionSpec(AXIS))
    devices = len(sharding.addressable_devices)
    arrays = list(arrays)
    for number, array in enumerate(arrays):
        shape = np.shape(array)
        if not shape:
            raise ValueError(f"shard_batch: array {number} is a scalar, which has no rows to share")
        if shape[0] % devices:
            raise ValueError(
                f"shard_batch: array {number} has {shape[0]} rows, which {devices} devices can't "
                f"share equally; the number of rows must be a multiple of {devices}"
            )
    if jax.default_backend() == "cpu":
        # A device's rows may have an address that the array hasn't.
        arrays = [np.array(a) if isinstance(a, np.ndarray) else a for a in arrays]
    with jax.enable_x64(True):  # else JAX would halve numbers of 64 bits
        if sharding.is_fully_addressable:
            return [jax.device_put(array, sharding) for array in arrays]
        return [
            jax.make_array_from_process_local_data(sharding, np.asarray(array)) for array in arrays
        ]
