"""Functions whose batch is shared by several devices, each of which computes as one does.

::

    mesh = data_parallel_mesh()
    step = pytensor.function(
        [images, targets], parts, updates=updates, mode=jax_mode(mesh=mesh), trust_input=True
    )

The graph is that of one device and its rows: `images` has the rows of a batch divided by the number
of devices.  The function takes the whole batch, whose rows may lie on the devices already
(`pytensor.link.jax.parallel.sharding.shard_batch`).  Inputs with axes have rows of the batch;
shared variables and scalars are the same on all devices, and so must all results be: what depends
on a device's own rows goes through `pytensor.tensor.collectives.all_reduce`.

So a batch normalization's statistics are those of each device's rows, as in other frameworks;
with ``sync_batchnorm=True`` they are the whole batch's, for one message per normalization and pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.tensor.batchnorm import BatchNormalizationTrain, BatchNormalizationTrainGrad
from pytensor.tensor.collectives import AllReduce
from pytensor.tensor.random.type import RandomType

__all__ = [
    "AXIS", "DataParallel", "check_results", "compiling_for_devices", "data_parallel",
    "shares_statistics",
]  # fmt: skip

AXIS = "data"  # of meshes


class DataParallel(NamedTuple):
    """Over how many devices a batch is spread, and whether they share statistics."""

    devices: int
    sync_batchnorm: bool = False


_chosen: ContextVar[DataParallel | None] = ContextVar("data_parallel", default=None)


def data_parallel() -> DataParallel | None:
    """Return what is compiled for; None for one device."""
    return _chosen.get()


def shares_statistics() -> bool:
    """Return whether devices share the statistics of batch normalizations."""
    parallel = data_parallel()
    return parallel is not None and parallel.sync_batchnorm


@contextmanager
def compiling_for_devices(parallel: DataParallel | None) -> Iterator[None]:
    """Rewrite, convert and trace in here for several devices; None changes nothing."""
    token = _chosen.set(_chosen.get() if parallel is None else parallel)
    try:
        yield
    finally:
        _chosen.reset(token)


def has_rows(variable) -> bool:
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
    own = {v for v in fgraph.inputs if has_rows(v)}
    for node in fgraph.toposort():
        if not isinstance(node.op, AllReduce) and not own.isdisjoint(node.inputs):
            own.update(node.outputs)
    updated = fgraph.update_mapping or {}
    for number, output in enumerate(fgraph.outputs):
        if output in own:
            name = (
                f"the update of {fgraph.inputs[updated[number]]}"
                if number in updated
                else f"output {number}" + (f" ({output.name})" if output.name else "")
            )
            raise ValueError(
                f"{name} depends on a device's own rows: reduce it over the devices by "
                "pytensor.tensor.collectives.all_reduce, or what it is computed from"
            )


def check_statistics(fgraph: FunctionGraph) -> None:
    """Raise an error for a batch normalization whose statistics would be those of own rows."""
    for node in fgraph.toposort():
        if isinstance(node.op, BatchNormalizationTrain | BatchNormalizationTrainGrad):
            raise NotImplementedError(
                f"sync_batchnorm: the normalization of {node.inputs[0]} can't share its statistics "
                "over the devices: it is of float16, in an inner graph, or its mean or variance is "
                "read, or has a gradient, beside the normalized image and running statistics"
            )
        if isinstance(node.op, HasInnerGraph):
            check_statistics(node.op.fgraph)
