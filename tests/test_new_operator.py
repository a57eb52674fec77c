"""`docs.tools.new_operator` makes an operator that passes the tests of every operator."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Copy what the program changes; the rest is linked."""
    tree = tmp_path_factory.mktemp("tree")
    ignore = shutil.ignore_patterns("__pycache__", "generated")
    for name in ("pytensor", "pytensor_vision", "tests", "docs"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignore)
    for name in ("benchmarks", "examples", "pyproject.toml"):
        (tree / name).symlink_to(ROOT / name)
    return tree


def run(tree, *arguments):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment["PYTHONPATH"] = str(tree)
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["topk", "sorting"], "pt.topk exists"),
        (["hypot2", "hypot2"], "hypot2: a module of the function's name can't be loaded lazily"),
        (["Hypot", "norms"], "give two names in snake_case"),
        (["hypot2", "pool"], "pytensor/link/jax/dispatch/pool.py exists: give another topic"),
    ],
)
def test_names_that_are_wrong(tree, names, message):
    done = run(tree, "docs.tools.new_operator", *names)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


@pytest.mark.long
def test_a_new_operator_passes_the_tests_of_all(tree):
    done = run(tree, "docs.tools.new_operator", "hypot2", "norms")
    assert done.returncode == 0, done.stderr
    files = ["tests/tensor/test_norms.py", "tests/test_operators.py", "tests/tensor/test_docs.py"]
    files += ["tests/tensor/test_batching.py"]
    names = "norms or every_op_has_a_rule or tables_name"
    names += " or (hypot2 and (docstring or Python or JAX or ONNX or Numba))"
    done = run(tree, "pytest", "-n", "0", "-q", *files, "-k", names, "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) >= 14
    done = run(tree, "ruff", "check", "--no-cache", "pytensor", "tests")
    assert done.returncode == 0, done.stdout
