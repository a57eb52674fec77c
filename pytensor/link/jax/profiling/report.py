"""Where the time of a compiled function goes, by the nodes of PyTensor's graph.

::

    from pytensor.link.jax.profiling.report import profile

    step = pytensor.function([x, y], loss, updates=updates, mode=jax_mode())
    print(profile(step, images, targets))

JAX's profiler writes a trace of what XLA runs, and XLA's program says which node each of its
operations comes from.  `jax_mode` gives it the nodes' names, which
`pytensor.link.jax.profiling.node_names` makes; PyTensor's own mode "JAX" does not.  A trace that is
kept in a folder can be looked at with https://ui.perfetto.dev, or with the package xprof.
"""

import contextlib
import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jax

from pytensor.compile.executor import Function
from pytensor.link.jax.profiling.attribution import Operation, operations

__all__ = ["Profile", "Row", "profile", "read_profile", "trace"]

UNKNOWN = "(not attributed)"


class Run(NamedTuple):
    """One run of one of XLA's operations."""

    program: tuple[Any, ...]  # what tells the runs of programs apart
    name: str
    seconds: float


class Row(NamedTuple):
    """Time of the nodes of a name, or of a kind.

    Attributes
    ----------
    kind : str
        Of the node, such as ``"Conv"`` or ``"Elemwise.Mul"``.
    name : str
        Of a variable that the node reads or makes, "" if it has none; for a kind, how many rows
        it has.  See `pytensor.link.jax.profiling.node_names.scope_name`.
    ms : float
        Milliseconds a call, the sum over all that runs at the same time.
    share : float
        Of the time of all operations, 0 to 1.
    fused_ms : float
        How much of `ms` was in fusions with other nodes, whose times can't be told apart.
    """

    kind: str
    name: str
    ms: float
    share: float
    fused_ms: float


@dataclass(frozen=True)
class Profile:
    """The time of some calls of compiled functions.  Printed, it is a table.

    Attributes
    ----------
    rows : list of Row
        One for each name of a node, slowest first; nodes of a kind with the same name, or without
        one, share a row.  What belongs to no node has the kind ``"(not attributed)"``.
    calls : int
        How many were measured.
    """

    rows: list[Row]
    calls: int

    def by_kind(self) -> list[Row]:
        """Add up the nodes of each kind, slowest first."""
        kinds: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            kinds[row.kind].append(row)
        sums = [
            Row(kind, str(len(rows)), *map(sum, zip(*(row[2:] for row in rows), strict=True)))
            for kind, rows in kinds.items()
        ]
        return sorted(sums, key=lambda row: -row.ms)

    def table(self, nodes: int | None = 15) -> str:
        """Return the times by kind, and the times of the slowest nodes that have a name.

        Parameters
        ----------
        nodes : int, optional
            How many nodes at most; all of them if None.
        """
        kinds = self.by_kind()
        total = sum(row.ms for row in kinds)
        unknown = sum(row.share for row in kinds if row.kind == UNKNOWN)
        lines = [
            f"{total:.2f} ms a call in XLA's operations, mean of {self.calls} calls; "
            f"{_share(sum(row.fused_ms for row in kinds), total)} of it in fusions of several "
            "nodes, counted for the node where the fusion ends; "
            f"{100 * unknown:.1f} % belong to no node",
            f"{'ms':>9} {'share':>6} {'fused':>6} {'names':>5}  kind",
        ]
        lines += [
            f"{row.ms:9.3f} {100 * row.share:5.1f}% {_share(row.fused_ms, row.ms):>6} "
            f"{row.name:>5}  {row.kind}"
            for row in kinds
        ]
        named = [row for row in self.rows if row.name][:nodes]
        lines += ["slowest nodes that have a name:"] if named else []
        lines += [f"{r.ms:9.3f} {100 * r.share:5.1f}%  {r.kind}[{r.name}]" for r in named]
        return "\n".join(lines)

    __str__ = table


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def profile(
    function: Function, *arguments: Any, calls: int = 10, warm_up: int = 3,
    folder: str | os.PathLike[str] | None = None,
) -> Profile:  # fmt: skip
    """Measure the time of a compiled function by PyTensor's nodes.

    Parameters
    ----------
    function : pytensor function
        Compiled with ``mode=jax_mode()``, whose programs have the nodes' names; in mode "JAX" all
        time belongs to no node.  If it updates shared variables, they change with every call.
    *arguments : array or number
        Of a call.
    calls, warm_up : int
        How many are measured, and how many come before them: the first ones compile.
    folder : path-like, optional
        Where the trace is kept, as ``plugins/profile/<time>/*.xplane.pb`` and ``*.trace.json.gz``.

    Returns
    -------
    Profile

    Raises
    ------
    TypeError
        If JAX didn't compile the function.

    Notes
    -----
    What ran must have the names of this graph.  A program from JAX's cache on disk has those that
    it was compiled with: before the function is compiled, give ``with_names=True`` to
    `pytensor.link.jax.mode.store.compilation_cache.use_cache`, or switch the cache off.
    ``jax_mode(keep_programs=True)`` may run another program than JAX would: leave it out.
    """
    if not hasattr(function.vm, "jit_fn"):
        raise TypeError("profile: JAX didn't compile the function; compile it with mode=jax_mode()")

    def call(times: int) -> None:
        outputs = [function(*arguments) for _ in range(times)]
        updated = [container.storage[0] for container in function.input_storage]
        jax.block_until_ready([outputs, updated])

    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(TemporaryDirectory())
        call(warm_up)
        with trace(folder):
            call(calls)
        return read_profile(folder, [(function, arguments)], calls)


