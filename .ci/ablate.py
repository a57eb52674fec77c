"""Leave out one mechanism at a time, and see what changes in programs that users run.

`.ci/structure.py --ablate` runs this. `ablate_guards` says what a mechanism is, `ablate_programs`
has the programs.

Each program runs with everything in place, which shows the mechanisms that it enters. Then each
mechanism is left out of at most `--most` programs that enter it, from all groups. It is a candidate
to go if the results stay the same, no graph is refused, no more programs are compiled and no call
takes longer. In the end all candidates are left out at once, because one may cover for another.

A rewrite or a pass is entered if it changes a graph, a conversion if it converts a node. A result
is the same if its dtype and shape are, and its entries differ by less than the root of the dtype's
precision, relative to the largest. No program has bad input, so a check changes nothing here.
"""

import os
import platform
import re
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import ablate_programs
import numpy as np
from ablate_guards import Outcome, list_programs, prepare, run

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "thoughts" / "shared" / "research" / "what_bears_a_load.md"
# A time is longer if it exceeds the other one by this factor, and by these seconds.
LONGER = {"first": (1.5, 0.3), "later": (1.5, 1e-3)}


def is_same(a, b):
    """Return whether two arrays are equal except for rounding."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    largest = np.max(np.abs(a[np.isfinite(a)]), initial=0)
    tolerance = np.sqrt(np.finfo(a.dtype).eps) * largest
    return np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True)


def are_same(whole, without):
    """Return whether two outcomes have the same results."""
    same = len(whole.results) == len(without.results)
    return same and all(map(is_same, whole.results, without.results))


class Worker:
    """A process that runs one program after another, and a new one if it ends."""

    def __init__(self):
        self._pool = None

    def ask(self, function, *args):
        """Return what a function returns there; an `Outcome` if it ends the process."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"), prepare)
        try:
            return self._pool.submit(function, *args).result()
        except BrokenProcessPool:
            self._pool = None
            return Outcome(error="it ended the process")


@dataclass
class Trials:
    """Programs with everything in place, and without something."""

    names: list = field(default_factory=list)
    changed: list = field(default_factory=list)
    refused: list = field(default_factory=list)
    pairs: list = field(default_factory=list)

    def add(self, name, whole, without):
        """Add a program's outcomes."""
        self.names.append(name)
        if without.error:
            self.refused.append(name)
            return
        self.pairs.append((whole, without))
        if not are_same(whole, without):
            self.changed.append(name)

    def sums(self, fact):
        """Return sums of a fact with everything and without something, where nothing is refused."""
        return [sum(getattr(pair[side], fact) for pair in self.pairs) for side in (0, 1)]

    def changes_nothing(self):
        """Return whether what was left out may go, as far as these programs tell."""
        few, more = self.sums("compiled")
        times = [(*self.sums(fact), *longer) for fact, longer in LONGER.items()]
        slower = any(without > factor * whole + more for whole, without, factor, more in times)
        return not (self.changed or self.refused or more > few or slower)


@dataclass
class Found:
    """The trials of all mechanisms, and the programs that ran."""

    programs: Counter = field(default_factory=Counter)  # how many of each group ran
    listed: Counter = field(default_factory=Counter)  # how many each group has
    entering: dict = field(default_factory=lambda: defaultdict(list))  # programs by mechanism
    failed: dict = field(default_factory=dict)  # errors of programs with everything in place
    known: set = field(default_factory=set)  # mechanisms that are registered
    trials: dict = field(default_factory=lambda: defaultdict(Trials))
    together: Trials = field(default_factory=Trials)  # without all candidates

    def candidates(self):
        """Return the mechanisms without which nothing changes."""
        return sorted(m for m, trials in self.trials.items() if trials.changes_nothing())


