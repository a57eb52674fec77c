"""List the files whose tests are the longest, the longest first, for ``tests/conftest.py``.

    python -m tests.longest_files build/tests.xml > tests/longest_files.txt

The argument is a report of a run of all tests: ``pytest --junitxml=build/tests.xml``.
"""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

NUMBER = 60


def longest_files(report):
    """Return names below ``tests`` of the files that took the longest, by a JUnit report."""
    seconds, tests = Counter(), Path(__file__).parent
    for case in ElementTree.parse(report).iter("testcase"):
        *folders, name = case.get("classname").split(".")
        while folders and not (tests.parent.joinpath(*folders) / f"{name}.py").exists():
            name = folders.pop()  # a class of tests within the file
        seconds["/".join([*folders[1:], f"{name}.py"])] += float(case.get("time"))
    return [name for name, _ in seconds.most_common(NUMBER)]


if __name__ == "__main__":
    print(*longest_files(sys.argv[1]), sep="\n")