@contextlib.contextmanager
def trace(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Write a trace of what JAX runs into a folder.  All must have ended when the block does.

    For code that calls functions by itself, a training loop say; `read_profile` reads it.
    """
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0  # Python's own calls would fill it
    with jax.profiler.trace(str(folder), profiler_options=options):
        yield


def read_profile(
    folder: str | os.PathLike[str], functions: Iterable[tuple[Function, Sequence[Any]]], calls: int
) -> Profile:
    """Sum up the time of a trace's operations by PyTensor's nodes.

    Parameters
    ----------
    folder : path-like
        With one trace or more.
    functions : iterable of (pytensor function, sequence of arrays or jax.ShapeDtypeStruct)
        What ran, with the arguments of a call or what they are like.  The time of others is left
        out.
    calls : int
        By which the sums are divided: steps of a training, say.

    Returns
    -------
    Profile

    Raises
    ------
    FileNotFoundError
        If there is no trace.
    """
    files = sorted(Path(folder).glob("plugins/profile/*/*.xplane.pb"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no trace of JAX's profiler")
    data = [jax.profiler.ProfileData.from_file(str(file)) for file in files]
    with warnings.catch_warnings():
        # JAX's own, at the first statistics of an event
        warnings.filterwarnings("ignore", "builtin type event_stats", DeprecationWarning)
        runs = [run for d in data for run in runs_of(d.planes)]
    programs = [operations(function, arguments) for function, arguments in functions]
    return Profile(rows_of(programs, runs, calls), calls)


def runs_of(planes: Iterable[Any]) -> list[Run]:
    """Pick the runs of XLA's operations out of the planes of a trace."""
    found: list[tuple[float, float, str, dict[str, Any]]] = []
    ends: dict[str, list[float]] = defaultdict(list)
    for plane in planes:
        lines = list(plane.lines)
        # A GPU's kernels are there twice: in their streams, and in lines that were made of them.
        streams = [line for line in lines if line.name.startswith("Stream")]
        for event in (event for line in streams or lines for event in line.events):
            stats = dict(event.stats)
            if "hlo_op" in stats or plane.name.startswith("/device:"):
                found.append((event.start_ns, event.duration_ns, event.name, stats))
            elif event.name.startswith("end: "):
                ends[event.name.removeprefix("end: ")].append(event.start_ns)
    for times in ends.values():
        times.sort(reverse=True)
    return [_run(*event, ends) for event in sorted(found, key=lambda event: event[0])]


def _run(
    start: float, duration: float, name: str, stats: Mapping[str, Any], ends: dict[str, list[float]]
) -> Run:
    name = stats.get("hlo_op", name)
    # On a CPU, what other threads go on with ends later, and has an event of its own for that.
    times = ends[name]
    while times and times[-1] < start:
        times.pop()
    end = max(start + duration, times.pop() if times else 0)
    return Run((stats.get("hlo_module"), stats.get("run_id")), name, (end - start) / 1e9)


def rows_of(
    programs: Sequence[Mapping[str, Operation]], runs: Iterable[Run], calls: int
) -> list[Row]:
    """Sum up runs by node; each program is a dict of Operation by name."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for operation, seconds in _attributed(programs, runs):
        if operation is None:
            sums[UNKNOWN][0] += seconds
        elif not operation.container:
            entry = sums[operation.scope or UNKNOWN]
            entry[0] += seconds
            entry[1] += seconds * operation.shared
    total = sum(seconds for seconds, _ in sums.values())
    rows = []
    for scope, (seconds, fused) in sums.items():
        kind, _, name = scope.removesuffix("]").partition("[")
        rows.append(Row(kind, name, 1e3 * seconds / calls, seconds / total, 1e3 * fused / calls))
    return sorted(rows, key=lambda row: -row.ms)


def _attributed(
    programs: Sequence[Mapping[str, Operation]], runs: Iterable[Run]
) -> Iterator[tuple[Operation | None, float]]:
    """Pair the seconds of runs with their operations; other programs are left out."""
    groups: dict[tuple[Any, ...], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.program].append(run)
    for group in groups.values():
        names = {run.name for run in group}
        # Operations of different programs bear the same names: the program that knows most of
        # them is the one that ran.
        program = max(programs, key=lambda program: len(names & program.keys()), default={})
        if 2 * len(names & program.keys()) >= len(names):
            # GPU kernels without the operation's name are called after it.
            kernels = {name.replace(".", "_").replace("-", "_"): name for name in program}
            for run in group:
                yield program.get(run.name, program.get(kernels.get(run.name, ""))), run.seconds
