"""Write a benchmark's result as JSON, and its figures as rows of `results.csv`."""

import csv
import json
import shlex
import subprocess
import sys
from pathlib import Path

from benchmarks.common.child import ROOT
from benchmarks.common.machine import VERSIONED, machine

RESULTS = ROOT / "benchmarks" / "results.csv"
COLUMNS = ("figure", "value", "low", "high", "machine", "versions", "commit", "command")
# What names the same measurement: a later one replaces it.
SAME = ("figure", "machine", "command")
RANGES = (
    ("median", "min", "max"), ("median", "", "p90"), ("mean", "low", "high"),
    ("mean", "min", "max"),
)  # fmt: skip


def add_options(parser, json=True):
    """Add ``--record``, and ``--json``, to a command line."""
    if json:
        parser.add_argument("--json", type=Path, help="file to write the whole result to")
    parser.add_argument(
        "--record", type=Path, nargs="?", const=RESULTS, metavar="CSV",
        help="put the figures into a table; without a name, benchmarks/results.csv",
    )  # fmt: skip


def save(options, result, figures=None, facts=None):
    """Write what the command line asks for.

    Parameters
    ----------
    options : argparse.Namespace
        Of `add_options`.
    result : dict
        For ``--json``.
    figures : dict, optional
        For ``--record``; see `rows_of`.  None writes no rows.
    facts : dict, optional
        What `machine` returned.
    """
    if getattr(options, "json", None):
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if options.record and figures is not None:
        record(options.record, figures, facts)


def record(path, figures, facts=None):
    """Put figures into a table, in place of older ones of the same command and machine."""
    facts = facts or machine()
    cores = f"{facts['cores']} cores"
    device = facts.get("device_kind", "cpu")
    place = [facts["processor"], cores, *([device] if device != "cpu" else [])]
    versions = [f"{name} {facts[name]}" for name in facts if name in VERSIONED]
    common = {
        "machine": ", ".join(place), "versions": ", ".join(versions), "commit": commit(),
        "command": command(),
    }  # fmt: skip
    new = [dict(zip(COLUMNS, row, strict=False)) | common for row in rows_of(figures)]
    replaced = {tuple(row[name] for name in SAME) for row in new}
    rows = read(path) if path.exists() else []
    rows = [row for row in rows if tuple(row[name] for name in SAME) not in replaced]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, *new])


def read(path=RESULTS):
    """Return the rows of a table, each a dict of text by `COLUMNS`."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of(figures, path=()):
    """Yield figure, value, low and high of a tree of figures.

    Parameters
    ----------
    figures : dict
        By name, another dict, a number, or text.  Three numbers in a list, or a median or a mean
        with its range, are a row of value, low and high; so is a median with its 90th percentile,
        which is the row's high.  None is left out.
    path : tuple of str
        Names that stand before.

    Yields
    ------
    tuple of str
        The figure is its names, with " > " between them.
    """
    if isinstance(figures, dict):
        names = next((names for names in RANGES if figures.keys() >= {*names} - {""}), None)
        if names is None:
            for name, value in figures.items():
                yield from rows_of(value, (*path, str(name)))
            return
        values = [figures.get(name) for name in names]
    elif isinstance(figures, list | tuple):
        low, middle, high = figures
        values = middle, low, high
    else:
        values = figures, None, None
    if values[0] is not None:
        yield " > ".join(path), *map(shorten, values)


def shorten(value):
    """Return a number with five digits, other values as they are, None as nothing."""
    if isinstance(value, float):
        return f"{value:.5g}"
    return "" if value is None else str(value)


def command():
    """Return the command line of this process, without ``--record``."""
    main = sys.modules["__main__"].__spec__
    module, words = main.name if main else Path(sys.argv[0]).name, sys.argv[1:]
    for option in ("--record", "--json"):
        if option in words:
            place = words.index(option)
            has_value = place + 1 < len(words) and not words[place + 1].startswith("-")
            del words[place : place + 1 + has_value]
    return shlex.join(["python", "-m", module, *words])


def commit():
    """Return the commit that is measured, with "-dirty" where files differ from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    return described.stdout.strip()
