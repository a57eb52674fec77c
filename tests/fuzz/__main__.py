"""Compare linkers, and the way to ONNX and back, on many random graphs.

    python -m tests.fuzz --graphs 10000 --jobs 2 --out FILE.json [--start 0]
    python -m tests.fuzz --values ...            # graphs with integers, indices and masks, in ONNX
    python -m tests.fuzz --show 1234             # one graph, and what each linker makes of it
    python -m tests.fuzz --shrink 1234 --linker JAX

The operators of the catalogue are drawn from number 10,000 on.

Graphs are done in shards, a process each. What is done stands in ``FILE.jsonl``, where the same
command goes on after an interruption; a process that ends before its time counts as wrong for the
graph that it was at, and what it said stands in ``FILE.log``.  ``FILE.json`` is a summary.
"""

import os

# Before the first import of pytensor or jax, which read these once: with floatX=float64, JAX has
# both dtypes.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float64,traceback__limit=0", os.environ.get("PYTENSOR_FLAGS")])
)

import argparse
import json
import platform
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from tests.catalogue.random_graphs.programs import SIZES, fits, random_graph
from tests.fuzz.compare import LINKERS, OTHER_DTYPE, UNGUARDED, Comparison
from tests.fuzz.shrink import shrink
from tests.fuzz.values import JUDGES, Judges, case_of

