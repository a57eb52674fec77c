"""Where the time of a training step goes, by PyTensor's operations.

JAX's profiler writes a trace of what XLA runs, and XLA's program says which node of PyTensor's
graph each of its operations comes from (see `pytensor.link.jax.tuned.scopes`).  The trace itself
can be looked at with https://ui.perfetto.dev, or with the package xprof.
"""

import contextlib
import csv
import gzip
import io
import json
import re
from collections import defaultdict
from typing import NamedTuple

import jax

from pytensor.link.jax.xla_names import operations

UNKNOWN = "(not attributed)"
LARGEST = 15  # nodes that are printed
GRADIENT = re.compile(r"(.+?)(?:Grad|Pullback)\w*$")


class Event(NamedTuple):
    """One run of one operation of XLA's."""

    group: tuple  # what tells the runs of programs apart
    name: str
    seconds: float


class Row(NamedTuple):
    """Time of one node.

    Attributes
    ----------
    kind, name : str
        As in ``kind[name]``; see `pytensor.link.jax.tuned.scopes.scope_name`.
    part : str
        "gradient" where the kind tells, "forward" for kinds that have a gradient among the others,
        else "".
    ms, share : float
        A step, and of all operations together.
    fused_ms : float
        Of those, in fusions with other nodes, whose time can't be told apart.
    runs : float
        Of XLA's operations, a step.
    """

    kind: str
    name: str
    part: str
    ms: float
    share: float
    fused_ms: float
    runs: float


# ------------------------------------------------------------------------------ traces


@contextlib.contextmanager
def traced(folder):
    """Write a trace of what JAX runs into a folder.  All must have ended when the block does."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0  # Python's own calls would fill it
    with jax.profiler.trace(str(folder), profiler_options=options):
        yield


def read_events(folder):
    """Read the operations of XLA's in the trace of a folder.

    Returns
    -------
    list of Event

    Raises
    ------
    FileNotFoundError
        If there is no trace.
    """
    files = sorted(folder.glob("plugins/profile/*/*.trace.json.gz"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no trace of JAX's profiler")
    found = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            found += device_events(json.load(stream)["traceEvents"])
    return found


def device_events(events):
    """Pick the runs of XLA's operations out of a trace's events, as dicts of Chrome's format."""
    names = {
        (e["name"], e["pid"], e.get("tid")): e["args"]["name"]
        for e in events
        if e.get("ph") == "M" and e["name"] in ("process_name", "thread_name")
    }
    processes = {pid: name for (kind, pid, _), name in names.items() if kind == "process_name"}
    threads = {key[1:]: name for key, name in names.items() if key[0] == "thread_name"}
    # A GPU's kernels are there twice: in their streams, and in rows that were made of them.
    streams = {key for key, name in threads.items() if name.startswith("Stream")}
    with_streams = {pid for pid, _ in streams}
    found, ends = [], defaultdict(list)
    for e in sorted((e for e in events if e.get("ph") == "X"), key=lambda e: e["ts"]):
        place = e["pid"], e["tid"]
        on_device = processes.get(e["pid"], "").startswith("/device:")
        if place[0] in with_streams and place not in streams:
            continue
        if "hlo_op" in e.get("args", {}) or on_device:
            found.append(e)
        elif e["name"].startswith("end: "):
            ends[e["name"].removeprefix("end: ")].append(e["ts"])
    return [_event(e, ends) for e in found]


def _event(event, ends):
    arguments = event.get("args", {})
    name = arguments.get("hlo_op", event["name"])
    end = event["ts"] + event["dur"]
    # On a CPU, what other threads go on with ends later, and has an event of its own for that.
    times = ends[name]
    while times and times[0] < event["ts"]:
        times.pop(0)
    if times:
        end = max(end, times.pop(0))
    group = arguments.get("hlo_module"), arguments.get("run_id")
    return Event(group, name, (end - event["ts"]) / 1e6)


# ------------------------------------------------------------------------------ tables


def profile_table(functions, events, steps):
    """Sum up the time of a trace's operations by PyTensor's nodes.

    Parameters
    ----------
    functions : list of (pytensor function, list of arrays)
        Those that were traced, with the arguments of a call; see `xla_names.operations`.
    events : list of Event
        Of `read_events`.
    steps : int
        That were traced.

    Returns
    -------
    list of Row
        Slowest first; what belongs to no node is under the kind `UNKNOWN`.  Times are sums over
        all that runs at the same time.
    """
    return rows_of([operations(f, arguments) for f, arguments in functions], events, steps)


