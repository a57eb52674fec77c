"""What the tests share: combinations in turn, what runs by default, what skipped tests lack."""

import ast
import os
import sys
from types import SimpleNamespace

import pytest

from tests.conftest import unknown_cases
from tests.skipped import kind_of
from tests.utils import in_turn


def test_no_process_compiles_all_modules_anew():
    """Whatever the environment asks for: see `tests/conftest.py`."""
    assert not sys.dont_write_bytecode
    assert not os.environ.get("PYTHONDONTWRITEBYTECODE")


def test_combinations_in_turn():
    """Each value meets all values of the other axes."""
    axes = ["a", "b", "c"], [1, 2, 3], [True, False]
    kept = in_turn("letter, number, flag", *axes).args[1]
    assert len(kept) == 9
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        pairs = {(values[first], values[second]) for values in kept}
        assert len(pairs) == len(axes[first]) * len(axes[second])


def unnamed_modes(source):
    """Return the lines of calls that compile a function for the default mode."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and not {"mode", None} & {k.arg for k in node.keywords}:
            called = ast.unparse(node.func)
            if called == "pytensor.function" or called.endswith(".eval"):
                lines.append(node.lineno)
    return lines


# Of the default mode itself, or of calls that name none; PyTorch's networks have an `eval`, too
UNNAMED = {"link/onnx/test_export.py", "link/onnx/test_linker.py"}
UNNAMED |= {"link/onnx/importing/make_networks.py"}


@pytest.mark.slow
def test_functions_name_their_mode(request):
    """The default one, NUMBA, takes seconds for what Python computes at once."""
    assert unnamed_modes("y.eval({x: 1})\npytensor.function([x], y)\nf(x)") == [1, 2]
    assert unnamed_modes("y.eval(mode=PY)\npytensor.function([x], y, **how)") == []
    tests = request.path.parent
    found = [
        f"{path.relative_to(tests)}:{line}"
        for path in tests.rglob("*.py")
        if str(path.relative_to(tests)) not in UNNAMED
        for line in unnamed_modes(path.read_text())
    ]
    assert found == []


def test_cases_that_run_by_default_are_there(request):
    unknown = request.config.stash[unknown_cases]
    assert {name: cases for name, cases in unknown.items() if cases} == {}


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("could not import 'torch': No module named 'torch'", "need PyTorch"),
        ("could not import 'bambi': No module named 'bambi'", "need bambi"),
        ("bambi isn't installed", "need bambi"),
        ("there is no g++", "need g++"),
        ("the C library is not glibc", "because the C library is not glibc"),
    ],
)
def test_what_skipped_tests_lack(reason, kind):
    report = SimpleNamespace(longrepr=("file.py", 1, f"Skipped: {reason}"))
    assert kind_of(report) == kind
