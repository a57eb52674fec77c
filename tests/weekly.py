"""List the cases that the weekly run alone has, for ``tests/conftest.py``.

A case is a test with one set of its parameters. Those over 0.1 s that execute no line but
what others do are left to the weekly run; at least one case of each test stays, and so do all in a
browser, whose scripts no coverage is measured of.

Empty the list, run the tests with the lines that each executes, and list the cases anew:

    .venv/bin/pip install coverage
    mkdir -p build/coverage && : > tests/weekly_cases.txt
    ROOT=$PWD PYTHONPATH=$PWD COVERAGE_PROCESS_START=$PWD/tests/coverage.ini \\
        .venv/bin/pytest -p tests.weekly -n 3 --dist loadfile --junitxml=build/tests.xml
    .venv/bin/python -m tests.weekly build/tests.xml build/coverage > tests/weekly_cases.txt

Forty minutes on two cores. Times are best those of another run, for measuring lines takes time.
What cases share, as a compiled function, counts for the first: if it goes, the next one pays.
"""

import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

SECONDS = 0.1
ROOT = Path(__file__).parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    """Have what is executed from now on counted for this test."""
    from coverage import Coverage

    current = Coverage.current()
    if current is not None:
        current.switch_context(nodeid)


def seconds_of_cases(report):
    """Return the seconds of each test by its name, by a JUnit report."""
    seconds = {}
    for case in ElementTree.parse(report).iter("testcase"):
        folders, classes = case.get("classname").split("."), [case.get("name")]
        while folders and not ROOT.joinpath(*folders).with_suffix(".py").exists():
            classes.insert(0, folders.pop())
        seconds["::".join(["/".join(folders) + ".py", *classes])] = float(case.get("time"))
    return seconds


def lines_of_cases(folder):
    """Return the lines that each test executes, and those that are executed without a test.

    A test's own processes have its name, as pytest gives it to them, in their environment.
    """
    from coverage import CoverageData

    lines, always = defaultdict(set), set()
    for path in Path(folder).glob("data.*"):
        data = CoverageData(path)
        data.read()
        for name in data.measured_files():
            for line, contexts in data.contexts_by_lineno(name).items():
                for context in contexts:
                    test = re.sub(r" \((setup|call|teardown)\)$", "", context)
                    (lines[test] if test else always).add((name, line))
    return lines, always


def weekly_cases(seconds, lines, always):
    """Return the cases to leave to the weekly run, the longest first."""
    executed = Counter(line for test in lines.values() for line in test)
    cases = Counter(name.partition("[")[0] for name in seconds)
    chosen = []
    for name in sorted(seconds, key=seconds.get, reverse=True):
        test = name.partition("[")[0]
        if seconds[name] < SECONDS or cases[test] == 1 or "/page/" in test:
            continue
        # Of a process that was killed, or has files of its own, no lines are known.
        if lines[name] and all(line in always or executed[line] > 1 for line in lines[name]):
            chosen.append(name)
            cases[test] -= 1
            executed.subtract(lines[name])
    return chosen


if __name__ == "__main__":
    print(*weekly_cases(seconds_of_cases(sys.argv[1]), *lines_of_cases(sys.argv[2])), sep="\n")
