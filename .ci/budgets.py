"""Sizes that are kept small, beside their limits: of the demo, of its tests and of the package.

    python .ci/budgets.py [--strict]

With --strict, the exit code is 1 where a limit is exceeded.
"""

import argparse
import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples" / "onnx" / "onnx-yolo-demo"
TRAIN = DEMO / "train_yolo11n.py"
WALK = "## One batch, followed"  # the heading in the demo's README


def python_files(folder):
    return sorted(p for p in folder.rglob("*.py") if "node_modules" not in p.parts)


def lines(path):
    return len(path.read_text().splitlines())


def spans(path, *kinds):
    """Lines and a name of every statement of some kinds, such as `ast.FunctionDef`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, kinds):
            name = getattr(node, "name", f"line {node.lineno}")
            yield node.end_lineno - node.lineno + 1, f"{path.relative_to(ROOT)}: {name}"


def longest_file(files):
    return max((lines(path), str(path.relative_to(ROOT))) for path in files)


def longest_function(files):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return max(span for path in files for span in spans(path, *kinds))


def imports(path):
    """The demo's modules that one of them imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    found = {DEMO / f"{name.replace('.', '/')}.py" for name in names}
    return {path for path in found if path.exists()}


def behind(path):
    """A module and all that it imports, directly and not."""
    found, new = set(), {path}
    while new:
        found |= new
        new = set().union(*map(imports, new)) - found
    return found


def walk():
    """The files that the demo's README leads a reader through, each imported by another."""
    _, _, text = (DEMO / "README.md").read_text().partition(WALK)
    names = dict.fromkeys(re.findall(r"`([\w/]+\.py)`", text.partition("\n## ")[0]))
    files = [DEMO / name for name in names]
    led_to = {TRAIN}.union(*map(imports, files))
    for path in files:
        if path not in led_to:
            raise SystemExit(f"budgets: no file of the walk in the README imports {path}")
    return files


def budgets():
    """Rows of what, its size and a remark, and its limit or None."""
    demo, package = python_files(DEMO), python_files(ROOT / "pytensor")
    tests = python_files(ROOT / "tests")
    # Those of the other example aren't the demo's.
    tests_of_demo = [p for p in tests if "examples" in p.parts and "mnist" not in p.name]
    way = walk()
    return [
        ("demo: modules", (len(demo), ""), 36),
        ("demo: lines", (sum(map(lines, demo)), ""), 8_000),
        ("demo: longest module", longest_file(demo), 400),
        ("demo: longest function", longest_function(demo), None),
        ("demo: the loop", max(spans(TRAIN, ast.For, ast.While), default=(0, "none")), 60),
        ("demo: files on the way of a batch", (len(way), " ".join(p.name for p in way)), 9),
        ("demo: modules behind train_yolo11n.py", (len(behind(TRAIN)), ""), None),
        ("demo: lines of its tests", (sum(map(lines, tests_of_demo)), ""), 9_000),
        ("tests: longest file", longest_file(tests), 500),
        ("package: lines", (sum(map(lines, package)), ""), 26_000),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="fail where a limit is exceeded")
    strict = parser.parse_args().strict
    failed = []
    for what, (size, remark), limit in budgets():
        # Nothing there is no small size, but a loop or a walk that wasn't found.
        fails = limit is not None and not 0 < size <= limit
        failed += [what] * fails
        of = f"of {limit:,}" if limit else ""
        print(f"{what:38} {size:6,} {of:>9} {'FAILS' if fails else '':6}{remark}".rstrip())
    if failed and strict:
        raise SystemExit(f"budgets: not kept: {', '.join(failed)}")


if __name__ == "__main__":
    main()