def rows_of(programs, events, steps):
    """As `profile_table`, with each function's operations by name in place of the functions."""
    sums = defaultdict(lambda: [0.0, 0.0, 0])
    for operation, event in _attributed(programs, events):
        if operation is not None and operation.container:
            continue
        scope = UNKNOWN if operation is None or operation.scope is None else operation.scope
        entry = sums[scope]
        entry[0] += event.seconds
        entry[1] += event.seconds * (operation is not None and len(operation.fused) > 1)
        entry[2] += 1
    total = sum(seconds for seconds, _, _ in sums.values())
    kinds = {scope.split("[")[0] for scope in sums}
    rows = []
    for scope, (seconds, fused, runs) in sums.items():
        kind, _, name = scope.partition("[")
        ms, fused_ms = (1e3 * v / steps for v in (seconds, fused))
        share = seconds / total if total else 0.0
        part = part_of(kind, kinds)
        rows.append(Row(kind, name.removesuffix("]"), part, ms, share, fused_ms, runs / steps))
    return sorted(rows, key=lambda row: -row.ms)


def _attributed(programs, events):
    """Pair events with their operations; of other programs than these, none come."""
    groups = defaultdict(list)
    for event in events:
        groups[event.group].append(event)
    for group in groups.values():
        names = {event.name for event in group}
        # Operations of different programs bear the same names: the program that knows most of
        # them is it.
        known = [(len(names & set(program)), program) for program in programs]
        most, program = max(known, key=lambda pair: pair[0], default=(0, {}))
        if 2 * most >= len(names):
            kernels = {name.replace(".", "_").replace("-", "_"): name for name in program}
            for event in group:
                # GPU kernels without the operation's name are called after it
                name = event.name if event.name in program else kernels.get(event.name)
                yield program.get(name), event


def part_of(kind, kinds):
    """Whether a kind of node is of the gradient or of the forward pass, as far as names tell."""
    if GRADIENT.match(kind):
        return "gradient"
    return "forward" if kind in {m[1] for m in map(GRADIENT.match, kinds) if m} else ""


def by_kind(rows):
    """Add up rows of the same kind.

    Returns
    -------
    list of Row
        With the number of nodes as `name`, slowest first.
    """
    kinds = defaultdict(list)
    for row in rows:
        kinds[row.kind, row.part].append(row)
    return sorted(
        (
            Row(
                kind, str(len(v)), part, *(sum(r[i] for r in v) for i in range(3, len(Row._fields)))
            )
            for (kind, part), v in kinds.items()
        ),
        key=lambda row: -row.ms,
    )


def as_text(rows, steps):
    """The table that is printed: time by kind, and the slowest nodes."""
    kinds = by_kind(rows)
    total, fused = sum(row.ms for row in kinds), sum(row.fused_ms for row in kinds)
    unknown = sum(row.share for row in kinds if row.kind == UNKNOWN)
    lines = [
        f"{total:.2f} ms a step in XLA's operations, mean of {steps} steps; "
        f"{share(fused, total)} of it in fusions of several nodes, counted where a fusion ends; "
        f"{100 * unknown:.1f} % belong to no node",
        f"{'ms':>9} {'share':>6} {'fused':>6} {'nodes':>5} {'runs':>7}  kind",
    ]
    lines += [
        f"{row.ms:9.3f} {100 * row.share:5.1f}% {share(row.fused_ms, row.ms):>6} {row.name:>5} "
        f"{row.runs:7.1f}  {row.kind}{f' ({row.part})' if row.part else ''}"
        for row in kinds
    ]
    slowest = [row for row in rows if row.name][:LARGEST]
    if slowest:
        lines += ["slowest nodes with a name:"]
        lines += [
            f"{row.ms:9.3f} {100 * row.share:5.1f}%  {row.kind}[{row.name}]" for row in slowest
        ]
    return "\n".join(lines) + "\n"


def share(part, whole):
    """Percentage as text."""
    return f"{100 * part / whole:.0f}%" if whole else "0%"


def as_csv(rows):
    """The rows of all nodes."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(Row._fields)
    writer.writerows(rows)
    return text.getvalue()
