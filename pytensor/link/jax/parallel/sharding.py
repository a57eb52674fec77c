"""Share a batch among the devices of a mesh, each of which computes on its rows as one does.

The graph of a function of ``jax_mode(mesh=mesh)`` is that of one device and its rows: an input has
the rows of a batch divided by the number of devices.  The function takes the whole batch, whose
rows may be on the devices already (`shard_batch`).  Inputs with axes have rows of the batch; shared
variables and scalars are the same on all devices, and so must all results be: what depends on a
device's rows goes through `pytensor.tensor.collectives.all_reduce`.

Batch normalizations take their statistics from each device's rows, as in other frameworks; with
``sync_batchnorm=True`` from the whole batch, for one message per normalization and pass.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from numpy.typing import ArrayLike

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import AbstractFunctionGraph, FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.link.jax.host_arrays import own
from pytensor.link.jax.target import AXIS, shares_statistics
from pytensor.tensor.batchnorm import BatchNormalizationTrain, BatchNormalizationTrainGrad
from pytensor.tensor.collectives import AllReduce
from pytensor.tensor.random.type import RandomType

__all__ = [
    "check_results", "data_parallel_mesh", "is_replicated", "on_each_device", "replicate",
    "shard_batch",
]  # fmt: skip


def data_parallel_mesh(devices: Sequence[jax.Device] | None = None) -> Mesh:
    """Arrange devices, all of JAX's if none are given, along the axis that splits a batch."""
    return Mesh(np.array(jax.devices() if devices is None else devices), (AXIS,))


def replicate(shared_variables: Iterable[SharedVariable], mesh: Mesh) -> None:
    """Do what `Devices.replicate` says.

    Values that are on all devices already stay as they are.  Where other processes have devices of
    the mesh, all must have the same values.
    """
    shared_variables = list(shared_variables)
    for variable in shared_variables:
        value = variable.get_value(borrow=True)
        if not isinstance(value, np.ndarray | np.generic | jax.Array):
            raise TypeError(
                f"replicate: {variable} has a {type(value).__name__} as its value; leave it out: "
                "only arrays can be replicated"
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
    """Do what `Devices.shard` says; CPUs, which would use arrays where they are, get copies."""
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


def has_rows(variable: Variable[Any, Any]) -> bool:
    """Return whether an input has rows of the batch, and is not the same on all devices."""
    return not isinstance(variable, SharedVariable) and getattr(variable.type, "ndim", 0) > 0


def check_results(fgraph: FunctionGraph) -> None:
    """Raise an error for a result that the devices would not agree on.

    Raises
    ------
    ValueError
        If a result depends on a device's own rows but for `all_reduce`, or random numbers are
        drawn, which would be the same on all devices.
    NotImplementedError
        If devices can't share the statistics of a batch normalization, and should.
    """
    if shares_statistics():
        check_statistics(fgraph)
    for variable in fgraph.inputs:
        if isinstance(variable.type, RandomType):
            raise ValueError(
                f"{variable}: random numbers would be the same on all devices of the mesh; draw "
                "them on the host, and pass them with the batch"
            )
    different = {v for v in fgraph.inputs if has_rows(v)}
    for node in fgraph.toposort():
        if not isinstance(node.op, AllReduce) and not different.isdisjoint(node.inputs):
            different.update(node.outputs)
    updated: Any = fgraph.update_mapping or {}  # numbers; PyTensor's hint says variables
    for number, output in enumerate(fgraph.outputs):
        if output in different:
            name = (
                f"the update of {fgraph.inputs[updated[number]]}"
                if number in updated
                else f"output {number}" + (f" ({output.name})" if output.name else "")
            )
            raise ValueError(
                f"{name} depends on one device's rows; reduce it, or the variables that it is "
                "computed from, over the devices by pytensor.tensor.collectives.all_reduce"
            )


def check_statistics(fgraph: AbstractFunctionGraph) -> None:
    """Raise an error for a batch normalization whose statistics devices can't share."""
    for node in fgraph.toposort():
        if isinstance(node.op, BatchNormalizationTrain | BatchNormalizationTrainGrad):
            raise NotImplementedError(
                f"sync_batchnorm: the normalization of {node.inputs[0]} can't share its statistics "
                "over the devices: it is of float16, in an inner graph, or its mean or variance is "
                "read, or has a gradient, besides the normalized image and running statistics"
            )
        if isinstance(node.op, HasInnerGraph):
            check_statistics(node.op.fgraph)


def on_each_device(
    function: Callable[..., Any], inputs: Iterable[Variable[Any, Any]], mesh: Mesh
) -> Callable[..., Any]:
    """Have each device of a mesh call a function on its rows; results must be the same on all."""
    specs = tuple(PartitionSpec(AXIS) if has_rows(v) else PartitionSpec() for v in inputs)
    # JAX's own check of the results would sum gradients over the devices one by one
    return jax.shard_map(
        function, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(), check_vma=False
    )
