"""List the files whose tests are the longest, as ``tests/conftest.py`` begins with them.

    python -m tests.longest_files build/tests.xml > tests/longest_files.txt

The argument is a report of a run of all tests: ``pytest --junitxml=build/tests.xml``.  The longest
come first, but of those with a browser, which wait for it now and then, about one runs at a time,
beside others that have work.
"""

import sys
from collections import Counter
from heapq import heapify, heapreplace
from pathlib import Path
from xml.etree import ElementTree

NUMBER = 60
WORKERS = 3  # as README.md starts them


def longest_files(report):
    """Return names below ``tests`` of the files that took the longest, by a JUnit report."""
    seconds, tests = Counter(), Path(__file__).parent
    for case in ElementTree.parse(report).iter("testcase"):
        *folders, name = case.get("classname").split(".")
        while folders and not (tests.parent.joinpath(*folders) / f"{name}.py").exists():
            name = folders.pop()  # a class of tests within the file
        seconds["/".join([*folders[1:], f"{name}.py"])] += float(case.get("time"))
    return one_browser_at_a_time(dict(seconds.most_common(NUMBER)))


def has_browser(name):
    return "/page/" in name


def one_browser_at_a_time(seconds):
    """Return names of files, the longest first, with a browser in one at a time where it can be.

    `seconds` has the time of each by its name.
    """
    waiting = sorted(seconds, key=seconds.get, reverse=True)
    workers, browser, order = [0.0] * WORKERS, 0.0, []  # when each is free
    heapify(workers)
    while waiting:
        now = workers[0]
        fitting = (name for name in waiting if has_browser(name) == (now >= browser))
        name = next(fitting, waiting[0])
        waiting.remove(name)
        order.append(name)
        heapreplace(workers, now + seconds[name])
        if has_browser(name):
            browser = now + seconds[name]
    return order


if __name__ == "__main__":
    print(*longest_files(sys.argv[1]), sep="\n")
