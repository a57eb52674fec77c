"""What the tests share: combinations in turn, modes that are named, what runs by default."""

import ast

import pytest

from tests.conftest import unknown_cases
from tests.utils import in_turn


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