def spread(items, most):
    """Return some of the items, `most` of them at most, at equal distances."""
    return items[:: -(-len(items) // most)]


def group_of(label):
    """Return the name of a program's group."""
    return label.partition("/")[0]


def ablate(groups, jobs, most):
    """Leave out mechanisms of programs; Ctrl-C ends it after the programs that are running.

    Parameters
    ----------
    groups : dict of str to callable
        Functions that can be pickled, and return programs by their names: functions, too.
    jobs : int
        Number of processes that run programs.
    most : int
        Number of programs that each mechanism is left out of.

    Returns
    -------
    Found
    """
    found, local = Found(), threading.local()

    def ask(*task):
        if not hasattr(local, "worker"):
            local.worker = Worker()
        return local.worker.ask(*task)

    def enter(task):
        label, *program = task
        outcome = ask(run, *program, ())
        print(f"{label}: {outcome.error or f'{len(outcome.entered)} mechanisms'}", flush=True)
        return outcome

    def leave_out(task, mechanisms):
        label, *program = task
        whole = ask(run, *program, ())
        if whole.error or not are_same(first[label], whole):
            return whole.error or "its results differ from run to run", whole, {}
        print(f"{label} without {', '.join(map(str, mechanisms))}", flush=True)
        return "", whole, {gone: ask(run, *program, gone) for gone in mechanisms}

    def each(function, arguments):
        futures = {given[0][0]: threads.submit(function, *given) for given in arguments}
        try:
            wait(futures.values())
        except KeyboardInterrupt:
            for future in futures.values():
                future.cancel()
        return {label: f.result() for label, f in futures.items() if not f.cancelled()}

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        os.environ["ABLATE_FOLDER"] = folder
        tasks = [
            (f"{name}/{program}", group, program)
            for name, group in groups.items()
            for program in threads.submit(ask, list_programs, group).result()
        ]
        found.listed.update(group_of(label) for label, *_ in tasks)
        first = each(enter, [(task,) for task in tasks])
        found.programs.update(map(group_of, first))
        found.known = {*chain.from_iterable(outcome.known for outcome in first.values())}
        found.failed = {label: outcome.error for label, outcome in first.items() if outcome.error}
        tasks = [task for task in tasks if task[0] in first.keys() - found.failed]
        for task in tasks:
            for mechanism in sorted(first[task[0]].entered):
                found.entering[mechanism].append(task)
        chosen = {(name,): spread(entering, most) for name, entering in found.entering.items()}

        def run_without(chosen):
            mine = [(t, [gone for gone, some in chosen.items() if t in some]) for t in tasks]
            done = each(leave_out, [(task, gone) for task, gone in mine if gone])
            for label, (error, outcome, without) in done.items():
                if error:
                    found.failed[label] = error
                yield from ((gone, label, outcome, other) for gone, other in without.items())

        for (mechanism,), *outcomes in run_without(chosen):
            found.trials[mechanism].add(*outcomes)
        gone = tuple(found.candidates())
        touched = [task for name in gone for task in chosen[name,]]
        for _, *outcomes in run_without({gone: touched}):
            found.together.add(*outcomes)
    return found


def row(name, trials, entering):
    """Return a row of the table."""
    compiled, first, later = (trials.sums(fact) for fact in ("compiled", "first", "later"))
    cells = (
        f"`{name}`", f"{len(trials.names)} of {entering}",
        len(trials.changed) or "", len(trials.refused) or "",
        "{} → {}".format(*compiled), "{:.1f} → {:.1f}".format(*(1e3 * t for t in later)),
        "{:.1f} → {:.1f}".format(*first),
        ", ".join(dict.fromkeys([*trials.changed[:2], *trials.refused[:2]])),
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |\n"


def machine():
    """Return the number of cores and the processor."""
    facts = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", facts.read_text() if facts.exists() else "")
    return f"{os.cpu_count()} cores of {model[1] if model else platform.machine()}"


def page(found, command, seconds):
    """Return what was found as Markdown."""
    groups = ", ".join(f"{g} ({found.programs[g]} of {n})" for g, n in found.listed.items())
    candidates = found.candidates()
    entries = sorted(found.trials.items(), key=lambda pair: (pair[1].changes_nothing(), pair[0]))
    unused = sorted(found.known - {*found.trials})
    text = f"""# What bears a load

`{command}`, {seconds / 60:.0f} minutes on {machine()}, {date.today():%B %Y}.

Programs: {groups}. `.ci/ablate.py` says how mechanisms are left out, and when a result counts as
changed. Each was left out of some of the programs that enter it. An arrow leads from the sum with
everything in place to the sum without the mechanism, over the programs that aren't refused. A call
is the fastest one after the first.

| mechanism | programs | changed | refused | compiled | call, ms | first call, s | such as |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
"""
    text += "".join(row(name, trials, len(found.entering[name])) for name, trials in entries)
    if candidates:
        text += row("all candidates at once", found.together, len(found.together.names))
    text += f"""
Candidates to go ({len(candidates)}): {", ".join(f"`{m}`" for m in candidates)}

Entered by none of these programs ({len(unused)}): {", ".join(f"`{m}`" for m in unused)}
"""
    if found.failed:
        text += "\nSet aside, because they fail with everything in place:\n\n"
        text += "".join(f"- {name}: {error}\n" for name, error in sorted(found.failed.items()))
    return text


def main(only, jobs, most, checkout):
    """Run groups of programs, or the tests of a checkout of PyTensor, and write the page."""
    groups = dict(ablate_programs.GROUPS)
    if checkout:
        groups = {"suites": partial(ablate_programs.suites, str(checkout.resolve()))}
    if unknown := {*only} - {*groups}:
        raise SystemExit(f"structure: no group {sorted(unknown)}; there are {sorted(groups)}")
    begun = time.monotonic()
    found = ablate({name: groups[name] for name in only or groups}, jobs, most)
    command = " ".join(["python .ci/structure.py", *sys.argv[1:]])
    PAGE.write_text(page(found, command, time.monotonic() - begun))
    return 0
