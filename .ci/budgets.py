"""Sizes of the demo, of its tests and of the package; limits of what is read on one screen.

    python .ci/budgets.py [--strict]

With --strict, the exit code is 1 where a limit is exceeded.
"""

import argparse
import ast
import math
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "onnx" / "onnx-yolo-demo"
BENCHMARKS = ROOT / "benchmarks"
TRAIN = DEMO / "train_yolo11n.py"
NOT_FOUND = (math.inf, "not found")
WALK = "## One batch, followed"  # the heading in the demo's README


def python_files(folder):
    return sorted(p for p in folder.rglob("*.py") if "node_modules" not in p.parts)


def lines(path):
    return len(path.read_text().splitlines())


def spans(path, *kinds):
    """Yield the lines and the name of every statement of some kinds, such as `ast.FunctionDef`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, kinds):
            name = getattr(node, "name", f"line {node.lineno}")
            yield node.end_lineno - node.lineno + 1, f"{path.relative_to(ROOT)}: {name}"


def longest_file(files):
    return max((lines(path), str(path.relative_to(ROOT))) for path in files)


def longest_function(files):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return max(span for path in files for span in spans(path, *kinds))


@cache
def imports(path, root=DEMO):
    """Return the modules under a folder that one of them imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    found = {root / f"{name.replace('.', '/')}.py" for name in names}
    return {path for path in found if path.exists()}


def behind(path, root=DEMO):
    """Return what a module imports, directly and not."""
    found, new = set(), imports(path, root)
    while new:
        found |= new
        new = set().union(*(imports(each, root) for each in new)) - found
    return found


def in_circles(files, root):
    """Return how many modules import themselves, and their names."""
    names = [path.name for path in files if path in behind(path, root)]
    return len(names), " ".join(names)


def walk():
    """Count the files that the demo's README leads through; each is imported by another."""
    _, _, text = (DEMO / "README.md").read_text().partition(WALK)
    names = dict.fromkeys(re.findall(r"`([\w/]+\.py)`", text.partition("\n## ")[0]))
    files = [DEMO / name for name in names]
    led_to = {TRAIN}.union(*map(imports, files))
    for path in files:
        if path not in led_to:
            raise SystemExit(f"budgets: no file of the walk in the README imports {path}")
    return (len(files), " ".join(path.name for path in files)) if files else NOT_FOUND


def budgets():
    """Return rows of what, its size and a remark, and its limit or None."""
    demo, whole = python_files(DEMO), python_files(ROOT / "pytensor")
    # A converter for each operator of ONNX: a room of its own, which nothing else imports.
    importing = [p for p in whole if "importing" in p.parts]
    # Random numbers that a seed decides: an option of the export, which nothing else imports.
    counter = [p for p in whole if p.parts[-2:] == ("random", "counter.py")]
    package = [p for p in whole if p not in [*importing, *counter]]
    tests, benchmarks = python_files(ROOT / "tests"), python_files(BENCHMARKS)
    # Those of the other examples aren't the demo's.
    others = {"test_mnist_demo.py", "test_onnx_examples.py", "test_pymc_page.py"}
    tests_of_demo = [
        p for p in tests if p.is_relative_to(ROOT / "tests" / "examples") and p.name not in others
    ]
    # What the page learns by: exported from the training's parts, and used by no training.
    teaching = [p for p in [*demo, *tests_of_demo] if p.stem in ("teaching", "test_teaching")]
    demo = [p for p in demo if p not in teaching]
    tests_of_demo = [p for p in tests_of_demo if p not in teaching]
    return [
        ("demo: modules", (len(demo), ""), None),
        ("demo: lines", (sum(map(lines, demo)), ""), None),
        ("demo: longest module", longest_file(demo), None),
        ("demo: longest function", longest_function(demo), None),
        ("demo: the loop", max(spans(TRAIN, ast.For, ast.While), default=NOT_FOUND), 60),
        ("demo: files on the way of a batch", walk(), 9),
        ("demo: modules behind train_yolo11n.py", (len(behind(TRAIN)), ""), None),
        ("demo: modules in import circles", in_circles(demo, DEMO), 0),
        ("demo: lines of its tests", (sum(map(lines, tests_of_demo)), ""), None),
        ("teaching in the page: lines, with tests", (sum(map(lines, teaching)), ""), None),
        ("tests: longest file", longest_file(tests), None),
        ("package: lines", (sum(map(lines, package)), ""), None),
        ("import of ONNX: lines", (sum(map(lines, importing)), ""), None),
        ("random numbers by counter: lines", (sum(map(lines, counter)), ""), None),
        ("package: modules in import circles", in_circles(whole, ROOT), 0),
        ("benchmarks: modules in import circles", in_circles(benchmarks, BENCHMARKS), 0),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="fail where a limit is exceeded")
    strict = parser.parse_args().strict
    failed = []
    for what, (size, remark), limit in budgets():
        fails = limit is not None and size > limit
        failed += [what] * fails
        of = "" if limit is None else f"of {limit:,}"
        print(f"{what:38} {size:6,} {of:>9} {'FAILS' if fails else '':6}{remark}".rstrip())
    if failed and strict:
        raise SystemExit(f"budgets: not kept: {', '.join(failed)}")


if __name__ == "__main__":
    main()