SHARD = 4 * SIZES
SILENCE = 900  # seconds in which a process has to finish a graph


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--start", type=int, default=0, help="number of the first (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--out", type=Path, default=Path("fuzz.json"), help="summary's file")
    parser.add_argument("--values", action="store_true", help="draw graphs with their values")
    parser.add_argument("--linkers", help="names, with commas; also 'round trip in MODE'")
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print one graph's results")
    parser.add_argument("--shrink", type=int, metavar="NUMBER", help="make a wrong graph small")
    parser.add_argument("--linker", default="jax_mode", help="the one that --shrink looks at")
    parser.add_argument("--shard", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.linkers = options.linkers or ",".join(JUDGES if options.values else LINKERS)
    return options


def work(start, stop, linkers, values):
    """Do what a shard's process does: print a line of JSON as a graph begins, and as it is done."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever else is printed
    compare = Judges(linkers) if values else Comparison(linkers)
    for number in range(start, stop):
        print(json.dumps({"begun": number}), file=answers)
        verdict = compare(number if values else random_graph(number))
        record = {"graph": number, **vars(verdict)}
        record["seconds"] = {k: round(v, 3) for k, v in verdict.seconds.items()}
        print(json.dumps(record), file=answers)


class Run:
    """All shards of a run, and the file of what is done."""

    def __init__(self, options):
        self.options = options
        self.lines = options.out.with_suffix(".jsonl")
        self.lock = threading.Lock()
        self.records = {}
        if self.lines.exists():
            for line in self.lines.read_text().splitlines():
                record = json.loads(line)
                self.records[record["graph"]] = record

    def shards(self):
        numbers = range(self.options.start, self.options.start + self.options.graphs)
        for begin in range(numbers.start - numbers.start % SHARD, numbers.stop, SHARD):
            missing = [n for n in range(begin, begin + SHARD) if n in numbers]
            missing = [n for n in missing if n not in self.records]
            if missing:
                yield missing[0], missing[-1] + 1

    def keep(self, record):
        with self.lock:
            self.records[record["graph"]] = record
            with self.lines.open("a") as file:
                file.write(json.dumps(record) + "\n")
            for linker, fault in record["wrong"].items():
                if linker != UNGUARDED:
                    print(f"graph {record['graph']}: {linker}: {fault}", flush=True)
            if len(self.records) % SHARD == 0:
                print(f"{len(self.records)} graphs done", flush=True)

    def shard(self, bounds):
        start, stop = bounds
        while start < stop:
            start = self.process(start, stop)

    @staticmethod
    def next_line(child):
        watchdog = threading.Timer(SILENCE, child.kill)
        watchdog.start()
        try:
            return child.stdout.readline()
        finally:
            watchdog.cancel()

    def process(self, start, stop):
        """Run a process from one graph to another; returns the number to go on with."""
        command = [sys.executable, "-m", "tests.fuzz", "--shard", "--start", str(start)]
        command += ["--graphs", str(stop - start), "--linkers", self.options.linkers]
        command += ["--values"] * self.options.values
        at = start
        with (
            self.options.out.with_suffix(".log").open("a") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as child,
        ):
            while line := self.next_line(child):
                record = json.loads(line)
                at = record.get("begun", at)
                if "graph" in record:
                    at = record["graph"] + 1
                    self.keep(record)
        code = child.returncode
        if at < stop:
            fault = f"the process ended with {code}, or was silent for {SILENCE} s"
            self.keep(
                {"graph": at, "wrong": {"process": fault}, "refused": {}, "vague": 0, "seconds": {}}
            )
            return at + 1
        return stop


def summarize(run):
    """Return the summary that is kept: counts, and which graphs are wrong."""
    records = [run.records[number] for number in sorted(run.records)]
    wrong, dtypes = defaultdict(list), Counter()
    refused, reasons = Counter(), Counter()
    seconds = Counter()
    for record in records:
        for linker, fault in record["wrong"].items():
            wrong[linker].append(record["graph"])
            dtypes[linker] += f": {OTHER_DTYPE} " in fault
        for linker, reason in record["refused"].items():
            refused[linker] += 1
            reasons[f"{linker}: {reason}"] += 1
        seconds.update(record["seconds"])
    linkers = run.options.linkers.split(",")
    crashed = len(wrong.get("process", []))
    return {
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "versions": {
            name: version(name)
            for name in ("pytensor", "jax", "jaxlib", "numba", "onnx", "onnxruntime", "numpy")
        },
        "graphs": len(records),
        "first": records[0]["graph"],
        "last": records[-1]["graph"],
        "vague": sum(bool(record["vague"]) for record in records),
        "crashed": wrong.pop("process", []),
        "linkers": {
            linker: {
                "compared": len(records) - refused[linker] - crashed,
                "wrong": len(wrong[linker]),
                "wrong in dtype only": dtypes[linker],
                "refused": refused[linker],
                "seconds per graph": round(seconds[linker] / len(records), 3),
                "wrong graphs": wrong[linker],
            }
            for linker in linkers
        },
        "seconds per graph": round(sum(seconds.values()) / len(records), 3),
        "refusals": dict(reasons.most_common()),
    }


def table(summary):
    lines = [f"{'linker':14}{'compared':>10}{'wrong':>8}{'(dtype)':>9}{'refused':>9}{'s/graph':>9}"]
    for name, row in summary["linkers"].items():
        lines.append(
            f"{name:14}{row['compared']:10}{row['wrong']:8}{row['wrong in dtype only']:9}"
            f"{row['refused']:9}{row['seconds per graph']:9.2f}"
        )
    lines += [f"{count:6} refused: {reason}" for reason, count in summary["refusals"].items()]
    lines.append(f"{len(summary['crashed'])} ended the process: {summary['crashed']}")
    lines.append(f"{summary['vague']} with results that are mostly rounding")
    return "\n".join(lines)


def show(graph, verdict, linkers):
    print(graph)
    for linker in linkers:
        print(f"{linker}: {verdict.wrong.get(linker) or verdict.refused.get(linker) or 'right'}")


def print_smallest(number, linker):
    graph = random_graph(number)

    def is_wrong(candidate):
        try:
            return fits(candidate) and linker in Comparison([linker])(candidate).wrong
        # a candidate that can't be built or computed in Python is no smaller graph
        except Exception:
            return False

    if not is_wrong(graph):
        sys.exit(f"graph {number} isn't wrong in {linker}")
    smallest = shrink(graph, is_wrong)
    show(smallest, Comparison([linker])(smallest), [linker])


def main():
    options = arguments()
    linkers = options.linkers.split(",")
    stop = options.start + options.graphs
    if options.shard:
        return work(options.start, stop, linkers, options.values)
    if options.show is not None and options.values:
        return show(case_of(options.show)[0], Judges(linkers)(options.show), linkers)
    if options.show is not None:
        graph = random_graph(options.show)
        return show(graph, Comparison(linkers)(graph), linkers)
    if options.shrink is not None:
        return print_smallest(options.shrink, options.linker)
    run = Run(options)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run.shard, run.shards()))
    summary = summarize(run)
    options.out.write_text(json.dumps(summary, indent=1) + "\n")
    print(table(summary))
    failed = any(row["wrong"] for name, row in summary["linkers"].items() if name != UNGUARDED)
    return sys.exit(1 if failed or summary["crashed"] else 0)


if __name__ == "__main__":
    main()
